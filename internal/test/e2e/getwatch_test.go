package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// TestGetWatch checks the output while objects appear, change and disappear, and that the end of the session ends the
// command.
func TestGetWatch(t *testing.T) {
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('web', 'true')
`)
	s := p.up()
	s.ready("web")
	says := func(watch *session, pattern string) {
		t.Helper()
		re := regexp.MustCompile(`(?m)` + pattern)
		k8stest.Eventually(t, pattern, func() error {
			if !re.MatchString(watch.out.String()) {
				return fmt.Errorf("it has said\n%s", watch.out)
			}
			return nil
		})
	}
	table := p.startAs(p.command("get", "cmds", "-w", "--output-watch-events", "--port", fmt.Sprint(s.port)))
	says(table, `^EVENT +NAME +STATUS +READY +COMMAND\nADDED +web:update +ok`)
	lines := p.startAs(p.command("get", "cmd/hi", "-w", "--ignore-not-found", "-o", `jsonpath={.metadata.name} {.spec.args[0]}{"\n"}`, "--port", fmt.Sprint(s.port)))
	only := p.startAs(p.command("get", "cm", "--watch-only", "-o", "name", "--port", fmt.Sprint(s.port)))
	p.says(0, []string{"create", "cmd", "hi", "true"}, "created")
	says(table, `^ADDED +hi `)
	says(lines, `\Ahi true$`)
	p.says(0, []string{"patch", "cmd", "hi", "-p", `{"spec": {"args": ["pwd"]}}`}, "patched")
	says(table, `^MODIFIED +hi +.* pwd$`)
	says(lines, `^hi pwd$`)
	p.says(0, []string{"delete", "cmd", "hi"}, "deleted")
	says(table, `^DELETED +hi `)
	p.says(0, []string{"patch", "cm", "web-disable", "-p", `{"data": {"isDisabled": "true"}}`}, "patched")
	says(only, `\Aconfigmap.tilt.dev/web-disable$`)
	if n := strings.Count(table.out.String(), "EVENT"); n != 1 {
		t.Errorf("%d heads:\n%s", n, table.out)
	}

	if code := lines.stop(); code != 130 {
		t.Errorf("an interrupted watch ends with %d", code)
	}
	_ = s.cmd.Process.Signal(os.Interrupt)
	for _, w := range []*session{table, only} {
		<-w.done
		if code := w.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(w.out.String(), "the session is over") {
			t.Errorf("the watch ends with %d:\n%s", code, w.out)
		}
	}
}
