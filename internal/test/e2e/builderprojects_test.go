package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/pkg/api"
)

// ordinary is a project whose image is built in the cluster, except for the folder app: one service, which answers at port 8080.
var ordinary = `
-- Tiltfile --
builder('kubernetes', image='$IMAGE', requests={'cpu': '10m'}, config='buildkitd.toml')
docker_build('app-$NS', 'app')
k8s_yaml('app.yaml')
-- buildkitd.toml --
[registry."docker.io"]
  mirrors = ["$REGISTRY"]
[registry."$REGISTRY"]
  http = true
-- app.yaml --
` + deployment("app", `
terminationGracePeriodSeconds: 0
containers:
- name: app
  image: app-$NS
  readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
`) + `---
apiVersion: v1
kind: Service
metadata: {name: app}
spec:
  selector: {app: app}
  ports: [{port: 8080}]
`

// ordinaryApps are the folders app of projects as people have them. An edit turns the first answer into the second.
var ordinaryApps = []struct {
	name string
	// base makes the base, and returns its name.
	base func(t *testing.T) string
	app  string
	// edited is the file that the edit changes.
	edited string
	// before are the steps that the edit leaves alone, after those that it concerns.
	before, after []string
}{
	{"stages", func(t *testing.T) string { buildkittest.Busybox(t); return "busybox" }, `
-- app/Dockerfile --
FROM $BASE AS made
COPY greeting /
RUN sed 's/^/say: /' /greeting > /index.html
COPY name /
RUN cat /name >> /index.html
FROM busybox
COPY --from=made /index.html /www/
CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]
-- app/greeting --
hello
-- app/name --
first
`, "app/name", []string{"COPY greeting /", "RUN sed"}, []string{"COPY name /", "RUN cat", "COPY --from=made"}},

	{"go", goBase, `
-- app/Dockerfile --
FROM $BASE AS made
WORKDIR /src
COPY go.mod ./
RUN go mod download
COPY . ./
RUN --mount=type=cache,target=/go/cache CGO_ENABLED=0 go build -trimpath -o /app .
FROM busybox
COPY --from=made /app /app
CMD ["/app"]
-- app/go.mod --
module example.com/app

go 1.21
-- app/main.go --
package main

import (
	"fmt"
	"net/http"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "say: hello", name) })
	panic(http.ListenAndServe(":8080", nil))
}
-- app/name.go --
package main

const name = "first"
`, "app/name.go", []string{"WORKDIR /src", "COPY go.mod", "RUN go mod download"}, []string{"COPY . ./", "RUN --mount=type=cache", "COPY --from=made"}},

	{"node", nodeBase, `
-- app/Dockerfile --
FROM $BASE
WORKDIR /app
COPY package.json ./
COPY greeting greeting
RUN npm install --omit=dev
COPY server.js ./
CMD ["node", "server.js"]
-- app/package.json --
{"name": "app", "version": "1.0.0", "dependencies": {"greeting": "file:./greeting"}}
-- app/greeting/package.json --
{"name": "greeting", "version": "1.0.0"}
-- app/greeting/index.js --
module.exports = name => 'say: hello ' + name
-- app/server.js --
const greeting = require('greeting')
require('http').createServer((_, answer) => answer.end(greeting('first') + '\n')).listen(8080)
`, "app/server.js", []string{"WORKDIR /app", "COPY package.json", "COPY greeting", "RUN npm install"}, []string{"COPY server.js"}},
}

// goBase makes an image with the Go of this machine, without all that a build does not need.
func goBase(t *testing.T) string {
	t.Helper()
	root := strings.TrimSpace(outputOf(t, "go", "env", "GOROOT"))
	in := func(path string) string { return filepath.Join(root, path) }
	tools := "pkg/tool/" + runtime.GOOS + "_" + runtime.GOARCH
	base := buildkittest.Base{
		Name: "hone-test/golang:" + runtime.Version() + "-1",
		Env:  []string{"PATH=" + in("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin", "GOTOOLCHAIN=local", "GOPATH=/go", "GOCACHE=/go/cache"},
		Files: []string{in("bin/go"), in("go.env"), in("VERSION"), in("pkg/include"), in("src"),
			in(tools + "/asm"), in(tools + "/compile"), in(tools + "/link")},
		Skip: func(path string) bool {
			return strings.HasSuffix(path, "_test.go") || slices.Contains([]string{in("src/cmd"), filepath.Join(filepath.Dir(path), "testdata")}, path)
		},
	}
	base.Push(t)
	return base.Name
}

// nodeBase makes an image with the Node.js and the npm of this machine.
func nodeBase(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skipf("Node.js is not there: %v", err)
	}
	modules := strings.TrimSpace(outputOf(t, "npm", "root", "-g"))
	files := []string{node, filepath.Join(modules, "npm")}
	for _, lib := range regexp.MustCompile(`(?m)(/\S+) \(0x`).FindAllStringSubmatch(outputOf(t, "ldd", node), -1) {
		files = append(files, lib[1])
	}
	base := buildkittest.Base{
		Name:  "hone-test/node:" + strings.TrimSpace(outputOf(t, "node", "--version")) + "-2",
		Env:   []string{"PATH=" + filepath.Dir(node) + ":/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "npm_config_update_notifier=false"},
		Files: files,
		Links: map[string]string{filepath.Join(filepath.Dir(node), "npm"): filepath.Join(modules, "npm/bin/npm-cli.js")},
	}
	base.Push(t)
	return base.Name
}

// outputOf returns the output of a program of this machine.
func outputOf(t *testing.T, argv ...string) string {
	t.Helper()
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = t.TempDir()
	out, err := c.Output()
	if err != nil {
		t.Skipf("%s: %v", strings.Join(argv, " "), err)
	}
	return string(out)
}

// TestBuilderProjects deploys ordinary projects with no container engine. An unchanged image is not built again, and an edit builds only the
// steps from its file on.
func TestBuilderProjects(t *testing.T) {
	t.Parallel()
	for _, tc := range ordinaryApps {
		t.Run(tc.name, func(t *testing.T) {
			if testing.Short() && tc.name != "stages" {
				t.Skip("not short")
			}
			t.Parallel()
			begun := time.Now()
			base := tc.base(t)
			t.Logf("the base %s is there after %s", base, time.Since(begun).Round(time.Millisecond))
			p := newNoEngine(t, strings.NewReplacer("$REGISTRY", registryForPods(t), "$BASE", base).Replace(ordinary+tc.app), newProject)

			r := p.ci("--timeout", "4m")
			if r.ended(0, "ok", "(Tiltfile): ok", "app: ok"); t.Failed() {
				return // it has no answer
			}
			p.answers("app", "say: hello first")
			start := slices.IndexFunc(r.resource("app").Waits, func(w api.Wait) bool { return strings.Contains(w.Text, "waits for the builder kubernetes") })
			if start < 0 {
				t.Fatalf("the report does not say how long the builder took to start: %+v", r.resource("app").Waits)
			}
			began, u := r.update("app")
			t.Logf("the build began %s after the Tiltfile was evaluated, %.0f ms of it for the builder, and the update took %s",
				began, float64(r.resource("app").Waits[start].Ms), u)

			r = p.ci("--timeout", "4m")
			r.ended(0, "ok", "(Tiltfile): ok", "app: ok")
			if ran := r.ran(); len(ran) > 0 {
				t.Errorf("unchanged, it runs %q", ran)
			}
			began, u = r.update("app")
			t.Logf("unchanged, the build began after %s, and the update took %s", began, u)

			p.replace(tc.edited, "first", "second")
			r = p.ci("--timeout", "4m")
			r.ended(0, "ok", "(Tiltfile): ok", "app: ok")
			p.answers("app", "say: hello second")
			cached, ran := r.steps("cached"), r.steps("done")
			if !begin(cached, tc.before) || !begin(ran, tc.after) {
				t.Errorf("after an edit of %s, it runs %q and leaves %q alone, want %q and %q", tc.edited, ran, cached, tc.after, tc.before)
			}
			began, u = r.update("app")
			t.Logf("after an edit, the build began after %s, and the update took %s", began, u)
		})
	}
}

// begin reports whether each of the steps begins as wanted.
func begin(steps, want []string) bool {
	return slices.EqualFunc(steps, want, strings.HasPrefix)
}

// step is a line about the end of a step of a Dockerfile.
var step = regexp.MustCompile(`\[(?:\S+ )?\d+/\d+\] (.*) \[(cached|done)\b`)

// steps returns the steps of the Dockerfile, apart from its bases, that have ended in a way: cached or done.
func (r *ci) steps(way string) (out []string) {
	for _, m := range step.FindAllStringSubmatch(r.stderr, -1) {
		if m[2] == way && !strings.HasPrefix(m[1], "FROM ") {
			out = append(out, m[1])
		}
	}
	return out
}

// ran returns all steps of the Dockerfile that the builder was asked for.
func (r *ci) ran() []string { return append(r.steps("cached"), r.steps("done")...) }

// update returns the time from the evaluation of the Tiltfile to the begin of a resource's only update, and the duration of that.
func (r *ci) update(name string) (began time.Duration, took string) {
	r.t.Helper()
	var evaluated time.Time
	for line := range strings.SplitSeq(strings.TrimSpace(r.stdout), "\n") {
		e := documented(r.t, line)
		switch {
		case e.Type == "tiltfile-loaded":
			evaluated = e.Time
		case e.Type == "update-started" && e.Resource == name:
			began = e.Time.Sub(evaluated)
		case e.Type == "update-finished" && e.Resource == name:
			took = updateTook(*e.Update)
		}
	}
	if took == "" {
		r.t.Errorf("the report has no update of %s", name)
	}
	return began, took
}

// updateTook says how long an update and its steps took.
func updateTook(u api.UpdateEvent) string {
	steps := make([]string, len(u.Steps))
	for i, s := range u.Steps {
		steps[i] = fmt.Sprintf("%s %.0f ms", s.Kind, float64(s.TookMs))
	}
	return fmt.Sprintf("%.0f ms (%s)", float64(u.TookMs), strings.Join(steps, ", "))
}

// answers waits for an answer of a service, at its port 8080.
func (p *project) answers(service, want string) {
	p.t.Helper()
	path := fmt.Sprintf("/api/v1/namespaces/%s/services/%s:8080/proxy/", p.namespace, service)
	k8stest.Eventually(p.t, service+" to answer "+want, func() error {
		out, err := exec.CommandContext(p.t.Context(), "kubectl", "get", "--raw", path).CombinedOutput()
		got := strings.Join(strings.Fields(string(out)), " ")
		if err == nil && got != want {
			err = fmt.Errorf("it answers %.300q", got)
		}
		return err
	})
}
