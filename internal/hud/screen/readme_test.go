package screen

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/test/testnames"
)

// partsAsked is the number of parts that each row of the page has: no requested part may get lost.
var partsAsked = []int{5, 7, 3, 7, 6, 3, 5, 2, 6, 3, 2, 3, 5, 3, 3}

// mendsAsked is the number of faults that the page lists.
const mendsAsked = 25

// TestReadmeNamesTests: the page has every row with all of its parts, and every fault; each names a test, and every test that it names
// exists.
func TestReadmeNamesTests(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{"": ".", "hud": "..", "e2e": "../../test/e2e", "server": "../../api/server", "logquery": "../../base/logquery"}
	beside := func(folder string) string { return filepath.Join("..", folder) }
	var parts []int
	mends := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) == 2 && !strings.Contains(line, "shown by") {
			mends++
			if testnames.Check(t, cells[1], folders, beside) == 0 {
				t.Errorf("no test shows that %q is over", cells[0])
			}
		}
		if len(cells) != 4 || strings.Contains(line, "asked for") {
			continue
		}
		if n := strings.Trim(cells[0], "| "); n != "" {
			if n != strconv.Itoa(len(parts)+1) {
				t.Errorf("row %d has the number %s", len(parts)+1, n)
			}
			parts = append(parts, 0)
		}
		parts[len(parts)-1]++
		if testnames.Check(t, cells[3], folders, beside) == 0 {
			t.Errorf("no test shows %q", cells[2])
		}
	}
	if mends != mendsAsked {
		t.Errorf("%d faults are listed, want %d", mends, mendsAsked)
	}
	if diff := cmp.Diff(partsAsked, parts); diff != "" {
		t.Errorf("parts of each row (-want +got):\n%s", diff)
	}
}
