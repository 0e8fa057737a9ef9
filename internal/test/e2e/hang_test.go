package e2e

import (
	"errors"
	"fmt"
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

// hangingLogin is a kubeconfig whose credential plugin, PLUGIN, hangs.
const hangingLogin = `{"apiVersion": "v1", "kind": "Config", "current-context": "hangs", "contexts": [{"name": "hangs", "context": {"cluster": "c", "user": "u"}}],
"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
"users": [{"name": "u", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "PLUGIN", "interactiveMode": "IfAvailable"}}}]}`

// TestInterruptHangingPlugin interrupts hone while a credential plugin of the kubeconfig hangs that heeds no signal: its messages are shown,
// hone ends at once, and neither the plugin nor what it started is left.
func TestInterruptHangingPlugin(t *testing.T) {
	t.Parallel()
	for command, code := range map[string]int{"ci --port 0": 130, "up": 0, "preview": 130, "down": 130, "drift": 130} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := newLocalProject(t, `
-- Tiltfile --
allow_k8s_contexts('hangs')
k8s_yaml(blob('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}'))
local_resource('tool', 'true')
-- log-in --
#!/bin/sh
trap "" INT TERM HUP
sleep 100000 &
echo $$ >pid; echo $! >child
echo "open https://id.example" >&2
while :; do sleep 1; done
`)
			plugin, config := filepath.Join(p.dir, "log-in"), filepath.Join(p.dir, "kubeconfig")
			if err := errors.Join(os.Chmod(plugin, 0o755), os.WriteFile(config, []byte(strings.ReplaceAll(hangingLogin, "PLUGIN", plugin)), 0o600)); err != nil {
				t.Fatal(err)
			}
			p.env = append(p.env, "KUBECONFIG="+config)
			var s *session
			if command == "up" {
				s = p.up()
				s.ready("tool")
				if out, code := p.run("get", "uiresources", "--port", fmt.Sprint(s.port)); code != 0 || !strings.Contains(out, "tool") {
					t.Errorf("hone get: %d\n%s", code, out)
				}
			} else {
				s = p.startAs(p.command(strings.Fields(command)...))
			}
			s.says("credential plugin: open https://id.example")
			if got := s.stop(); got != code {
				t.Errorf("the exit code is %d, want %d\n%s", got, code, s.out)
			}
			for _, file := range []string{"pid", "child"} {
				text, err := os.ReadFile(filepath.Join(p.dir, file))
				if err != nil {
					t.Fatal(err)
				}
				pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
				if err != nil {
					t.Fatal(err)
				}
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
