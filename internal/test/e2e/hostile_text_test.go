package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/test/hostile"
)

// hostileTiltfile prints hostile text, and runs a program that does.
const hostileTiltfile = `
-- Tiltfile --
local_resource('says', ['sh', 'says.sh'], deps=['src'], links=['http://localhost/x'])
print(read_file('text'))
warn(read_file('text'))
`

// hostileYAML has a pod that leaves a message behind, a pod whose image has no valid name, and a ConfigMap that others change.
const hostileYAML = `
k8s_yaml('all.yaml')
k8s_resource('web', objects=['conf'])
-- all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, annotations: {note: mine}}
data: {"mine": HOSTILE}
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
---
apiVersion: v1
kind: Pod
metadata: {name: lost}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: HOSTILE}]
`

// hostileText has all that a variable of a container and an object in the cluster can hold.
var hostileText = strings.ReplaceAll(hostile.All(), "\x00", "")

// hostileFolder moves a project into a folder whose name is hostile, with files whose names are. It returns a file to edit.
func (p *project) hostileFolder() (edited string) {
	p.t.Helper()
	name := strings.ReplaceAll(hostileText, "/", "")[:60]
	dir := filepath.Join(p.dir, "in "+name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	for file := range p.written {
		if err := os.Rename(file, filepath.Join(dir, filepath.Base(file))); err != nil {
			p.t.Fatal(err)
		}
	}
	env := p.env
	p.in(dir)
	p.env = append(append(p.env, env...), "NO_COLOR=")
	p.write("text", hostileText)
	p.write("says.sh", "cat text; exit 3")
	edited = "src/" + name + "a"
	p.write(edited, "one")
	return edited
}

// hostileSession runs a project in a hostile folder until its program has failed, and edits a file.
func (p *project) hostileSession() *session {
	p.t.Helper()
	edited := p.hostileFolder()
	s := p.up()
	s.says(`says.*exit`)
	p.write(edited, "two")
	s.says(`1 File Changed`)
	return s
}

// questions are commands that print what a session knows, each with its flag for the session.
func (p *project) questions(port string, formats ...string) (all [][]string) {
	p.t.Helper()
	snapshot := filepath.Join(p.state, "snapshot.json")
	if out, code := p.run("snapshot", "create", snapshot, "--port", port); code != 0 {
		p.t.Fatalf("snapshot: %d\n%s", code, out)
	}
	all = [][]string{{"sessions"}, {"snapshot", "view", "--stream", snapshot}}
	names, _ := p.run("api-resources", "-o", "name", "--port", port)
	kinds := strings.Join(strings.Fields(names), ",")
	for _, f := range formats {
		all = append(all, []string{"get", kinds, "-o", f, "--port", port})
	}
	no := "no" + hostileText
	for _, args := range [][]string{{"describe", kinds}, {"logs"}, {"events", "--follow=false"}, {"dump", "engine"},
		{"get", "uiresource/" + no}, {"wait", "uiresource/" + no, "--for=create", "--timeout=1ms"}, {"trigger", no}} {
		all = append(all, append(args, "--port", port))
	}
	return all
}

// passesNothingOn runs commands, with colours and without, and checks what they print.
func (p *project) passesNothingOn(commands [][]string, colours ...string) {
	p.t.Helper()
	shown := ""
	for _, args := range commands {
		for _, force := range colours {
			c := p.command(args...)
			c.Env = append(c.Env, "CLICOLOR_FORCE="+force)
			out, _ := p.finish(c)
			if found := hostile.Found(out); found != "" {
				p.t.Errorf("hone %.80q passes %q on", args, found)
			}
			if strings.Contains(out, "control characters are not allowed") {
				p.t.Errorf("hone %.80q says %s", args, out)
			}
			shown += out
		}
	}
	if n := strings.Count(shown, "owned"); n < 5 {
		p.t.Errorf("the text was printed only %d times", n)
	}
}

// TestHostileTextOfPrograms runs a project without a cluster in which all text from outside has escape sequences of all kinds: the folder's
// name, file names, the output of programs and of the Tiltfile. No command passes one on.
func TestHostileTextOfPrograms(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, hostileTiltfile)
	s := p.hostileSession()
	p.passesNothingOn(p.questions(fmt.Sprint(s.port), "yaml", "go-template={{range .items}}{{.metadata}}{{.spec}}{{.status}}{{.entry}}{{end}}"), "1")
	if found := hostile.Found(s.out.String()); found != "" {
		t.Errorf("hone up passes %q on", found)
	}
}

// TestHostileText is the same with a cluster: a pod's last message, an image's name, an event and the values that others set are hostile, too.
// It tries every command and format.
func TestHostileText(t *testing.T) {
	t.Parallel()
	p := newProject(t, hostileTiltfile+strings.ReplaceAll(hostileYAML, "HOSTILE", fmt.Sprintf("%q", hostileText)))
	s := p.hostileSession()
	conf := p.object("", "v1", "configmaps", "conf")
	p.kubectl("annotate", "--overwrite", "configmap", "conf", "note="+hostileText)
	port := fmt.Sprint(s.port)
	s.says(`web │.*owned`)
	pod := p.object("", "v1", "pods", "lost")
	event := filepath.Join(p.state, "event.yaml")
	if err := os.WriteFile(event, fmt.Appendf(nil, "apiVersion: v1\nkind: Event\nmetadata: {name: e}\ntype: Warning\nreason: %[1]q\nmessage: %[1]q\nlastTimestamp: \"2099-01-01T00:00:00Z\"\n"+
		"source: {component: %[1]q}\ninvolvedObject: {apiVersion: v1, kind: Pod, name: lost, namespace: %[2]s, uid: %[3]s}\n", hostileText, conf.GetNamespace(), pod.GetUID()), 0o600); err != nil {
		t.Fatal(err)
	}
	p.kubectl("create", "-f", event)
	for kind, has := range map[string]string{"drifts": "owned", "kubeevents": "owned"} {
		s.await("the "+kind+" to be seen", func() error {
			if got, _ := p.run("get", kind, "-o", "json", "--port", port); !strings.Contains(got, has) {
				return fmt.Errorf("it is\n%s", got)
			}
			return nil
		})
	}
	commands := p.questions(port, "", "wide", "json", "yaml", "kyaml", "name", "jsonpath={range .items[*]}{.metadata}{.spec}{.status}{.entry}{end}",
		"go-template={{range .items}}{{.metadata}}{{.spec}}{{.status}}{{.entry}}{{end}}", "custom-columns=A:.metadata,B:.spec,C:.status,D:.entry")
	no := "no" + hostileText
	commands = append(commands, [][]string{{"sessions", "-o", "json"}, {"sessions", "-o", "yaml"}, {"logs", "-o", "json", "--port", port}, {"dump", "webview", "--port", port},
		{"dump", "logstore", "--port", port}, {"forwards", "--port", port}, {"drift"}, {"drift", "-o", "json"}, {"drift", "-o", "yaml"}, {"preview"}, {"preview", "-o", "json"},
		{"tiltfile"}, {"tiltfile", "-o", "json"}, {"tiltfile", "-o", "yaml"}, {"doctor"}, {"doctor", "-o", "yaml"}, {"logs", no}, {no}, {"explain", no}, {"preview", no}, {"docs", no}, {"tiltfile", no},
		{"apply", "-f", no}, {"events", no, "--follow=false"}, {"restart", no}, {"click", no}, {"enable", no}, {"snapshot", "view", "--stream", no}, {"get", no}, {"edit", no}}...)
	p.passesNothingOn(commands, "", "1")
	if found := hostile.Found(s.out.String()); found != "" {
		t.Errorf("hone up passes %q on", found)
	}
	s.stop()
	plan := filepath.Join(p.state, "next.plan")
	p.passesNothingOn([][]string{{"preview", "--namespace", p.namespace, "-o", "plan=" + plan}, {"deploy", plan, "--port", "0", "--timeout", "10s", "-o", "json"},
		{"deploy", "--yes", "--port", "0", "--timeout", "10s", "--namespace", p.namespace}, {"ci", "--port", "0", "--timeout", "10s", "--namespace", p.namespace},
		{"gc", "--yes", "--namespace", p.namespace}, {"down", "--namespace", p.namespace}}, "1")
}
