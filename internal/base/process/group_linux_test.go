package process

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNoOrphansInContainer repeats TestNoOrphans where the session's leader is outside the PID namespace, as in a
// container: the session number of all processes is zero there.
func TestNoOrphansInContainer(t *testing.T) {
	if os.Getpid() == 1 {
		t.Skip("this is the container")
	}
	inside := []string{"--pid", "--fork", "--mount-proc"}
	if out, err := exec.Command("unshare", append(inside, "true")...).CombinedOutput(); err != nil {
		t.Skipf("no PID namespace can be made here: %v %s", err, out)
	}
	cmd := exec.Command("unshare", append(inside, os.Args[0], "-test.run=^TestNoOrphans$")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		line string
		want stat
	}{
		{"12 (sh) S 1 34 56 0 -1", stat{'S', 1, 34, 56}},
		{"12 (a) Z) (b) Z 1 34 56 0 -1", stat{'Z', 1, 34, 56}},
		{"", stat{}},
		{"12 (sh", stat{}},
		{"12 (sh) S 1 34", stat{}},
	} {
		if got := parseStat([]byte(tt.line)); got != tt.want {
			t.Errorf("%q (-want +got):\n%s", tt.line, cmp.Diff(tt.want, got, cmp.AllowUnexported(stat{})))
		}
	}
}
