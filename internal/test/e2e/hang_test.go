package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// TestInterruptHangingEvaluation interrupts hone while it evaluates a Tiltfile that never ends: it ends at once, with
// the code of an interrupt, and no process that the Tiltfile started is left.
func TestInterruptHangingEvaluation(t *testing.T) {
	t.Parallel()
	all := map[string]int{"tiltfile": 130, "ci": 130, "up": 0}
	for name, tc := range map[string]struct {
		tiltfile string
		commands map[string]int
		pids     []string
	}{
		"loop":                           {"print('it begins')\nwhile True: pass\n", all, nil},
		"command":                        {"local('echo $$ > pid; sleep 100000 & echo $! > child; echo it begins; wait')\n", all, []string{"pid", "child"}},
		"quiet command in a loaded file": {"load('./lib.star', 'x')\n", map[string]int{"up": 0}, []string{"pid"}},
		"command that does not listen": {"local('trap \"\" INT TERM; echo $$ > pid; echo it begins; while true; do sleep 1; done')\n",
			map[string]int{"tiltfile": 130, "up": 0}, []string{"pid"}},
	} {
		for command, code := range tc.commands {
			t.Run(name+" in "+command, func(t *testing.T) {
				t.Parallel()
				p := newLocalProject(t, "-- Tiltfile --\n"+tc.tiltfile+`
-- lib.star --
print('it begins')
local('echo $$ > pid; exec sleep 100000', quiet=True)
x = 1
`)
				args := map[string][]string{"tiltfile": {"tiltfile"}, "ci": {"ci", "--port", "0"}, "up": {"up", "--stream", "--port", "0"}}[command]
				s := p.startAs(p.command(args...))
				s.says("it begins")
				pids := map[string]int{}
				for _, file := range tc.pids {
					s.await(file, func() error {
						text, err := os.ReadFile(filepath.Join(p.dir, file))
						if err == nil {
							pids[file], err = strconv.Atoi(strings.TrimSpace(string(text)))
						}
						return err
					})
				}
				if got := s.stop(); got != code {
					t.Errorf("the exit code is %d, want %d\n%s", got, code, s.out)
				}
				for file, pid := range pids {
					k8stest.Eventually(t, file+" to end", func() error {
						if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
							return errors.New("it still runs")
						}
						return nil
					})
				}
			})
		}
	}
}

// TestFIFOIsRefused reads a named pipe without a writer: an error reports that at once, and hone continues.
func TestFIFOIsRefused(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, "-- Tiltfile --\nlocal_resource('first', 'true')\n")
	if err := syscall.Mkfifo(filepath.Join(p.dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := p.up()
	s.ready("first")
	for _, call := range []string{"read_file('fifo')", "load('./fifo', 'x')", "read_yaml('fifo')", "k8s_yaml('fifo')"} {
		p.write("Tiltfile", call)
		s.says(regexp.QuoteMeta("1 | " + call))
		if out, code := p.run("tiltfile"); code != 5 || !strings.Contains(out, "is a named pipe, not a regular file") {
			t.Errorf("%s: %d %s", call, code, out)
		}
	}
	s.says("is a named pipe, not a regular file")
	p.write("Tiltfile", "local_resource('later', 'true')\n")
	s.ready("later")
}
