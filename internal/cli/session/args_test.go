package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseArgs reads texts as users may leave them in the editor.
func TestParseArgs(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		mayLack    bool
		want       []string
		fails      string
	}{
		{"what was shown", string(argsText("session shop", []string{"a b", "", "it's", "$HOME", "--x=1"})), false, []string{"a b", "", "it's", "$HOME", "--x=1"}, ""},
		{"nothing of nothing", string(argsText("session shop", nil)), true, nil, ""},
		{"nothing of something", "# only this\n\n", false, nil, "exactly one non-comment line, not 0"},
		{"two lines", "a\nb\n", false, nil, "exactly one non-comment line, not 2"},
		{"without an end", "  a 'b c'", false, []string{"a", "b c"}, ""},
		{"from Windows", "# x\r\na b\r\n", false, []string{"a", "b"}, ""},
		{"an open quote", "a 'b\n", true, nil, "read a 'b: "},
	} {
		got, err := parseArgs([]byte(tc.text), tc.mayLack)
		if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
			t.Errorf("%s: %v, want %q (-want +got):\n%s", tc.name, err, tc.fails, diff)
		}
	}
}
