package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeNamesTests checks the table of promises: each check is in it once, and every test that it names exists.
func TestReadmeNamesTests(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{"": ".", "e2e": "../../test/e2e", "up": "../../cli/up"}
	sources := map[string]string{}
	for pkg, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			sources[pkg] += string(b)
		}
	}
	row, name := regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \|.*$`), regexp.MustCompile("`(?:([a-z0-9]+)/)?(Test[A-Za-z0-9]+)`")
	seen := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		if seen[m[1]] {
			t.Errorf("%s is in the table twice", m[1])
		}
		seen[m[1]] = true
		tests := name.FindAllStringSubmatch(m[0], -1)
		if len(tests) == 0 {
			t.Errorf("%s names no test", m[1])
		}
		for _, test := range tests {
			if !strings.Contains(sources[test[1]], "func "+test[2]+"(") {
				t.Errorf("%s: there is no test %s in %q", m[1], test[2], test[1])
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("the table has only %d checks", len(seen))
	}
}
