package deploy

import (
	"os"
	"regexp"
	"testing"

	"github.com/hone-dev/hone/internal/test/testnames"
)

// TestReadmeNamesTests checks the table of promises: each check is in it once, and every test that it names exists.
func TestReadmeNamesTests(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{"": ".", "e2e": "../../test/e2e", "up": "../../cli/up", "buildanddeploy": "../../update/buildanddeploy",
		"ledger": "../ledger", "collector": "../../subscribers/collector"}
	for _, storage := range []string{"folder", "memory", "kube", "s3", "web", "sql"} {
		folders[storage] = "../storage/" + storage
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \|.*$`).FindAllStringSubmatch(string(page), -1) {
		if seen[m[1]] {
			t.Errorf("%s is in the table twice", m[1])
		}
		seen[m[1]] = true
		if testnames.Check(t, m[0], folders, nil) == 0 {
			t.Errorf("%s names no test", m[1])
		}
	}
	if len(seen) < 20 {
		t.Errorf("the table has only %d checks", len(seen))
	}
}
