package docker

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// realEngine returns the engine of the test cluster.
func realEngine(t *testing.T) *Engine {
	t.Helper()
	if os.Getenv("HONE_TEST_CLUSTER") == "" {
		t.Skip("needs HONE_TEST_CLUSTER=1 (make test sets it)")
	}
	ep, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(ep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// realContainer starts a container that idles until the test ends.
func realContainer(t *testing.T, e *Engine, labels map[string]string) string {
	t.Helper()
	return realContainerOf(t, e, labels, "while true; do sleep 3600; done")
}

// realContainerOf starts a container that runs a script.
func realContainerOf(t *testing.T, e *Engine, labels map[string]string, script string) string {
	t.Helper()
	created, err := e.api.ContainerCreate(t.Context(), &container.Config{
		Image: "busybox", Cmd: []string{"sh", "-c", script}, Labels: labels,
	}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := e.api.ContainerRemove(context.WithoutCancel(t.Context()), created.ID, container.RemoveOptions{Force: true})
		if err != nil && !IsNotFound(err) {
			t.Errorf("remove the container: %v", err)
		}
	})
	if err := e.api.ContainerStart(t.Context(), created.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	return created.ID
}

// removeImage removes an image that a test built.
func removeImage(t *testing.T, e *Engine, ref string) {
	t.Cleanup(func() {
		_, _ = e.api.ImageRemove(context.WithoutCancel(t.Context()), ref, image.RemoveOptions{Force: true})
	})
}

func TestEngineConformance(t *testing.T) {
	e := realEngine(t)
	removeImage(t, e, "hone-test-images:a-"+run)
	removeImage(t, e, "hone-test-images:b-"+run)
	testConformance(t, subject{
		client:    e,
		container: func(t *testing.T, labels map[string]string) string { return realContainer(t, e, labels) },
		writes: func(t *testing.T) string {
			return realContainerOf(t, e, nil, `x=$(head -c 20000 /dev/zero | tr '\0' x); echo out; echo err >&2; echo o$x; echo e$x >&2; exit 3`)
		},
		started: func(t *testing.T, id string) string {
			c, err := e.api.ContainerInspect(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return c.State.StartedAt
		},
	})
}

// TestClassicBuilder runs the tests that the classic builder shares with BuildKit.
func TestClassicBuilder(t *testing.T) {
	e := realEngine(t)
	t.Setenv("DOCKER_BUILDKIT", "0")
	s := subject{client: e}
	t.Run("build", func(t *testing.T) { testBuild(t, s) })
	t.Run("build errors", func(t *testing.T) { testBuildErrors(t, s) })
	t.Run("ignores", func(t *testing.T) { testIgnores(t, s) })
}

func TestEngineBuild(t *testing.T) {
	e := realEngine(t)
	t.Setenv("HONE_TEST_FROM_ENV", "from the environment")
	dir := writeTree(t, map[string]string{
		".dockerignore": "everything/**\n", "src/main.txt": "main", "src/skip.md": "skipped", "token.txt": "s3cret", "everything/kept.txt": "x",
	})
	log := &recorder{}
	id, err := e.Build(t.Context(), BuildRequest{
		Context:    dir,
		Ignores:    []model.Ignore{{Base: dir, Patterns: []string{"**/*.md"}, Source: ".dockerignore"}},
		Dockerfile: filepath.Join(dir, "Dockerfile"),
		Contents: `FROM busybox AS base
ENV RUN=` + run + `
ARG GREETING
ARG HONE_TEST_FROM_ENV
COPY . /src
RUN --mount=type=secret,id=token echo "$GREETING, $HONE_TEST_FROM_ENV" > /greeting && wc -c < /run/secrets/token && ls -R /src > /listing
FROM base AS prod
RUN printf 'no line break'
FROM base AS never
RUN exit 1
`,
		Target:    "prod",
		BuildArgs: map[string]*string{"GREETING": ptr("hello"), "HONE_TEST_FROM_ENV": nil, "HONE_TEST_UNSET": nil},
		Secrets:   []string{"id=token,src=" + filepath.Join(dir, "token.txt")},
		Labels:    map[string]string{"hone.test": "1"},
		Tags:      []string{"hone-test-build:" + run},
		NoCache:   true,
		Log:       log,
	})
	if err != nil {
		t.Fatal(problem.Text(err))
	}
	removeImage(t, e, "hone-test-build:"+run)
	t.Log(log)
	for _, want := range []string{"COPY . /src", "  6\n", "  no line break\n", "[prod 1/1]"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if strings.Contains(log.String(), "s3cret") {
		t.Error("the secret is in the log")
	}
	got := runImage(t, e, id, "cat", "/greeting", "/listing")
	if !strings.Contains(got, "hello, from the environment") {
		t.Errorf("arguments: %q", got)
	}
	if strings.Contains(got, "skip.md") || !strings.Contains(got, "main.txt") {
		t.Errorf("ignored files: %q", got)
	}
	if !strings.Contains(got, "kept.txt") {
		t.Errorf("the engine applied ignore rules of its own: %q", got)
	}
}

// runImage runs a command in a container of the image and returns its output.
func runImage(t *testing.T, e *Engine, image string, argv ...string) string {
	t.Helper()
	created, err := e.api.ContainerCreate(t.Context(), &container.Config{Image: image, Cmd: []string{"sleep", "60"}}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.api.ContainerRemove(context.WithoutCancel(t.Context()), created.ID, container.RemoveOptions{Force: true}); err != nil {
			t.Error(err)
		}
	}()
	if err := e.api.ContainerStart(t.Context(), created.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := e.ContainerExec(t.Context(), created.ID, argv, nil, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestEngineSameSizeDockerfile: BuildKit's copy of the last build must not hide a changed Dockerfile of the same
// length.
func TestEngineSameSizeDockerfile(t *testing.T) {
	e := realEngine(t)
	dir := t.TempDir()
	one := mustBuild(t, e, BuildRequest{Context: dir, Contents: "FROM busybox\nLABEL run=" + run + " a=1\n"})
	two := mustBuild(t, e, BuildRequest{Context: dir, Contents: "FROM busybox\nLABEL run=" + run + " a=2\n"})
	if one == two {
		t.Error("the changed Dockerfile was not seen")
	}
}

func TestEngineFailingCommand(t *testing.T) {
	e := realEngine(t)
	_, err := e.Build(t.Context(), BuildRequest{Dockerfile: "/src/Dockerfile", NoCache: true, Contents: `FROM busybox
ENV CODE=7 RUN=` + run + `
RUN echo before; \
    echo broken 1>&2; \
    exit $CODE
`})
	p, ok := problem.Of(err)
	if !ok || !IsUserError(err) {
		t.Fatalf("got %v", err)
	}
	t.Log(problem.Text(err))
	for _, want := range []string{"before\n", "broken\n", "Dockerfile:3", "> ", "RUN echo before"} {
		if !strings.Contains(p.Output+"\n\n"+p.Detail, want) {
			t.Errorf("the detail lacks %q", want)
		}
	}
	if !strings.Contains(p.Summary, "exit code 7") {
		t.Errorf("summary %q", p.Summary)
	}
}

func TestEngineUnknownBase(t *testing.T) {
	e := realEngine(t)
	_, err := e.Build(t.Context(), BuildRequest{Contents: "FROM localhost:5000/hone-test/no-such-base:1\n"})
	t.Log(problem.Text(err))
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, "no-such-base") || !strings.Contains(p.Detail, ":1") {
		t.Errorf("got %v", err)
	}
}

func TestEngineCancel(t *testing.T) {
	e := realEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var running logstore.Func = func(_ logstore.Level, text string) {
		if strings.Contains(text, "begun") {
			cancel()
		}
	}
	began := time.Now()
	_, err := e.Build(ctx, BuildRequest{Contents: "FROM busybox\nENV RUN=" + run + "\nRUN echo begun; sleep 60\n", NoCache: true, Log: running})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("cancelling took %s", took)
	}
}

func TestEnginePush(t *testing.T) {
	e := realEngine(t)
	ref := "localhost:5000/hone-test/push:" + run
	if err := e.Tag(t.Context(), "busybox", ref); err != nil {
		t.Fatal(err)
	}
	removeImage(t, e, ref)
	log := &recorder{}
	if err := e.Push(t.Context(), ref, log, nil); err != nil {
		t.Fatal(problem.Text(err))
	}
	if !strings.Contains(log.String(), "layer ") {
		t.Errorf("no progress:\n%s", log)
	}
	dead := "localhost:1/hone-test/push:" + run
	if err := e.Tag(t.Context(), "busybox", dead); err != nil {
		t.Fatal(err)
	}
	removeImage(t, e, dead)
	err := e.Push(t.Context(), dead, nil, nil)
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Mend, "localhost:1") {
		t.Errorf("dead registry: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	e, err := New(Endpoint{Host: "unix://" + filepath.Join(t.TempDir(), "none.sock")})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Ping(t.Context())
	p, ok := problem.Of(err)
	if !ok || !IsUnreachable(err) || !strings.Contains(p.Mend, "start the engine") {
		t.Errorf("ping: %v", err)
	}
	_, err = e.Build(t.Context(), BuildRequest{Contents: "FROM scratch"})
	if IsUserError(err) || !IsUnreachable(err) {
		t.Errorf("build: %v", err)
	}
	if err := e.Push(t.Context(), "localhost:5000/a:1", nil, nil); !IsUnreachable(err) {
		t.Errorf("push: %v", err)
	}
}
