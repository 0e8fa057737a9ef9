package docker_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// realContainer starts a container that idles until the test ends.
func realContainer(t *testing.T, e *docker.Engine, labels map[string]string) string {
	t.Helper()
	return realContainerOf(t, e, labels, "while true; do sleep 3600; done")
}

// realContainerOf starts a container that runs a script.
func realContainerOf(t *testing.T, e *docker.Engine, labels map[string]string, script string) string {
	t.Helper()
	created, err := e.API().ContainerCreate(t.Context(), &container.Config{
		Image: "busybox", Cmd: []string{"sh", "-c", script}, Labels: labels,
	}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := e.API().ContainerRemove(context.WithoutCancel(t.Context()), created.ID, container.RemoveOptions{Force: true})
		if err != nil && !docker.IsNotFound(err) {
			t.Errorf("remove the container: %v", err)
		}
	})
	if err := e.API().ContainerStart(t.Context(), created.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	return created.ID
}

// removeImage removes an image that a test built.
func removeImage(t *testing.T, e *docker.Engine, ref string) {
	t.Cleanup(func() {
		_, _ = e.API().ImageRemove(context.WithoutCancel(t.Context()), ref, image.RemoveOptions{Force: true})
	})
}

func TestEngineConformance(t *testing.T) {
	e := dockertest.Real(t)
	removeImage(t, e, "hone-test-images:a-"+dockertest.Run)
	removeImage(t, e, "hone-test-images:b-"+dockertest.Run)
	dockertest.Conformance(t, dockertest.Subject{
		Client:    e,
		Container: func(t *testing.T, labels map[string]string) string { return realContainer(t, e, labels) },
		Writes: func(t *testing.T) string {
			return realContainerOf(t, e, nil, `x=$(head -c 20000 /dev/zero | tr '\0' x); echo out; echo err >&2; echo o$x; echo e$x >&2; exit 3`)
		},
		Started: func(t *testing.T, id string) string {
			c, err := e.API().ContainerInspect(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return c.State.StartedAt
		},
	})
}

// TestClassicBuilder runs the tests that the classic builder shares with BuildKit.
func TestClassicBuilder(t *testing.T) {
	e := dockertest.Real(t)
	t.Setenv("DOCKER_BUILDKIT", "0")
	dockertest.Builds(t, e)
}

func TestEngineBuild(t *testing.T) {
	e := dockertest.Real(t)
	t.Setenv("HONE_TEST_FROM_ENV", "from the environment")
	dir := dockertest.WriteTree(t, map[string]string{
		".dockerignore": "everything/**\n", "src/main.txt": "main", "src/skip.md": "skipped", "token.txt": "s3cret", "everything/kept.txt": "x",
	})
	log := &dockertest.Recorder{}
	id, err := e.Build(t.Context(), docker.BuildRequest{
		Context:    dir,
		Ignores:    []model.Ignore{{Base: dir, Patterns: []string{"**/*.md"}, Source: ".dockerignore"}},
		Dockerfile: filepath.Join(dir, "Dockerfile"),
		Contents: `FROM busybox AS base
ENV RUN=` + dockertest.Run + `
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
		BuildArgs: map[string]*string{"GREETING": new("hello"), "HONE_TEST_FROM_ENV": nil, "HONE_TEST_UNSET": nil},
		Secrets:   []string{"id=token,src=" + filepath.Join(dir, "token.txt")},
		Labels:    map[string]string{"hone.test": "1"},
		Tags:      []string{"hone-test-build:" + dockertest.Run},
		NoCache:   true,
		Log:       log,
	})
	if err != nil {
		t.Fatal(problem.Text(err))
	}
	removeImage(t, e, "hone-test-build:"+dockertest.Run)
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
func runImage(t *testing.T, e *docker.Engine, image string, argv ...string) string {
	t.Helper()
	created, err := e.API().ContainerCreate(t.Context(), &container.Config{Image: image, Cmd: []string{"sleep", "60"}}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.API().ContainerRemove(context.WithoutCancel(t.Context()), created.ID, container.RemoveOptions{Force: true}); err != nil {
			t.Error(err)
		}
	}()
	if err := e.API().ContainerStart(t.Context(), created.ID, container.StartOptions{}); err != nil {
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
	e := dockertest.Real(t)
	dir := t.TempDir()
	one := dockertest.MustBuild(t, e, docker.BuildRequest{Context: dir, Contents: "FROM busybox\nLABEL run=" + dockertest.Run + " a=1\n"})
	two := dockertest.MustBuild(t, e, docker.BuildRequest{Context: dir, Contents: "FROM busybox\nLABEL run=" + dockertest.Run + " a=2\n"})
	if one == two {
		t.Error("the changed Dockerfile was not seen")
	}
}

func TestEngineFailingCommand(t *testing.T) {
	e := dockertest.Real(t)
	_, err := e.Build(t.Context(), docker.BuildRequest{Dockerfile: "/src/Dockerfile", NoCache: true, Contents: `FROM busybox
ENV CODE=7 RUN=` + dockertest.Run + `
RUN echo before; \
    echo broken 1>&2; \
    exit $CODE
`})
	p, ok := problem.Of(err)
	if _, user := errors.AsType[*docker.UserError](err); !ok || !user {
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
	e := dockertest.Real(t)
	_, err := e.Build(t.Context(), docker.BuildRequest{Contents: "FROM localhost:5000/hone-test/no-such-base:1\n"})
	t.Log(problem.Text(err))
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, "no-such-base") || !strings.Contains(p.Detail, ":1") {
		t.Errorf("got %v", err)
	}
}

func TestEngineCancel(t *testing.T) {
	e := dockertest.Real(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var running logstore.Func = func(_ logstore.Level, text string) {
		if strings.Contains(text, "begun") {
			cancel()
		}
	}
	began := time.Now()
	_, err := e.Build(ctx, docker.BuildRequest{Contents: "FROM busybox\nENV RUN=" + dockertest.Run + "\nRUN echo begun; sleep 60\n", NoCache: true, Log: running})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("cancelling took %s", took)
	}
}

func TestEnginePush(t *testing.T) {
	e := dockertest.Real(t)
	ref := "localhost:5000/hone-test/push:" + dockertest.Run
	if err := e.Tag(t.Context(), "busybox", ref); err != nil {
		t.Fatal(err)
	}
	removeImage(t, e, ref)
	log := &dockertest.Recorder{}
	if err := e.Push(t.Context(), ref, log, nil); err != nil {
		t.Fatal(problem.Text(err))
	}
	if !strings.Contains(log.String(), "layer ") {
		t.Errorf("no progress:\n%s", log)
	}
	if err := e.Remove(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if err := e.Pull(t.Context(), ref, "linux/amd64", logstore.Discard); err != nil {
		t.Fatal(err)
	}
	im, found, err := e.Inspect(t.Context(), ref)
	if err != nil || !found {
		t.Errorf("after a pull: %v, %v", found, err)
	}
	info, err := e.Ping(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	repository, _, _ := strings.Cut(ref, ":"+dockertest.Run)
	if slices.Contains(im.Digests, repository+"@"+im.ID) != info.ManifestIDs {
		t.Errorf("ManifestIDs is %v, and the image %s has the digests %q", info.ManifestIDs, im.ID, im.Digests)
	}
	if err := e.Pull(t.Context(), "localhost:5000/hone-test-no-such-image:1", "", logstore.Discard); err == nil {
		t.Error("pulled what no registry has")
	}
	dead := "localhost:1/hone-test/push:" + dockertest.Run
	if err := e.Tag(t.Context(), "busybox", dead); err != nil {
		t.Fatal(err)
	}
	removeImage(t, e, dead)
	err = e.Push(t.Context(), dead, nil, nil)
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Mend, "localhost:1") {
		t.Errorf("dead registry: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	e, err := docker.New(docker.Endpoint{Host: "unix://" + filepath.Join(t.TempDir(), "none.sock")})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Ping(t.Context())
	p, ok := problem.Of(err)
	if !ok || !docker.IsUnreachable(err) || !strings.Contains(p.Mend, "start the engine") {
		t.Errorf("ping: %v", err)
	}
	_, err = e.Build(t.Context(), docker.BuildRequest{Contents: "FROM scratch"})
	if _, user := errors.AsType[*docker.UserError](err); user || !docker.IsUnreachable(err) {
		t.Errorf("build: %v", err)
	}
	if err := e.Push(t.Context(), "localhost:5000/a:1", nil, nil); !docker.IsUnreachable(err) {
		t.Errorf("push: %v", err)
	}
}
