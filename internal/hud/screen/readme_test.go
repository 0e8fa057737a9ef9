package screen

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeNamesTests: every test that the page names exists.
func TestReadmeNamesTests(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{"": ".", "hud": "..", "e2e": "../../test/e2e"}
	sources := map[string]string{}
	names := regexp.MustCompile("`(?:([a-z0-9]+)/)?((?:Test|Fuzz|Benchmark)[A-Za-z0-9]+)`").FindAllStringSubmatch(string(page), -1)
	if len(names) < 50 {
		t.Fatalf("only %d tests are named", len(names))
	}
	for _, m := range names {
		folder, known := folders[m[1]]
		if !known {
			folder = "../" + m[1]
		}
		if sources[folder] == "" {
			files, _ := filepath.Glob(filepath.Join(folder, "*_test.go"))
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources[folder] += string(b)
			}
		}
		if !strings.Contains(sources[folder], "func "+m[2]+"(") {
			t.Errorf("there is no %s in %s", m[2], folder)
		}
	}
}
