package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/containers/compose/composetest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// composed is a service that prints the arguments of its start, and one whose image comes from elsewhere.
const composed = `
-- Tiltfile --
docker_compose('compose.yml', project_name='$PROJECT')
docker_build('hone-e2e/$PROJECT', '.', dockerfile='web.Dockerfile', only=['site', 'conf', 'app'],
    live_update=[fall_back_on('conf'), sync('site', '/www'), sync('app', '/app')RESTART])
dc_resource('web', links=[link('http://localhost:$PORT0/status', 'status')])
-- compose.yml --
services:
  web:
    image: hone-e2e/$PROJECT
    ports: ["127.0.0.1:$PORT0:80"]
    stop_grace_period: 1s
    depends_on: [base]
    command: ["/app/run.sh", "$$HOME"]
  base:
    image: busybox
    command: ["sh", "-c", "echo base is up; while :; do sleep 3600; done"]
    stop_grace_period: 0s
    healthcheck: {test: ["CMD", "true"], interval: 1s}
  once:
    image: busybox
    command: ["sh", "-c", "echo did it"]
-- web.Dockerfile --
FROM busybox
COPY conf /conf
COPY --chown=1000 site /www
COPY --chown=1000 app /app
USER 1000
-- app/run.sh --
#!/bin/sh
echo "started version one as $(id -u) with $1"
echo "to stderr" >&2
exec httpd -f -p 0.0.0.0:80 -h /www
-- site/index.html --
one
-- conf/settings --
a=1
`

// composeFolder returns a folder with Docker Compose in it.
func composeFolder(t *testing.T) string {
	t.Helper()
	return filepath.Dir(composetest.Program(t))
}

// composeProject is a Compose project on the real engine, without a cluster.
type composeProject struct {
	*project
	name   string
	engine docker.Client
}

func newComposeProject(t *testing.T, archive string) *composeProject {
	t.Helper()
	if os.Getenv("HONE_TEST_CLUSTER") == "" {
		t.Skip("needs HONE_TEST_CLUSTER=1 (make test sets it)")
	}
	name := "hone-e2e-" + uuid.NewString()[:8]
	p := &composeProject{newLocalProject(t, strings.ReplaceAll(archive, "$PROJECT", name)), name, newEngine(t)}
	p.env = append(p.env, "PATH="+composeFolder(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Cleanup(p.clean)
	return p
}

// clean removes the project's leftovers from the engine.
func (p *composeProject) clean() {
	ctx := context.WithoutCancel(p.t.Context())
	c := exec.CommandContext(ctx, filepath.Join(composeFolder(p.t), "docker-compose"), "-p", p.name, "down", "--volumes", "--remove-orphans")
	if out, err := c.CombinedOutput(); err != nil {
		p.t.Errorf("clean up: %v\n%s", err, out)
	}
	images, err := p.engine.Images(ctx, "dev.hone.image")
	if err != nil {
		p.t.Error(err)
	}
	for _, im := range images {
		for _, tag := range im.Tags {
			if strings.HasPrefix(tag, "hone-e2e/"+p.name+":") {
				_ = p.engine.Remove(ctx, tag)
			}
		}
	}
}

// containers returns the containers of a service, whether they run or not; of all services if the name is empty.
func (p *composeProject) containers(service string) []docker.ContainerState {
	p.t.Helper()
	list, err := p.engine.ContainerStates(p.t.Context(), map[string]string{model.ComposeProjectLabel: p.name, model.ComposeServiceLabel: service})
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// only returns the one container of a service.
func (p *composeProject) only(service string) docker.ContainerState {
	p.t.Helper()
	list := p.containers(service)
	if len(list) != 1 {
		p.t.Fatalf("%d containers of %s: %+v", len(list), service, list)
	}
	return list[0]
}

// TestCompose follows a project through a session: services come up, an edit goes into the running container, another file
// gives a new image, a crash shows, a resource is switched off and on, and down leaves nothing.
func TestCompose(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, strings.ReplaceAll(composed, "RESTART", ""))
	s := p.up("--update-mode", "container")
	s.ready("web", "base", "once")
	s.serves(p.ports[0], "/", "one")
	s.says(`web +│ started version one as 1000 with \$HOME`)
	s.says(`web +│ to stderr`)
	s.says(`base +│ base is up`)
	s.says(`once +│ did it`)
	first := p.only("web")
	r, err := s.resource("web")
	if err != nil {
		t.Fatal(err)
	}
	if r.Type != "compose" || r.RuntimeText != "running 1/1" || len(r.Pods) != 1 || r.Pods[0].Name != first.Name {
		t.Errorf("web: %+v", r)
	}

	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	if b := s.builds("web", 2); b.Mode != "container" || b.Error != "" || b.FellBack != "" {
		t.Errorf("build: %+v", b)
	}
	if now := p.only("web"); now.ID != first.ID || !now.StartedAt.Equal(first.StartedAt) {
		t.Errorf("the container was replaced or restarted: %+v, then %+v", first, now)
	}

	p.write("conf/settings", "a=2")
	if b := s.builds("web", 3); b.Mode != "compose" || b.Error != "" || !strings.Contains(b.FellBack, "fall_back_on") {
		t.Errorf("build: %+v", b)
	}
	s.ready("web")
	s.serves(p.ports[0], "/", "two")
	second := p.only("web")
	if second.ID == first.ID || second.Image == first.Image {
		t.Errorf("the container still runs the old image: %+v, then %+v", first, second)
	}

	p.write("app/run.sh", "#!/bin/sh\necho going down\nexit 7\n")
	s.builds("web", 4) // into the running container, whose process does not notice
	if err := p.engine.RestartContainer(t.Context(), second.ID, false); err != nil {
		t.Fatal(err)
	}
	s.says(`web +│ going down`)
	s.becomes("web", "failed", func(r api.Resource) bool {
		return r.RuntimeStatus == "error" && strings.Contains(r.RuntimeError, "exited with code 7")
	})

	s.patch("configmaps", "web-disable", `{"data":{"isDisabled":"true"}}`)
	s.await("no container of web", func() error {
		if list := p.containers("web"); len(list) > 0 {
			return fmt.Errorf("there is %+v", list)
		}
		return nil
	})
	p.write("app/run.sh", "#!/bin/sh\necho back again\nexec httpd -f -p 0.0.0.0:80 -h /www\n")
	s.patch("configmaps", "web-disable", `{"data":{"isDisabled":"false"}}`)
	s.ready("web")
	s.says(`web +│ back again`)
	s.serves(p.ports[0], "/", "two")

	if code := s.stop(); code != 0 && code != 130 {
		t.Errorf("exit code %d", code)
	}
	if c := p.only("web"); !c.Running() {
		t.Errorf("the end of the session has ended the container: %+v", c)
	}
	out, code := p.run("down")
	if code != 0 {
		t.Errorf("down: %d\n%s", code, out)
	}
	if list := p.containers(""); len(list) > 0 {
		t.Errorf("down leaves %+v\n%s", list, out)
	}
}

// TestComposeRestart edits a program whose live update restarts its process, in both ways in which the container can be
// reached: a new process in the same container, by the supervisor that was put into it, whose log continues. A crash of
// the process shows, and so does its recovery.
func TestComposeRestart(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"container", "auto"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newComposeProject(t, strings.ReplaceAll(composed, "RESTART", ", restart_container()"))
			s := p.up("--update-mode", mode)
			s.ready("web")
			s.says(`web +│ started version one as 1000 with \$HOME`)
			first := p.only("web")
			want := map[string]string{"container": "container", "auto": "synclet"}[mode]

			p.replace("app/run.sh", "version one", "version two")
			s.says(`web +│ started version two as 1000 with \$HOME`)
			if b := s.builds("web", 2); b.Mode != want || b.Error != "" || b.FellBack != "" {
				t.Errorf("build: %+v", b)
			}
			s.serves(p.ports[0], "/", "one")
			if now := p.only("web"); now.ID != first.ID || !now.StartedAt.Equal(first.StartedAt) {
				t.Errorf("the container was replaced or restarted: %+v, then %+v", first, now)
			}
			if n := strings.Count(s.out.String(), "started version one"); n != 1 {
				t.Errorf("the first line of the container stands %d times in the log", n)
			}

			p.write("app/run.sh", "#!/bin/sh\necho crashing\nexit 9\n")
			s.says(`web +│ crashing`)
			s.becomes("web", "failed", func(r api.Resource) bool {
				return r.RuntimeStatus == "error" && strings.Contains(r.RuntimeText+r.RuntimeError, "9")
			})
			p.write("app/run.sh", "#!/bin/sh\necho mended\nexec httpd -f -p 0.0.0.0:80 -h /www\n")
			s.says(`web +│ mended`)
			s.ready("web")
			s.serves(p.ports[0], "/", "one")
			if now := p.only("web"); mode == "auto" && now.ID != first.ID {
				t.Errorf("the container was replaced: %+v, then %+v", first, now)
			}
			s.stop()
			if out, code := p.run("down"); code != 0 || len(p.containers("")) > 0 {
				t.Errorf("down: %d\n%s\n%+v", code, out, p.containers(""))
			}
		})
	}
}

// TestComposeRestartsContainer leaves a container with a read-only file system without the supervisor, logs that, and
// restarts it as a whole.
func TestComposeRestartsContainer(t *testing.T) {
	t.Parallel()
	archive := strings.ReplaceAll(composed, "RESTART", ", restart_container()")
	archive = strings.Replace(archive, "    depends_on: [base]\n", "    read_only: true\n    volumes: [\"/www\"]\n", 1)
	p := newComposeProject(t, archive)
	s := p.up("--update-mode", "container")
	s.ready("web")
	s.says(`web +│ WARNING: restart_container\(\) will restart the whole container of web`)
	first := p.only("web")
	if first.Entrypoint != nil {
		t.Errorf("the container has an entrypoint: %+v", first)
	}
	s.serves(p.ports[0], "/", "one")
}

// TestComposeNextSession starts a session after one that has updated a container in place. If the sources are unchanged,
// the container is kept; if the edit was reverted meanwhile, the image is the old one, but the container with the edit
// is not kept.
func TestComposeNextSession(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, strings.ReplaceAll(composed, "RESTART", ""))
	s := p.up()
	s.ready("web")
	first := p.only("web")
	s.stop()
	s = p.up()
	s.ready("web")
	if now := p.only("web"); now.ID != first.ID || !now.StartedAt.Equal(first.StartedAt) {
		t.Errorf("nothing has changed, and the container was replaced: %+v, then %+v", first, now)
	}
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	s.stop()
	p.write("site/index.html", "one\n")
	s = p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	if now := p.only("web"); now.Image != first.Image {
		t.Errorf("the image is another one: %+v, then %+v", first, now)
	}
}

// TestComposeByHand recreates a container by hand, and then removes it: it comes back with the copied files. A container from another
// image does not get them, and the service says so.
func TestComposeByHand(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, strings.ReplaceAll(composed, "RESTART", ""))
	s := p.up()
	s.serves(p.ports[0], "/", "one")
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	byHand := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), filepath.Join(composeFolder(t), "docker-compose"), append([]string{"-p", p.name}, args...)...)
		c.Dir = p.dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("docker-compose %v: %v\n%s", args, err, out)
		}
	}
	first := p.only("web").ID
	byHand("up", "--detach", "--force-recreate", "--no-deps", "web")
	if p.only("web").ID == first {
		t.Fatal("the container is the same")
	}
	s.serves(p.ports[0], "/", "two")
	byHand("rm", "--force", "--stop", "web")
	s.serves(p.ports[0], "/", "two")
	s.ready("web")
	p.write("other.yml", "services: {web: {image: busybox, command: [sleep, '1000']}}")
	byHand("-f", "compose.yml", "-f", "other.yml", "up", "--detach", "--no-deps", "web")
	s.becomes("web", "failing because of its image", func(r api.Resource) bool {
		return r.RuntimeStatus == "error" && strings.Contains(r.RuntimeError, "runs busybox")
	})
	s.hone("trigger", "web")
	s.serves(p.ports[0], "/", "two")
	s.ready("web")
}

// TestComposeCI ends when services run and are healthy, or have completed, and fails if one has not.
func TestComposeCI(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, strings.ReplaceAll(composed, "RESTART", ""))
	p.replace("Tiltfile", "docker_compose(", "local_resource('seed', 'echo seeding', down_cmd='echo unseeded', resource_deps=['base'])\ndocker_compose(")
	p.says(0, []string{"preview"}, `(?s)\+ create +compose/base.*\$ run +local/seed`, `3 to create, 1 to run`)
	if out, code := p.run("ci", "--port", fmt.Sprint(p.ports[3])); code != 0 || !strings.Contains(out, "did it") {
		t.Errorf("ci: %d\n%s", code, out)
	}
	for _, name := range []string{"web", "base"} {
		if c := p.only(name); !c.Running() || name == "base" && c.Health != "healthy" {
			t.Errorf("%s: %+v", name, c)
		}
	}
	p.says(0, []string{"preview"}, `\$ run +compose/base`, `4 to run`)
	// Not healthy before its end, so that it does not count as running.
	p.replace("compose.yml", `command: ["sh", "-c", "echo did it"]`,
		"healthcheck: {test: [CMD, 'false']}\n    command: [sh, -c, 'sleep 1; exit 4']")
	if out, code := p.run("ci", "--port", fmt.Sprint(p.ports[3])); code == 0 || !strings.Contains(out, "exited with code 4") {
		t.Errorf("ci: %d\n%s", code, out)
	}
	p.says(0, []string{"down"}, `unseeded`)
	if len(p.containers("")) > 0 {
		t.Errorf("left: %+v", p.containers(""))
	}
}

// TestComposeIsShown shows a service with its ports, in words of containers, and with the exit code of one that dies.
func TestComposeIsShown(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, `
-- Tiltfile --
docker_compose('compose.yml', project_name='$PROJECT')
-- compose.yml --
services:
  web:
    image: busybox
    ports: ["127.0.0.1:$PORT0:80", "8081"]
    stop_grace_period: 0s
    command: ["sh", "-c", "mkdir /www; echo hello > /www/index.html; exec httpd -f -p 80 -h /www"]
  dies:
    image: busybox
    stop_grace_period: 0s
    command: ["sh", "-c", "sleep 2; echo no database; exit 3"]
`)
	s := p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "hello")
	r, err := s.resource("web")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.PortForwards) != 2 || r.PortForwards[0].URL == "" || r.PortForwards[1].URL == "" {
		t.Errorf("ports: %+v", r.PortForwards)
	}
	dead := s.becomes("dies", "dead", func(r api.Resource) bool { return r.RuntimeStatus == "error" })
	if !strings.Contains(dead.RuntimeError, "container "+p.name+"-dies-1: exited with code 3") {
		t.Errorf("dies: %q", dead.RuntimeError)
	}
	for _, tt := range []struct {
		args  []string
		wants []string
	}{
		{[]string{"get", "uiresources"}, []string{"web", "dies"}},
		{[]string{"get", "resources"}, []string{"web", "compose"}},
		{[]string{"get", "dockercomposeservices"}, []string{"web"}},
		{[]string{"describe", "uiresource", "web"}, []string{fmt.Sprintf("http://localhost:%d/", p.ports[0])}},
		{[]string{"describe", "uiresource", "dies"}, []string{"exited with code 3"}},
	} {
		out, code := p.run(tt.args...)
		for _, want := range tt.wants {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%s: exit code %d, lacks %q\n%s", tt.args, code, want, out)
			}
		}
		if words := strings.ReplaceAll(strings.ToLower(out), " pod-", ""); tt.args[0] == "describe" && (strings.Contains(words, "pod") || strings.Contains(out, "bjects applied")) {
			t.Errorf("%s speaks of pods or objects\n%s", tt.args, out)
		}
	}
	if out := s.out.String(); strings.Contains(out, "pod ") || strings.Contains(out, "Objects applied") {
		t.Errorf("the log speaks of pods or objects\n%s", out)
	}
	s.stop()
	if out, code := p.run("down"); code != 0 {
		t.Errorf("down: %d\n%s", code, out)
	}
	p.replace("compose.yml", "sleep 2; echo no", "echo no") // so that it never counts as running
	p.replace("compose.yml", "  dies:\n", "  dies:\n    healthcheck: {test: [CMD, 'false']}\n")
	out, code := p.run("ci", "--port", "0")
	if code != 1 || !strings.Contains(out, "Error: dies: container "+p.name+"-dies-1: exited with code 3\n  the last lines of its log:\n") ||
		!strings.Contains(out, "│ no database") {
		t.Errorf("ci: %d\n%s", code, out)
	}
}
