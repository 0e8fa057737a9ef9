package compose

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/compose/composetest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// runnerSubject is a Runner under test and its engine, which has the image "busybox".
type runnerSubject struct {
	runner Runner
	engine docker.Client
}

func TestFakeRunner(t *testing.T) {
	testRunner(t, func(t *testing.T) runnerSubject {
		engine := docker.NewFake()
		return runnerSubject{NewFake(engine), engine}
	})
}

func TestTool(t *testing.T) {
	dockertest.Real(t) // or skip
	t.Setenv(commandVariable, composetest.Program(t))
	testRunner(t, func(t *testing.T) runnerSubject {
		engine := dockertest.Real(t)
		return runnerSubject{NewTool(engine.Env()), engine}
	})
}

// project writes a project for a test, and takes it down afterwards.
func (s runnerSubject) project(t *testing.T) model.ComposeProject {
	t.Helper()
	dir := folderOf(t, map[string]string{"compose.yml": `
services:
  web: {image: busybox, command: ["sh", "-c", "while :; do sleep 3600; done"], stop_grace_period: 0s}
  other: {image: busybox, command: ["true"]}
  made: {image: "hone-test-compose:made", command: ["true"], build: {context: ., dockerfile_inline: "FROM busybox\nLABEL a=b\n"}}
`})
	p := model.ComposeProject{Name: "hone-test-" + uuid.NewString()[:8], Dir: dir, Files: []model.ComposeFile{
		{Path: filepath.Join(dir, "compose.yml")}, {Source: "text", Content: "services: {web: {labels: {more: yes}}}"}}}
	t.Cleanup(func() {
		if err := s.runner.Down(context.WithoutCancel(t.Context()), p, true, logstore.Discard); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return p
}

// up starts a service and returns its container.
func (s runnerSubject) up(t *testing.T, p model.ComposeProject, u Up) docker.ContainerState {
	t.Helper()
	if err := s.runner.Up(t.Context(), p, u, logstore.Discard); err != nil {
		t.Fatal(err)
	}
	list, err := Containers(t.Context(), s.engine, p.Name, u.Service)
	if err != nil || len(list) != 1 {
		t.Fatalf("containers of %s: %+v, %v", u.Service, list, err)
	}
	return list[0]
}

// testRunner checks the contract of Runner.
func testRunner(t *testing.T, start func(*testing.T) runnerSubject) {
	s := start(t)
	t.Run("up", func(t *testing.T) {
		p := s.project(t)
		first := s.up(t, p, Up{Service: "web"})
		if !first.Running() || first.Image != "busybox" {
			t.Errorf("the container: %+v", first)
		}
		if again := s.up(t, p, Up{Service: "web"}); again.ID != first.ID || !again.StartedAt.Equal(first.StartedAt) {
			t.Errorf("a container about which nothing changed was touched: %+v, then %+v", first, again)
		}
		if others, err := Containers(t.Context(), s.engine, p.Name, "other"); err != nil || len(others) > 0 {
			t.Errorf("another service was started: %+v, %v", others, err)
		}
		if other := s.up(t, p, Up{Service: "web", Recreate: true}); other.ID == first.ID {
			t.Error("the container was not recreated")
		}
	})
	t.Run("what differs", func(t *testing.T) {
		p := s.project(t)
		name := "hone-test-compose:" + p.Name
		if err := s.engine.Tag(t.Context(), "busybox", name); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.engine.Remove(t.Context(), name) }()
		first := s.up(t, p, Up{Service: "web"})
		u := Up{Service: "web", Image: name, Entrypoint: []string{"sh", "-c", `while [ "$$" = "$HOME" ] || :; do sleep 3600; done`}, NoStart: true}
		made := s.up(t, p, u)
		if made.ID == first.ID || made.Image != name || made.Status != "created" || !slices.Equal(made.Entrypoint, u.Entrypoint) {
			t.Errorf("the container: %+v", made)
		}
		u.NoStart = false
		if started := s.up(t, p, u); started.ID != made.ID || !started.Running() {
			t.Errorf("the container was %+v, and is %+v", made, started)
		}
	})
	t.Run("build", func(t *testing.T) {
		p := s.project(t)
		defer func() { _ = s.engine.Remove(t.Context(), "hone-test-compose:made") }()
		for _, noCache := range []bool{false, true} {
			if err := s.runner.Build(t.Context(), p, Build{Service: "made", NoCache: noCache}, logstore.Discard); err != nil {
				t.Fatal(err)
			}
		}
		if c := s.up(t, p, Up{Service: "made"}); c.Image != "hone-test-compose:made" {
			t.Errorf("the container: %+v", c)
		}
		if err := Remove(t.Context(), s.engine, p.Name, "made", logstore.Discard); err != nil { // before its image is removed
			t.Error(err)
		}
	})
	t.Run("all at once", func(t *testing.T) {
		p := s.project(t)
		var wg sync.WaitGroup
		for _, name := range []string{"web", "other"} {
			wg.Go(func() { s.up(t, p, Up{Service: name}) })
		}
		wg.Wait()
	})
	t.Run("unknown service", func(t *testing.T) {
		err := s.runner.Up(t.Context(), s.project(t), Up{Service: "nobody"}, logstore.Discard)
		if err == nil || !strings.Contains(err.Error(), "no such service: nobody") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("down", func(t *testing.T) {
		p := s.project(t)
		s.up(t, p, Up{Service: "web"})
		if err := s.runner.Down(t.Context(), p, false, logstore.Discard); err != nil {
			t.Fatal(err)
		}
		if list, err := Containers(t.Context(), s.engine, p.Name, ""); err != nil || len(list) > 0 {
			t.Errorf("there are %+v, %v", list, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := s.project(t)
		cancel()
		if err := s.runner.Up(ctx, p, Up{Service: "web"}, logstore.Discard); err == nil {
			t.Error("a service was started for nobody")
		}
	})
}

// script writes a program to a new folder.
func script(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestToolIsFound looks for Docker Compose in its possible places.
func TestToolIsFound(t *testing.T) {
	plugin := script(t, "docker", "[ \"$1 $2\" = 'compose version' ] && echo v2.30.1")
	none := script(t, "docker", "exit 1")
	own := script(t, "docker-compose", "echo 2.29.0")
	old := script(t, "docker-compose", "echo 1.29.2")
	named := script(t, "mine", "echo 2.5.0")
	unnumbered := script(t, "docker", "[ \"$1 $2\" = 'compose version' ] && echo dev")
	ownUnnumbered := script(t, "docker-compose", "echo 'Docker Compose version dev'")
	commit := script(t, "mine", "echo 1f3c9ab")
	silent := script(t, "docker", "exit 0")
	for _, c := range []struct {
		name, named string
		path        []string
		want, fails string
	}{
		{name: "plugin", path: []string{plugin, own}, want: "docker compose"},
		{name: "own command", path: []string{none, own}, want: "docker-compose"},
		{name: "named", path: []string{plugin, named}, named: "mine", want: "mine"},
		{name: "no number", path: []string{unnumbered, own}, want: "docker compose"},
		{name: "no number, by itself", path: []string{none, ownUnnumbered}, want: "docker-compose"},
		{name: "a commit, named", path: []string{plugin, commit}, named: "mine", want: "mine"},
		{name: "no version", path: []string{silent}, fails: "was not found"},
		{name: "too old", path: []string{none, old}, fails: "docker-compose is version 1.29.2"},
		{name: "not there", path: []string{none}, fails: "was not found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", strings.Join(c.path, string(filepath.ListSeparator)))
			t.Setenv(commandVariable, c.named)
			argv, err := NewTool(nil).find(t.Context())
			if c.fails == "" && (err != nil || strings.Join(argv, " ") != c.want) {
				t.Errorf("got %v, %v", argv, err)
			}
			if p, ok := problem.Of(err); c.fails != "" && (!ok || !strings.Contains(p.Summary, c.fails) || p.Mend == "") {
				t.Errorf("got %v, want a problem", err)
			}
		})
	}
}

// TestBake lets Compose select its builder, and checks that its message about that is not repeated at each build.
func TestBake(t *testing.T) {
	dir := script(t, "compose", `case "$*" in *version*) echo 2.40.3; exit;; esac
echo "bake ${COMPOSE_BAKE-unset}"
echo 'time="now" level=warning msg="Docker Compose is configured to build using Bake, but buildx isn'"'"'t installed"' >&2
printf 'the rest'`)
	t.Setenv(commandVariable, filepath.Join(dir, "compose"))
	build := func() string {
		var said strings.Builder
		log := logstore.Func(func(_ logstore.Level, text string) { said.WriteString(text) })
		if err := NewTool(nil).Build(t.Context(), model.ComposeProject{Name: "shop", Dir: dir}, Build{Service: "web"}, log); err != nil {
			t.Error(err)
		}
		return said.String()
	}
	t.Setenv("COMPOSE_BAKE", "") // so that the test restores it
	_ = os.Unsetenv("COMPOSE_BAKE")
	if said := build(); said != "bake unset\nthe rest" {
		t.Errorf("it says %q", said)
	}
	t.Setenv("COMPOSE_BAKE", "true")
	if said := build(); !strings.HasPrefix(said, "bake true\n") || !strings.Contains(said, "buildx") {
		t.Errorf("chosen by the user, it says %q", said)
	}
}

// TestArguments checks the program's arguments (names, files and profiles), and that the environment does not override
// them.
func TestArguments(t *testing.T) {
	dir := script(t, "compose", `case "$*" in *version*) echo 2.40.3; exit;; esac
echo "args $*"
echo "env $COMPOSE_PROFILES $GIVEN $TAKEN $COMPOSE_FILE"
while [ $# -gt 0 ]; do [ "$1" = --file ] && [ "$2" != - ] && cat "$2" && stat -c 'mode %a' "$2"; shift; done
cat
echo
echo the reason >&2
exit 3`)
	t.Setenv(commandVariable, filepath.Join(dir, "compose"))
	t.Setenv("COMPOSE_PROFILES", "foreign")
	t.Setenv("COMPOSE_FILE", "foreign.yml")
	t.Setenv("TAKEN", "foreign")
	t.Setenv("TMPDIR", t.TempDir())
	var said strings.Builder
	log := logstore.Func(func(_ logstore.Level, text string) { said.WriteString(text) })
	p := model.ComposeProject{Name: "shop", Dir: dir, Files: []model.ComposeFile{{Content: "services: {}\n"}}, EnvFiles: []string{"/a.env"},
		Profiles: []string{"one", "two"}, Env: []string{"GIVEN=given", "TAKEN"}}
	err := NewTool(nil).Up(t.Context(), p, Up{Service: "web", Image: "web:1"}, log)
	if err == nil || err.Error() != "docker compose could not start web: the reason" {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"--project-name shop --project-directory " + dir, "--env-file /a.env --profile one --profile two --file - up --no-deps",
		"env  given  \n", "services: {}\n", "mode 600\n", `{"services":{"web":{"image":"web:1","pull_policy":"never"}}}`} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &said)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "hone-compose-*")); len(left) > 0 {
		t.Errorf("files are left behind: %v", left)
	}
}
