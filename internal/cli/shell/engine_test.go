package shell

import (
	"strings"
	"testing"
)

// TestRuntimeText feeds the output of a container, in pieces, and ends it.
func TestRuntimeText(t *testing.T) {
	long := runtimeRefuses + strings.Repeat(" and so on", mostRefusal/10)
	for _, tc := range []struct {
		name, sent  string
		want        string // the text that is passed on before the end
		refuses, no bool
	}{
		{"nothing", "", "", false, false},
		{"output", "hello", "hello", false, false},
		{"output that begins like a message", "OCI run|ning shoes", "OCI running shoes", false, false},
		{"a message", "OCI runtime exec failed: exec failed: unable to start container process: exec: |\"x\": executable file not found in $PATH: unknown\r\n", "", true, true},
		{"a file that cannot run", "OCI runtime exec failed: exec failed: exec: \"/etc/passwd\": permission denied: unknown", "", true, false},
		{"more than a message", long + "|!", long + "!", false, false},
		{"a message that is not the first output", "one\n|" + runtimeRefuses + " no", "one\n" + runtimeRefuses + " no", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			r := &runtimeText{to: &out}
			for piece := range strings.SplitSeq(tc.sent, "|") {
				if n, err := r.Write([]byte(piece)); n != len(piece) || err != nil {
					t.Errorf("%d, %v", n, err)
				}
			}
			if out.String() != tc.want || r.refuses() != tc.refuses || r.notFound() != tc.no {
				t.Errorf("passed on %q, refuses %v, not found %v", out.String(), r.refuses(), r.notFound())
			}
			if err := r.pass(); err != nil || out.String() != strings.ReplaceAll(tc.sent, "|", "") {
				t.Errorf("at the end %q, %v", out.String(), err)
			}
		})
	}
}
