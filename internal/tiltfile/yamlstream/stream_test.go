package yamlstream

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitYAML(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []Document
	}{
		{"empty", "", nil},
		{"one", "a: 1\n", []Document{{1, 1, "a: 1\n"}}},
		{"markers", "---\na: 1\n---\nb: 2\n", []Document{{1, 1, "\na: 1\n"}, {2, 3, "\nb: 2\n"}}},
		{"on the marker's line", "--- {a: 1}\n", []Document{{1, 1, " {a: 1}\n"}}},
		{"comments and blanks", "# x\n---\n\n---\n# y\n---\na: 1", []Document{{1, 6, "\na: 1"}}},
		{"end marker", "a: 1\n...\n---\nb: 2\n", []Document{{1, 1, "a: 1\n"}, {2, 3, "\nb: 2\n"}}},
		{"directive", "%YAML 1.2\n---\na: 1\n", []Document{{1, 2, "\na: 1\n"}}},
		{"not a marker", "a: |\n  ---\n----\n", []Document{{1, 1, "a: |\n  ---\n----\n"}}},
		{"windows", "\ufeffa: 1\r\n---\r\nb: 2\r\n", []Document{{1, 1, "a: 1\r\n"}, {2, 2, "\r\nb: 2\r\n"}}},
	} {
		if diff := cmp.Diff(c.want, Split(c.in), cmp.AllowUnexported(Document{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
