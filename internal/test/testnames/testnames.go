// Package testnames checks that the tests which a page names exist.
package testnames

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// name matches a test's name in a page: `TestX`, or `folder/TestX` for one of another folder.
var name = regexp.MustCompile("`(?:([a-z0-9]+)/)?((?:Test|Fuzz|Benchmark)[A-Za-z0-9]+)`")

// Check checks that every test that a text names is in its folder, and returns how many it names. folders maps the names of folders
// in the text to their paths; "" is for tests that are named without one, and other, if set, returns the path of the rest.
func Check(t *testing.T, text string, folders map[string]string, other func(folder string) string) int {
	t.Helper()
	sources := map[string]string{}
	names := name.FindAllStringSubmatch(text, -1)
	for _, m := range names {
		folder, known := folders[m[1]]
		if !known && other != nil {
			folder = other(m[1])
		}
		if _, read := sources[folder]; !read {
			sources[folder] = source(t, folder)
		}
		if !strings.Contains(sources[folder], "func "+m[2]+"(") {
			t.Errorf("there is no %s in %q", m[2], folder)
		}
	}
	return len(names)
}

// source returns the tests of a folder.
func source(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}
