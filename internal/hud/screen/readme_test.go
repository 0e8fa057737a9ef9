package screen

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hone-dev/hone/internal/test/testnames"
)

// TestReadmeNamesTests: every test that the page names exists.
func TestReadmeNamesTests(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	beside := func(folder string) string { return filepath.Join("..", folder) }
	if n := testnames.Check(t, string(page), map[string]string{"": ".", "hud": "..", "e2e": "../../test/e2e"}, beside); n < 50 {
		t.Errorf("only %d tests are named", n)
	}
}
