package compose_test

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
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/compose/composetest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// runnerSubject is a Runner under test and its engine, which has the image "busybox".
type runnerSubject struct {
	runner compose.Runner
	engine docker.Client
}

func TestFakeRunner(t *testing.T) {
	testRunner(t, func(t *testing.T) runnerSubject {
		engine := dockertest.New()
		return runnerSubject{composetest.New(engine), engine}
	})
}

func TestTool(t *testing.T) {
	dockertest.Real(t) // or skip
	t.Setenv("TILT_DOCKER_COMPOSE_CMD", composetest.Program(t))
	testRunner(t, func(t *testing.T) runnerSubject {
		engine := dockertest.Real(t)
		return runnerSubject{compose.NewTool(engine.Env()), engine}
	})
}

// project writes a project for a test, and takes it down afterwards.
func (s runnerSubject) project(t *testing.T) model.ComposeProject {
	t.Helper()
	dir := t.TempDir()
	services := `
services:
  web: {image: busybox, command: ["sh", "-c", "while :; do sleep 3600; done"], stop_grace_period: 0s}
  other: {image: busybox, command: ["true"]}
  made: {image: "hone-test-compose:made", command: ["true"], build: {context: ., dockerfile_inline: "FROM busybox\nLABEL a=b\n"}}
`
	if err := os.WriteFile(filepath.Join(dir, "compose.yml"), []byte(services), 0o644); err != nil {
		t.Fatal(err)
	}
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
func (s runnerSubject) up(t *testing.T, p model.ComposeProject, u compose.Up) docker.ContainerState {
	t.Helper()
	if err := s.runner.Up(t.Context(), p, u, logstore.Discard); err != nil {
		t.Fatal(err)
	}
	list, err := compose.Containers(t.Context(), s.engine, p.Name, u.Service)
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
		first := s.up(t, p, compose.Up{Service: "web"})
		if !first.Running() || first.Image != "busybox" {
			t.Errorf("the container: %+v", first)
		}
		if again := s.up(t, p, compose.Up{Service: "web"}); again.ID != first.ID || !again.StartedAt.Equal(first.StartedAt) {
			t.Errorf("a container about which nothing changed was touched: %+v, then %+v", first, again)
		}
		if others, err := compose.Containers(t.Context(), s.engine, p.Name, "other"); err != nil || len(others) > 0 {
			t.Errorf("another service was started: %+v, %v", others, err)
		}
		if other := s.up(t, p, compose.Up{Service: "web", Recreate: true}); other.ID == first.ID {
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
		first := s.up(t, p, compose.Up{Service: "web"})
		u := compose.Up{Service: "web", Image: name, Entrypoint: []string{"sh", "-c", `while [ "$$" = "$HOME" ] || :; do sleep 3600; done`}, NoStart: true}
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
			if err := s.runner.Build(t.Context(), p, compose.Build{Service: "made", NoCache: noCache}, logstore.Discard); err != nil {
				t.Fatal(err)
			}
		}
		if c := s.up(t, p, compose.Up{Service: "made"}); c.Image != "hone-test-compose:made" {
			t.Errorf("the container: %+v", c)
		}
		if err := compose.Remove(t.Context(), s.engine, p.Name, "made", logstore.Discard); err != nil { // before its image is removed
			t.Error(err)
		}
	})
	t.Run("all at once", func(t *testing.T) {
		p := s.project(t)
		var wg sync.WaitGroup
		for _, name := range []string{"web", "other"} {
			wg.Go(func() { s.up(t, p, compose.Up{Service: name}) })
		}
		wg.Wait()
	})
	t.Run("unknown service", func(t *testing.T) {
		err := s.runner.Up(t.Context(), s.project(t), compose.Up{Service: "nobody"}, logstore.Discard)
		if err == nil || !strings.Contains(err.Error(), "no such service: nobody") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("down", func(t *testing.T) {
		p := s.project(t)
		s.up(t, p, compose.Up{Service: "web"})
		if err := s.runner.Down(t.Context(), p, false, logstore.Discard); err != nil {
			t.Fatal(err)
		}
		if list, err := compose.Containers(t.Context(), s.engine, p.Name, ""); err != nil || len(list) > 0 {
			t.Errorf("there are %+v, %v", list, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := s.project(t)
		cancel()
		if err := s.runner.Up(ctx, p, compose.Up{Service: "web"}, logstore.Discard); err == nil {
			t.Error("a service was started for nobody")
		}
	})
}
