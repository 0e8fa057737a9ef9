package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/test/hostile"
)

// hostileYAML has a pod that leaves a message behind, and a ConfigMap that others change.
const hostileYAML = `
-- Tiltfile --
k8s_yaml('all.yaml')
k8s_resource('web', objects=['conf'], links=['http://localhost/x'])
local_resource('says', ['sh', 'says.sh'], deps=['src'])
print(read_file('text'))
-- all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, annotations: {note: mine}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: busybox, command: [sh, -c, 'printf "%s" "$TEXT" | tee /dev/termination-log; exit 1'], env: [{name: TEXT, value: HOSTILE}]}]
`

// TestHostileText runs a project in which all text from outside has escape sequences of all kinds: the folder's name, file names,
// the output of programs, a pod's last message, the values that others set in the cluster. No command passes one on.
func TestHostileText(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(hostile.All(), "\x00", "")
	p := newProject(t, strings.Replace(hostileYAML, "HOSTILE", fmt.Sprintf("%q", text), 1))
	name := strings.ReplaceAll(text, "/", "")
	for _, sub := range []string{name[:60], "plain"} {
		if err := os.MkdirAll(filepath.Join(p.dir, "in "+sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(p.dir, "in "+name[:60])
	for _, file := range []string{"Tiltfile", "all.yaml"} {
		if err := os.Rename(filepath.Join(p.dir, file), filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	p.in(dir)
	p.env = append(p.env, "NO_COLOR=")
	p.write("text", text)
	p.write("says.sh", "cat text; exit 3")
	p.write("src/"+name[:60]+"a", "one")
	s := p.up()
	s.says(`says.*exit`)
	p.write("src/"+name[:60]+"a", "two")
	p.object("", "v1", "configmaps", "conf")
	p.kubectl("annotate", "--overwrite", "configmap", "conf", "note="+text)
	port := fmt.Sprint(s.port)
	s.says(`web │.*owned`)
	s.await("the drift to be seen", func() error {
		if drifts, _ := p.run("get", "drifts", "-o", "json", "--port", port); !strings.Contains(drifts, "owned") {
			return fmt.Errorf("it is\n%s", drifts)
		}
		return nil
	})
	snapshot := filepath.Join(p.state, "snapshot.json")
	if out, code := p.run("snapshot", "create", snapshot, "--port", port); code != 0 {
		t.Fatalf("snapshot: %d\n%s", code, out)
	}
	kinds, _ := p.run("api-resources", "-o", "name", "--port", port)
	commands := [][]string{{"sessions"}, {"sessions", "-o", "json"}, {"sessions", "-o", "yaml"}, {"logs", "--port", port}, {"logs", "-o", "json", "--port", port},
		{"snapshot", "view", "--stream", snapshot}, {"dump", "engine", "--port", port}, {"dump", "webview", "--port", port}, {"forwards", "--port", port},
		{"drift"}, {"drift", "-o", "json"}, {"drift", "-o", "yaml"}, {"preview"}, {"preview", "-o", "json"}, {"describe-tiltfile"}, {"tiltfile-result"}, {"doctor"},
		{"get", "uiresource/no" + text, "--port", port}, {"logs", "no" + text}, {"no" + text}}
	all := strings.Join(strings.Fields(kinds), ",")
	commands = append(commands, []string{"describe", all, "--port", port})
	for _, format := range []string{"", "wide", "json", "yaml", "name", "jsonpath={range .items[*]}{.metadata}{.spec}{.status}{.entry}{end}",
		"go-template={{range .items}}{{.metadata}}{{.spec}}{{.status}}{{.entry}}{{end}}", "custom-columns=A:.metadata,B:.spec,C:.status,D:.entry"} {
		commands = append(commands, []string{"get", all, "-o", format, "--port", port})
	}
	shown := ""
	for _, args := range commands {
		for _, force := range []string{"", "1"} {
			c := p.command(args...)
			c.Env = append(c.Env, "CLICOLOR_FORCE="+force)
			out, _ := p.finish(c)
			if found := hostile.Found(out); found != "" {
				t.Errorf("hone %.80q passes %q on", args, found)
			}
			shown += out
		}
	}
	if n := strings.Count(shown, "owned"); n < 5 {
		t.Errorf("the text was printed only %d times", n)
	}
	if found := hostile.Found(s.out.String()); found != "" {
		t.Errorf("hone up passes %q on", found)
	}
}
