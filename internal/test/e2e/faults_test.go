package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// mostFaultCalls is the most calls of tools that it may take to find the cause of a fault.
const mostFaultCalls = 6

// fault is a thing that is wrong in a project.
type fault struct {
	// resource is asked about; empty for the first failure that status names.
	resource string
	// cause matches its description in the answers, and place is where it is in the source, if it is there.
	cause, place string
}

// agent asks hone mcp about faults as a coding agent does, without a model: each answer decides which question comes next. It does not know
// which faults there are.
type agent struct {
	session *mcp.ClientSession
	// asked are the tools that were called about one fault, said are their answers, and most is the length of the longest one that is about
	// this fault alone.
	asked []string
	said  strings.Builder
	most  int
}

// agent starts hone mcp in a project, and ends it with the test.
func (p *project) agent() *agent {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), mcpLimit)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: p.command("mcp")}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = session.Close() })
	return &agent{session: session}
}

// told is an answer, as far as the agent acts on it.
type told struct{ Items []toldItem }

type toldItem struct {
	Resource string
	Failure  *struct{ Cause, Written, LookFirst []string }
}

// ask calls a tool.
func (a *agent) ask(ctx context.Context, tool string, args map[string]any) (out told, err error) {
	if len(a.asked) == mostFaultCalls {
		return out, fmt.Errorf("%d calls are not enough: %v", mostFaultCalls, a.asked)
	}
	ctx, cancel := context.WithTimeout(ctx, mcpLimit)
	defer cancel()
	r, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return out, err
	}
	text := r.Content[0].(*mcp.TextContent).Text
	doc, err := json.Marshal(r.StructuredContent)
	switch {
	case err != nil:
		return out, err
	case r.IsError:
		return out, errors.New(text)
	case max(len(text), len(doc)) > mcpBytes:
		return out, fmt.Errorf("%s answers with %d bytes of text and %d bytes of JSON", tool, len(text), len(doc))
	}
	a.asked = append(a.asked, tool)
	if tool != "status" {
		a.most = max(a.most, len(text))
	}
	a.said.WriteString(text + "\n")
	if tool == "status" || tool == "why" {
		err = json.Unmarshal(doc, &out)
	}
	return out, err
}

// diagnose looks for the cause of a fault: it asks how the session is, then why a resource is as it is and the ones that it was pointed to,
// and then, if no answer has explained it, for the lines of its log and for all about it.
func (a *agent) diagnose(ctx context.Context, resource string) error {
	a.asked, a.most = nil, 0
	a.said.Reset()
	st, err := a.ask(ctx, "status", nil)
	if err != nil {
		return err
	}
	if resource == "" {
		i := slices.IndexFunc(st.Items, func(it toldItem) bool { return it.Failure != nil })
		if i < 0 {
			return errors.New("nothing fails")
		}
		resource = st.Items[i].Resource
	}
	explained := false
	for todo := []string{resource}; len(todo) > 0; todo = todo[1:] {
		why, err := a.ask(ctx, "why", map[string]any{"resource": todo[0]})
		if err != nil {
			return err
		}
		for _, it := range why.Items {
			if f := it.Failure; f != nil {
				explained = explained || len(f.Cause)+len(f.Written) > 0
				todo = append(todo, f.LookFirst...)
			}
		}
	}
	if explained {
		return nil
	}
	if _, err := a.ask(ctx, "logs", map[string]any{"resources": []string{resource}, "level": "warn"}); err != nil {
		return err
	}
	_, err = a.ask(ctx, "describe", map[string]any{"name": resource})
	return err
}

// mostCalls is the number of calls in which an agent has to find any cause.
const mostCalls = 6

// finds waits until the agent finds the cause of a fault, and until that takes no more than b: less is known of a fault that is only coming.
func (a *agent) finds(t *testing.T, f fault, b bound) {
	t.Helper()
	cause := regexp.MustCompile(f.cause)
	k8stest.Eventually(t, fmt.Sprintf("the cause of %q", f.resource), func() error {
		if err := a.diagnose(t.Context(), f.resource); err != nil {
			return err
		}
		said := a.said.String()
		switch {
		case !cause.MatchString(said):
			return fmt.Errorf("no answer says %s:\n%s", f.cause, said)
		case !strings.Contains(said, f.place):
			return fmt.Errorf("no answer names %s:\n%s", f.place, said)
		case len(a.asked) > mostCalls:
			t.Fatalf("%d calls: %s", len(a.asked), strings.Join(a.asked, ", "))
		case len(a.asked) > b.calls || a.most > b.bytes:
			return fmt.Errorf("%d calls (%s), and an answer of %d bytes: more than %+v", len(a.asked), strings.Join(a.asked, ", "), a.most, b)
		}
		return nil
	})
}

// broken is a project in which each resource has a fault of its own.
var broken = `
-- Tiltfile --
docker_build('compile', 'compile')
docker_build('missing', 'missing')
docker_build('step', 'step', live_update=[sync('step', '/src'), run('sh /src/check.sh')])
docker_build('trace', 'trace')
docker_build('shop/checkout', 'step', dockerfile='step/Dockerfile.checkout')
k8s_yaml('broken.yaml')
k8s_resource('forward', port_forwards='$PORT1:80')
k8s_resource(new_name='conf', objects=['conf:configmap'])
k8s_resource('claim', objects=['data:persistentvolumeclaim'])
local_resource('check', 'sh local/check.sh', deps=['local'])
local_resource('server', serve_cmd='exec python3 -m http.server --bind 127.0.0.1 $PORT2')
local_resource('after', 'true', resource_deps=['notready'])
test('unit', 'sh local/unit.sh', deps=['local'])
-- compile/Dockerfile --
FROM busybox
COPY . /src
RUN sh /src/build.sh
-- compile/build.sh --
echo "main.go:3:12: undefined: totl" >&2; exit 1
-- compile/main.go --
package main

func main() { totl() }
-- missing/Dockerfile --
FROM busybox
COPY settings.json /settings.json
-- step/Dockerfile --
FROM busybox
COPY . /src
CMD ["sleep", "100000"]
-- step/Dockerfile.checkout --
FROM busybox
CMD ["sleep", "100000"]
-- step/check.sh --
true
-- trace/Dockerfile --
FROM busybox
COPY . /app
CMD ["sh", "/app/start.sh"]
-- trace/start.sh --
echo 'Traceback (most recent call last):'
echo '  File "/app/server.py", line 2, in <module>'
echo "KeyError: 'DATABASE'"
exit 1
-- trace/server.py --
import os
print(os.environ['DATABASE'])
-- local/check.sh --
echo "local/lint.py:4:1: F821 undefined name 'price'"; exit 1
-- local/unit.sh --
echo "local/lint.py:2: AssertionError: 3 is not 4"; exit 1
-- local/lint.py --
def total(a, b):
    assert a == b

price
-- broken.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {color: mine}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  storageClassName: none-such
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: job, image: busybox, command: [sh, -c, "echo 'relation orders does not exist'; exit 3"]}]
` + brokenPods(map[string]string{
	"compile":  `image: compile`,
	"missing":  `image: missing`,
	"step":     `image: step`,
	"trace":    `image: trace`,
	"typo":     `image: shop/chekout`,
	"wrong":    "image: busybox\n  command: [httpd, -f, -p, \"8080\"]\n  readinessProbe: {httpGet: {path: /, port: 8081}, periodSeconds: 1}",
	"notready": "image: busybox\n  command: [sleep, \"100000\"]\n  readinessProbe: {exec: {command: [cat, /var/migrated]}, periodSeconds: 1}",
	"alive":    "image: busybox\n  command: [sleep, \"100000\"]\n  livenessProbe: {exec: {command: [cat, /var/alive]}, periodSeconds: 1, failureThreshold: 2}",
	"secret":   "image: busybox\n  command: [sleep, \"100000\"]\n  env: [{name: KEY, valueFrom: {secretKeyRef: {name: keys, key: key}}}]",
	"key":      "image: busybox\n  command: [sleep, \"100000\"]\n  env: [{name: KEY, valueFrom: {configMapKeyRef: {name: conf, key: colour}}}]",
	"pull":     `image: localhost:5000/none/such:1`,
	"memory":   "image: busybox\n  command: [tail, /dev/zero]\n  resources: {limits: {memory: 24Mi}}",
	"refused":  "image: busybox\n  ports: [{containerPort: 99999}]",
	"exec":     "image: busybox\n  command: [/usr/bin/serve]",
	"forward":  "image: busybox\n  command: [sleep, \"100000\"]",
}) + "---\n" + deployment("claim", `
terminationGracePeriodSeconds: 0
volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
containers:
- name: claim
  image: busybox
  volumeMounts: [{name: data, mountPath: /data}]
`)

// brokenPods returns the YAML of Deployments with one container each, whose fields after the name are given.
func brokenPods(containers map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(containers)) {
		b.WriteString("---\n" + deployment(name, "terminationGracePeriodSeconds: 0\ncontainers:\n- name: "+name+"\n  "+containers[name]+"\n"))
	}
	return b.String()
}

// faults are the faults of broken, by name.
var faults = map[string]fault{
	"an image does not compile":        {"compile", `undefined: totl`, "compile/main.go:3"},
	"a Dockerfile copies nothing":      {"missing", `settings\.json`, "missing/Dockerfile:2"},
	"a step after a save fails":        {"step", `SyntaxError: invalid syntax`, "step/app.py:2"},
	"a program crashes at its start":   {"trace", `KeyError: 'DATABASE'`, "trace/server.py:2"},
	"an image that nothing builds":     {"typo", `"shop/checkout" is built, but no resource uses it \(did you mean shop/chekout\?\)`, "Tiltfile:5"},
	"a probe asks the wrong port":      {"wrong", `8081.*connection refused`, ""},
	"a readiness probe fails":          {"notready", `can't open '/var/migrated'`, ""},
	"a liveness probe kills":           {"alive", `liveness probe(?s:.*)can't open '/var/alive'`, ""},
	"a Secret is missing":              {"secret", `needs the Secret keys, which does not exist`, ""},
	"a key of a ConfigMap is missing":  {"key", `(?i)key colour .*ConfigMap conf`, ""},
	"an image cannot be pulled":        {"pull", `localhost:5000/none/such:1 does not exist`, ""},
	"a container takes too much":       {"memory", `resources\.limits\.memory`, ""},
	"the API server refuses an object": {"refused", `99999.*must be between 1 and 65535`, ""},
	"a program does not exist":         {"exec", `/usr/bin/serve`, ""},
	"a forward leads nowhere":          {"forward", `nothing listens on port 80 of the pod`, ""},
	"a claim stays unbound":            {"claim", `the PersistentVolumeClaim data has no volume: .*"none-such" not found`, ""},
	"a job fails":                      {"job", `relation orders does not exist`, ""},
	"a command fails":                  {"check", `undefined name 'price'`, "local/lint.py:4"},
	"a test fails":                     {"unit", `AssertionError: 3 is not 4`, "local/lint.py:2"},
	"a port is in use":                 {"server", `(?i)address already in use`, ""},
	"a dependency is not ready":        {"after", `can't open '/var/migrated'`, ""},
	"others change an object":          {"conf", `configmap/conf(?s:.*)data\.color +kubectl-patch(?s:.*)applied +mine(?s:.*)cluster +theirs`, ""},
}

// TestSeededFaults has an agent without a model find the cause of faults by the tools of hone mcp alone: each in a few calls, and answers of a
// bounded size. The golden file bounds the cost of each: texts have no fixed length, and how many calls it takes may depend on how far the fault
// has come.
func TestSeededFaults(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "faults.txt")
	known, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	bounds := boundsOf(string(known))
	costs := map[string]string{}
	cost := func(t *testing.T, a *agent) {
		t.Helper()
		name := strings.ReplaceAll(filepath.Base(t.Name()), "_", " ")
		costs[name] = a.cost(name)
	}
	bounded := func(t *testing.T) bound {
		if *update {
			return bound{calls: mostCalls, bytes: mcpBytes}
		}
		return bounds[strings.ReplaceAll(filepath.Base(t.Name()), "_", " ")]
	}
	p := newProject(t, broken)
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p.ports[2]))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.detached()
	a := p.agent()
	if out, code := p.run("wait", "--for=condition=Ready", "uiresource/step", "uiresource/conf", "uiresource/forward", "--timeout=2m"); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	p.write("step/app.py", "def f():\n    retrun 1\n")
	p.write("step/check.sh", "echo '/src/app.py:2: SyntaxError: invalid syntax'; exit 1\n")
	p.kubectl("patch", "configmap", "conf", "-p", `{"data":{"color":"theirs"}}`)
	// A forward that leads nowhere is noticed once it is used.
	if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.ports[1])); err == nil {
		_ = c.SetDeadline(time.Now().Add(mcpLimit))
		_, _ = c.Read(make([]byte, 1))
		_ = c.Close()
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		t.Run(name, func(t *testing.T) {
			a.finds(t, faults[name], bounded(t))
			cost(t, a)
		})
	}

	alone := newProject(t, quota)
	alone.detached()
	b := alone.agent()
	for _, tc := range []struct {
		name, file, text string
		fault
	}{
		{"a quota is exceeded", "", "", fault{"", `the ResourceQuota few has no room for its pods`, ""}},
		{"a Tiltfile that cannot be read", "Tiltfile", "k8s_yaml('app.yaml'\nlocal_resource('x', 'true')\n", fault{"", `this \( is never closed`, "Tiltfile:1"}},
		{"a Tiltfile that fails", "Tiltfile", "k8s_yaml('app.yaml')\nload('helper.star', 'port')\nport('http')\n", fault{"", `no-such-file`, "helper.star:2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.file != "" {
				alone.write(tc.file, tc.text)
			}
			b.finds(t, tc.fault, bounded(t))
			cost(t, b)
		})
	}
	if t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(slices.Sorted(maps.Values(costs)), "")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(bounds)), slices.Sorted(maps.Keys(costs))); diff != "" {
		t.Errorf("the faults in the golden file (-want +got):\n%s", diff)
	}
}

// bound bounds the effort that a fault takes: calls, and bytes of each answer about it alone.
type bound struct{ calls, bytes int }

// boundLine is a line of the golden file.
var boundLine = regexp.MustCompile(`(?m)^(.+): at most (\d+) calls, each answer after the status at most (\d+) bytes$`)

func boundsOf(text string) map[string]bound {
	out := map[string]bound{}
	for _, m := range boundLine.FindAllStringSubmatch(text, -1) {
		calls, _ := strconv.Atoi(m[2])
		bytes, _ := strconv.Atoi(m[3])
		out[m[1]] = bound{calls, bytes}
	}
	return out
}

// cost returns a line about the effort that a fault has taken, with some room for longer texts.
func (a *agent) cost(name string) string {
	const step, room = 500, 300
	return fmt.Sprintf("%s: at most %d calls, each answer after the status at most %d bytes\n", name, len(a.asked), (a.most+room+step-1)/step*step)
}

const quota = `
-- Tiltfile --
k8s_yaml('app.yaml')
-- helper.star --
def port(name):
    return read_file('no-such-file')
-- app.yaml --
apiVersion: v1
kind: ResourceQuota
metadata: {name: few}
spec: {hard: {pods: "0"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: app, image: busybox, command: [sleep, "100000"]}]}
`

// detached starts a session in the background, and ends it with the test.
func (p *project) detached() {
	p.t.Helper()
	p.t.Cleanup(func() { _, _ = p.run("stop") })
	if out, code := p.run("up", "--detach", "--port", fmt.Sprint(p.ports[3]), "--namespace", p.namespace); code != 0 && code != 1 {
		p.t.Fatalf("hone up --detach: %d\n%s", code, out)
	}
}
