package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// subject is an engine under test. Its engine has the image "busybox".
type subject struct {
	client Client
	// container starts a long-running container with the labels, and returns its id.
	container func(t *testing.T, labels map[string]string) string
	// writes starts a container that writes a short line and a line of 20,000 letters to each of its two streams, and
	// ends with code 3.
	writes func(t *testing.T) string
	// started returns a value that changes when the container is restarted.
	started func(t *testing.T, id string) string
}

// run distinguishes the images of this test run from images of other runs, with which the engine would share steps.
var run = uuid.NewString()[:8]

// testConformance checks the contract of Client.
func testConformance(t *testing.T, s subject) {
	for name, test := range map[string]func(*testing.T, subject){
		"ping": testPing, "build": testBuild, "build errors": testBuildErrors, "build cancelled": testBuildCancelled,
		"ignores": testIgnores, "images": testImages, "remove": testRemove, "save": testSave, "load": testLoad, "programs": testPrograms, "push": testPushUnknown,
		"containers": testContainers, "exec": testExec, "exec errors": testExecErrors, "terminal": testTerminal, "copy": testCopy, "restart": testRestart,
		"container states": testContainerStates, "watch containers": testWatchContainers, "logs": testLogs,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// writeTree writes files below a new folder and returns it.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// recorder is a Logger that keeps everything.
type recorder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *recorder) Write(_ logstore.Level, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.WriteString(text)
}

func (r *recorder) Progress(_, text string, done bool) {
	if done {
		r.Write(logstore.LevelInfo, text+"\n")
	}
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func testPing(t *testing.T, s subject) {
	info, err := s.client.Ping(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.Version == "" || info.APIVersion == "" || info.OS != "linux" || info.Arch == "" || info.Host == "" || !info.BuildKit {
		t.Errorf("incomplete: %+v", info)
	}
}

func testBuild(t *testing.T, s subject) {
	req := BuildRequest{
		Context:  writeTree(t, map[string]string{"a.txt": "one"}),
		Contents: "FROM busybox\nLABEL run=" + run + "\nCOPY a.txt /a.txt\n",
	}
	log := &recorder{}
	req.Log = log
	var begun, all int
	req.OnStep = func(b, a int) {
		if b < begun || b > a || a < all {
			t.Errorf("steps: %d of %d, then %d of %d", begun, all, b, a)
		}
		begun, all = b, a
	}
	first := mustBuild(t, s.client, req)
	if all < 2 || begun != all {
		t.Errorf("%d of %d steps of the Dockerfile had begun in the end", begun, all)
	}
	req.OnStep = nil
	if !strings.HasPrefix(first, "sha256:") || len(first) != len("sha256:")+64 {
		t.Errorf("id %q is no content id", first)
	}
	if !strings.Contains(log.String(), "COPY a.txt /a.txt") {
		t.Errorf("the log does not tell the step:\n%s", log)
	}
	if again := mustBuild(t, s.client, req); again != first {
		t.Errorf("an unchanged image got another id: %s, %s", first, again)
	}
	req.Context = writeTree(t, map[string]string{"a.txt": "two"})
	if changed := mustBuild(t, s.client, req); changed == first {
		t.Error("a changed image kept its id")
	}
	changed := BuildRequest{Contents: "FROM busybox\nARG X\nLABEL x=1 run=" + run + "\n", BuildArgs: map[string]*string{"X": ptr("1")}}
	if mustBuild(t, s.client, changed) == first {
		t.Error("another Dockerfile gave the same image")
	}
}

func ptr[T any](v T) *T { return &v }

func mustBuild(t *testing.T, c Client, req BuildRequest) string {
	t.Helper()
	id, err := c.Build(t.Context(), req)
	if err != nil {
		t.Fatalf("build: %s", problem.Text(err))
	}
	t.Cleanup(func() { _ = c.Remove(context.WithoutCancel(t.Context()), id) }) // another test may have built the same
	if _, found, err := c.Inspect(t.Context(), id); err != nil || !found {
		t.Fatalf("the built image is not in the engine: %v", err)
	}
	return id
}

func testBuildErrors(t *testing.T, s subject) {
	dir := writeTree(t, map[string]string{"there.txt": "x", "secret.txt": "x"})
	ignore := []model.Ignore{{Base: dir, Patterns: []string{"secret.txt"}, Source: ".dockerignore"}}
	tests := []struct {
		name    string
		req     BuildRequest
		summary string
		detail  string
		mend    string
	}{
		{"no dockerfile", BuildRequest{Dockerfile: filepath.Join(dir, "Nope")}, "does not exist", "", "create it"},
		{"no context", BuildRequest{Context: filepath.Join(dir, "nope"), Contents: "FROM scratch"}, "does not exist", "", "create the folder"},
		{"syntax", BuildRequest{Context: dir, Contents: "FROM busybox\nCOPPY a b\n"}, "the Dockerfile has an error", "> ", "correct"},
		{"missing file", BuildRequest{Context: dir, Contents: "FROM busybox\nCOPY there.txt /\nCOPY nope.txt /\n"},
			"nope.txt is not in the build context", "COPY nope.txt", "create it"},
		{"ignored file", BuildRequest{Context: dir, Ignores: ignore, Contents: "FROM busybox\nCOPY secret.txt /\n"},
			"secret.txt exists but is ignored", "COPY secret.txt", "!secret.txt"},
		{"failing command", BuildRequest{Context: dir, Contents: "FROM busybox\nENV RUN=" + run + "\nRUN exit 3\n"}, "exit code 3", "> ", ""},
		{"missing stage", BuildRequest{Context: dir, Target: "prod", Contents: "FROM busybox AS dev\n"}, `no stage "prod"`, "", "target"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.client.Build(t.Context(), tt.req)
			if !IsUserError(err) {
				t.Fatalf("want a user error, got %v", err)
			}
			p, ok := problem.Of(err)
			if !ok {
				t.Fatalf("want a problem, got %v", err)
			}
			t.Log(problem.Text(err))
			if !strings.Contains(p.Summary, tt.summary) || !strings.Contains(p.Output+"\n\n"+p.Detail, tt.detail) || !strings.Contains(p.Mend, tt.mend) {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func testBuildCancelled(t *testing.T, s subject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.client.Build(ctx, BuildRequest{Contents: "FROM busybox"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func testIgnores(t *testing.T, s subject) {
	build := func(files map[string]string) string {
		dir := writeTree(t, files)
		return mustBuild(t, s.client, BuildRequest{Context: dir, Contents: "FROM scratch\nLABEL run=" + run + "\nCOPY . /\n",
			Ignores: []model.Ignore{
				{Base: dir, Patterns: []string{"**", "!src", "!lib"}, Source: "only="},
				{Base: dir, Patterns: []string{"**/*.md", "lib/tmp"}, Source: "ignore="},
				{Base: filepath.Join(dir, "src"), Patterns: []string{"gen"}, Source: "ignore="},
				{Base: filepath.Dir(dir), Patterns: []string{"*/src/skip.txt"}, Source: ".tiltignore"},
			}})
	}
	plain := build(map[string]string{"src/a.txt": "a"})
	noisy := build(map[string]string{"src/a.txt": "a", "src/b.md": "x", "lib/tmp/x": "x", "top.txt": "x",
		"src/gen/z.txt": "x", "src/skip.txt": "x"})
	other := build(map[string]string{"src/a.txt": "a", "src/c.txt": "c"})
	// Folders with only ignored files stay as empty folders, so plain and noisy are compared only on the fake.
	if _, fake := s.client.(*Fake); fake && plain != noisy {
		t.Error("ignored files made a difference")
	}
	if plain == other {
		t.Error("a file that is not ignored made no difference")
	}
}

func testImages(t *testing.T, s subject) {
	id := mustBuild(t, s.client, BuildRequest{Contents: "FROM scratch\nLABEL test=images-" + run + "\n", Tags: []string{"hone-test-images:a-" + run}})
	if err := s.client.Tag(t.Context(), id, "hone-test-images:b-"+run); err != nil {
		t.Fatal(err)
	}
	im, found, err := s.client.Inspect(t.Context(), "hone-test-images:b-"+run)
	if err != nil || !found || im.ID != id {
		t.Fatalf("got %+v, %v, %v", im, found, err)
	}
	for _, want := range []string{"hone-test-images:a-" + run, "hone-test-images:b-" + run} {
		if !strings.Contains(strings.Join(im.Tags, " "), want) {
			t.Errorf("tags %v lack %s", im.Tags, want)
		}
	}
	if im.OS != "linux" || im.Arch == "" {
		t.Errorf("platform %s/%s", im.OS, im.Arch)
	}
	if _, found, err := s.client.Inspect(t.Context(), "hone-test-no-such-image"); found || err != nil {
		t.Errorf("unknown image: %v, %v", found, err)
	}
	if err := s.client.Tag(t.Context(), "hone-test-no-such-image", "hone-test-images:c"); !IsNotFound(err) {
		t.Errorf("tag of unknown image: %v", err)
	}
}

func testRemove(t *testing.T, s subject) {
	label := "dev.hone.test." + run + "." + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "."))
	before := time.Now().Add(-time.Minute)
	id := mustBuild(t, s.client, BuildRequest{Contents: "FROM scratch\nLABEL test=remove-" + run + "\n",
		Labels: map[string]string{label: "x"}, Tags: []string{"hone-test-remove:a-" + run, "hone-test-remove:b-" + run}})
	got, err := s.client.Images(t.Context(), label)
	if err != nil || len(got) != 1 || got[0].ID != id || got[0].Labels[label] != "x" || got[0].TaggedAt.Before(before) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if err := s.client.Remove(t.Context(), "hone-test-remove:a-"+run); err != nil {
		t.Fatal(err)
	}
	if im, found, err := s.client.Inspect(t.Context(), id); err != nil || !found || !cmp.Equal(im.Tags, []string{"hone-test-remove:b-" + run}) {
		t.Errorf("after one: %+v, %v, %v", im, found, err)
	}
	if err := s.client.Remove(t.Context(), "hone-test-remove:b-"+run); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.client.Inspect(t.Context(), id); found || err != nil {
		t.Errorf("after both: %v, %v", found, err)
	}
	if err := s.client.Remove(t.Context(), "hone-test-remove:a-"+run); !IsNotFound(err) {
		t.Errorf("what is gone: %v", err)
	}
}

func testSave(t *testing.T, s subject) {
	rc, err := s.client.Save(t.Context(), []string{"busybox:latest"})
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	var manifest []struct{ RepoTags []string }
	r := tar.NewReader(rc)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name == "manifest.json" {
			if err := json.NewDecoder(r).Decode(&manifest); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(manifest) != 1 || !cmp.Equal(manifest[0].RepoTags, []string{"busybox:latest"}) {
		t.Errorf("manifest %+v", manifest)
	}
}

// testLoad saves an image, removes it and loads it again.
func testLoad(t *testing.T, s subject) {
	tag := "hone-test-load:a-" + run
	id := mustBuild(t, s.client, BuildRequest{Context: writeTree(t, map[string]string{"a": "x"}), Tags: []string{tag},
		Contents: "FROM scratch\nLABEL test=load-" + run + "\nCOPY a /a\n"})
	rc, err := s.client.Save(t.Context(), []string{tag})
	if err != nil {
		t.Fatal(err)
	}
	archive, err := io.ReadAll(rc)
	if err = errors.Join(err, rc.Close()); err != nil {
		t.Fatal(err)
	}
	if err := s.client.Remove(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	if err := s.client.Load(t.Context(), bytes.NewReader(archive)); err != nil {
		t.Fatal(err)
	}
	if im, found, err := s.client.Inspect(t.Context(), tag); err != nil || !found || im.ID != id {
		t.Errorf("got %+v, %v, %v", im, found, err)
	}
	if err := s.client.Load(t.Context(), strings.NewReader("no archive")); err == nil {
		t.Error("loaded what is no archive")
	}
}

func testPrograms(t *testing.T, s subject) {
	dir := writeTree(t, map[string]string{"data": "x"})
	paths := []string{"/bin/sh", "/bin/tar", "/usr/bin/nope", "/data", "/bin", "/nowhere/at/all"}
	for _, tt := range []struct {
		contents string
		want     []string
	}{
		{"FROM busybox\nLABEL test=programs-" + run + "\nCOPY data /data\n", []string{"/bin/sh", "/bin/tar"}},
		{"FROM scratch\nLABEL test=programs-" + run + "\nCOPY data /data\n", nil},
	} {
		id := mustBuild(t, s.client, BuildRequest{Context: dir, Contents: tt.contents})
		got, err := s.client.Programs(t.Context(), id, paths)
		if err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%q: got %q, %v", tt.contents, got, err)
		}
	}
	if _, err := s.client.Programs(t.Context(), "hone-test-no-such-image", paths); !IsNotFound(err) {
		t.Errorf("unknown image: %v", err)
	}
}

func testPushUnknown(t *testing.T, s subject) {
	if err := s.client.Push(t.Context(), "localhost:5000/hone-test-no-such-image:1", nil, nil); err == nil {
		t.Error("pushed what does not exist")
	}
}

func testContainers(t *testing.T, s subject) {
	label := map[string]string{"hone-test": t.Name() + run}
	id := s.container(t, label)
	got, err := s.client.Containers(t.Context(), label)
	if err != nil || len(got) != 1 || got[0].ID != id || got[0].Name == "" || got[0].Labels["hone-test"] != t.Name()+run {
		t.Errorf("got %+v, %v", got, err)
	}
	none, err := s.client.Containers(t.Context(), map[string]string{"hone-test": "nobody"})
	if err != nil || len(none) != 0 {
		t.Errorf("got %+v, %v", none, err)
	}
}

func testExec(t *testing.T, s subject) {
	id := s.container(t, nil)
	var out bytes.Buffer
	if err := s.client.ContainerExec(t.Context(), id, []string{"echo", "hello"}, nil, &out); err != nil || out.String() != "hello\n" {
		t.Errorf("echo: %q, %v", out.String(), err)
	}
	out.Reset()
	big := strings.Repeat("0123456789abcdef", 1<<14)
	if err := s.client.ContainerExec(t.Context(), id, []string{"cat"}, strings.NewReader(big), &out); err != nil || out.String() != big {
		t.Errorf("cat: %d bytes of %d, %v", out.Len(), len(big), err)
	}
	if err := s.client.ContainerExec(t.Context(), id, []string{"true"}, nil, nil); err != nil {
		t.Errorf("true: %v", err)
	}
	r, w := io.Pipe() // a stdin without an end
	defer w.Close()
	if err := s.client.ContainerExec(t.Context(), id, []string{"true"}, r, nil); err != nil {
		t.Errorf("true with open stdin: %v", err)
	}
}

func testExecErrors(t *testing.T, s subject) {
	id := s.container(t, nil)
	var exit *ExitError
	if err := s.client.ContainerExec(t.Context(), id, []string{"sh", "-c", "exit 42"}, nil, nil); !errors.As(err, &exit) || exit.Code != 42 {
		t.Errorf("exit 42: %v", err)
	}
	if err := s.client.ContainerExec(t.Context(), "0123456789abcdef", []string{"true"}, nil, nil); !IsNotFound(err) {
		t.Errorf("no container: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.client.ContainerExec(ctx, id, []string{"true"}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func testTerminal(t *testing.T, s subject) {
	id := s.container(t, nil)
	var out bytes.Buffer
	if err := s.client.ExecTerminal(t.Context(), id, []string{"echo", "hello"}, Terminal{Out: &out}); err != nil || out.String() != "hello\r\n" {
		t.Errorf("echo: %q, %v", out.String(), err)
	}
	r, w := io.Pipe() // a stdin without an end
	defer w.Close()
	var exit *ExitError
	if err := s.client.ExecTerminal(t.Context(), id, []string{"sh", "-c", "exit 42"}, Terminal{In: r, Out: io.Discard}); !errors.As(err, &exit) || exit.Code != 42 {
		t.Errorf("exit 42: %v", err)
	}
	out.Reset()
	if err := s.client.ExecTerminal(t.Context(), id, []string{"no-such-program"}, Terminal{Out: &out}); !errors.As(err, &exit) ||
		exit.Code != 126 && exit.Code != 127 || !strings.Contains(out.String(), "no-such-program") {
		t.Errorf("a missing program: %q, %v", out.String(), err)
	}
	if err := s.client.ExecTerminal(t.Context(), "0123456789abcdef", []string{"true"}, Terminal{Out: io.Discard}); !IsNotFound(err) {
		t.Errorf("no container: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.client.ExecTerminal(ctx, id, []string{"true"}, Terminal{Out: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func testCopy(t *testing.T, s subject) {
	id := s.container(t, nil)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	text := "copied"
	if err := w.WriteHeader(&tar.Header{Name: "hone.txt", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.client.CopyTo(t.Context(), id, "/tmp", bytes.NewReader(archive.Bytes())); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.client.ContainerExec(t.Context(), id, []string{"cat", "/tmp/hone.txt"}, nil, &out); err != nil || out.String() != text {
		t.Errorf("cat: %q, %v", out.String(), err)
	}
	if changes, err := s.client.ContainerChanges(t.Context(), id); err != nil || !slices.Contains(changes, "/tmp/hone.txt") {
		t.Errorf("changes: %v, %v", changes, err)
	}
	if changes, err := s.client.ContainerChanges(t.Context(), s.container(t, nil)); err != nil || len(changes) > 0 {
		t.Errorf("changes of a container that is as its image: %v, %v", changes, err)
	}
	for p, want := range map[string]byte{"/tmp/hone.txt": tar.TypeReg, "/tmp": tar.TypeDir} {
		if h, err := s.client.Entry(t.Context(), id, p); err != nil || h == nil || h.Typeflag != want {
			t.Errorf("%s: %+v, %v", p, h, err)
		}
	}
	if h, err := s.client.Entry(t.Context(), id, "/tmp/none"); err != nil || h != nil {
		t.Errorf("no file: %+v, %v", h, err)
	}
	if err := s.client.CopyTo(t.Context(), "0123456789abcdef", "/tmp", &archive); !IsNotFound(err) {
		t.Errorf("no container: %v", err)
	}
}

func testRestart(t *testing.T, s subject) {
	id := s.container(t, nil)
	for _, gently := range []bool{false, true} {
		before := s.started(t, id)
		if err := s.client.RestartContainer(t.Context(), id, gently); err != nil {
			t.Fatal(err)
		}
		if s.started(t, id) == before {
			t.Errorf("the container was not restarted (gently: %t)", gently)
		}
	}
	if err := s.client.RestartContainer(t.Context(), "0123456789abcdef", true); !IsNotFound(err) {
		t.Errorf("no container: %v", err)
	}
}

// testContainerStates checks running containers and a stopped one, and removes one.
func testContainerStates(t *testing.T, s subject) {
	label := "hone-test-" + uuid.NewString()
	labels := map[string]string{label: "yes"}
	id := s.container(t, labels)
	find := func(labels map[string]string) []ContainerState {
		t.Helper()
		list, err := s.client.ContainerStates(t.Context(), labels)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, value := range []string{"yes", ""} {
		list := find(map[string]string{label: value})
		if len(list) != 1 || list[0].ID != id || list[0].Image != "busybox" || list[0].Labels[label] != "yes" || !list[0].Running() {
			t.Errorf("label %q: %+v", value, list)
		}
	}
	if list := find(map[string]string{label: "no"}); len(list) > 0 {
		t.Errorf("another label: %+v", list)
	}
	if s.writes == nil {
		return
	}
	id = s.writes(t)
	deadline := time.Now().Add(30 * time.Second)
	for {
		var state ContainerState
		for _, c := range find(nil) {
			if c.ID == id {
				state = c
			}
		}
		if state.Status == "exited" {
			if state.ExitCode != 3 || state.StartedAt.IsZero() || state.FinishedAt.IsZero() || state.Running() {
				t.Errorf("a container that has ended: %+v", state)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the container has not ended: %+v", state)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := s.client.RemoveContainer(t.Context(), id); err != nil {
		t.Error(err)
	}
	if err := s.client.RemoveContainer(t.Context(), id); !IsNotFound(err) {
		t.Errorf("remove it again: %v", err)
	}
}

// testWatchContainers watches a new container and a restarted one.
func testWatchContainers(t *testing.T, s subject) {
	label := "hone-test-" + uuid.NewString()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changed, ended := make(chan struct{}, 1000), make(chan error, 1)
	go func() { ended <- s.client.WatchContainers(ctx, label, func() { changed <- struct{}{} }) }()
	next := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(30 * time.Second):
			t.Fatalf("not told of %s", what)
		}
	}
	next("the beginning")
	id := s.container(t, map[string]string{label: "yes"})
	next("a container")
	for len(changed) > 0 {
		<-changed
	}
	if err := s.client.RestartContainer(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	next("its restart")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the end: %v", err)
	}
}

// testLogs reads the log of a container: whole lines with their times, from both streams.
func testLogs(t *testing.T, s subject) {
	if _, err := s.client.ContainerLogs(t.Context(), "hone-no-such-container", time.Time{}, false); !IsNotFound(err) {
		t.Errorf("a container that does not exist: %v", err)
	}
	id := s.writes(t)
	body, err := s.client.ContainerLogs(t.Context(), id, time.Time{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body) // until the container ends
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	var last time.Time
	for line := range strings.Lines(string(data)) {
		stamp, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err != nil {
			t.Fatalf("line %.100q: %v", line, err)
		}
		got[text]++
		if at.After(last) {
			last = at
		}
	}
	long := strings.Repeat("x", 20_000)
	if want := map[string]int{"out": 1, "err": 1, "o" + long: 1, "e" + long: 1}; !cmp.Equal(got, want) {
		t.Errorf("%d lines: %.300v", len(got), got)
	}
	body, err = s.client.ContainerLogs(t.Context(), id, last.Add(time.Second), false)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if rest, err := io.ReadAll(body); err != nil || len(rest) > 0 {
		t.Errorf("after the end there is %.100q, %v", rest, err)
	}
}
