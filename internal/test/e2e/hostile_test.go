package e2e

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/hone-dev/hone/internal/test/attackers"
)

// mostHeld is the memory that a session under attack may use, in MB: here it runs with the race detector, which takes several times
// as much memory.
const mostHeld = 1000

// TestHostile runs every attack on a session, which must keep working: a saved file triggers its command, and only the
// owner is served.
func TestHostile(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('tool', 'echo ran $(cat src/word)', deps=['src'])
-- src/word --
first
`)
	s := p.up()
	s.says(`ran first$`)
	under := attackers.Target{Address: net.JoinHostPort("localhost", strconv.Itoa(s.port)), Token: s.token(), Secret: p.dir, Resource: "tool"}
	for i, a := range attackers.Attacks {
		if a.Once != nil {
			if err := a.Once(t.Context(), under); err != nil {
				t.Errorf("%s: %v", a.Name, err)
			}
		} else {
			release, err := a.Hold(t.Context(), under)
			if err != nil {
				t.Fatalf("%s: %v", a.Name, err)
			}
			defer release()
		}
		p.write("src/word", fmt.Sprint("word", i))
		s.says(fmt.Sprintf(`ran word%d$`, i))
		s.await("the owner to be served after "+a.Name, func() error {
			v, err := s.view()
			if err == nil && len(v.Resources) != 1 {
				err = fmt.Errorf("%d resources", len(v.Resources))
			}
			return err
		})
		t.Logf("%s: %d MB", a.Name, s.held())
		if held := s.held(); held > mostHeld {
			t.Errorf("%s: the session holds %d MB", a.Name, held)
		}
	}
}

// held returns the session's peak memory in MB; 0 if the machine does not report it.
func (s *session) held() int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return 0
	}
	kb, _ := strconv.Atoi(string(m[1]))
	return kb >> 10
}
