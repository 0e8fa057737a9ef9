package dockertest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

func testBuild(t *testing.T, b Builder) {
	req := docker.BuildRequest{
		Context:  WriteTree(t, map[string]string{"a.txt": "one"}),
		Contents: "FROM busybox\nLABEL run=" + Run + "\nCOPY a.txt /a.txt\n",
	}
	log := &Recorder{}
	req.Log = log
	var begun, all int
	req.OnStep = func(now, of int) {
		if now < begun || now > of || of < all {
			t.Errorf("steps: %d of %d, then %d of %d", begun, all, now, of)
		}
		begun, all = now, of
	}
	first := MustBuild(t, b, req)
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
	if again := MustBuild(t, b, req); again != first {
		t.Errorf("an unchanged image got another id: %s, %s", first, again)
	}
	req.Context = WriteTree(t, map[string]string{"a.txt": "two"})
	if changed := MustBuild(t, b, req); changed == first {
		t.Error("a changed image kept its id")
	}
	changed := docker.BuildRequest{Contents: "FROM busybox\nARG X\nLABEL x=1 run=" + Run + "\n", BuildArgs: map[string]*string{"X": new("1")}}
	if MustBuild(t, b, changed) == first {
		t.Error("another Dockerfile gave the same image")
	}
}

// MustBuild builds an image. An engine has it until the end of the test.
func MustBuild(t *testing.T, b Builder, req docker.BuildRequest) string {
	t.Helper()
	id, err := b.Build(t.Context(), req)
	if err != nil {
		t.Fatalf("build: %s", problem.Text(err))
	}
	engine, keeps := b.(docker.Client)
	if !keeps {
		return id
	}
	t.Cleanup(func() { _ = engine.Remove(context.WithoutCancel(t.Context()), id) }) // another test may have built the same
	if _, found, err := engine.Inspect(t.Context(), id); err != nil || !found {
		t.Fatalf("the built image is not in the engine: %v", err)
	}
	return id
}

func testBuildErrors(t *testing.T, b Builder) {
	dir := WriteTree(t, map[string]string{"there.txt": "x", "secret.txt": "x"})
	ignore := []model.Ignore{{Base: dir, Patterns: []string{"secret.txt"}, Source: ".dockerignore"}}
	tests := []struct {
		name    string
		req     docker.BuildRequest
		summary string
		detail  string
		mend    string
	}{
		{"no dockerfile", docker.BuildRequest{Dockerfile: filepath.Join(dir, "Nope")}, "does not exist", "", "create it"},
		{"no context", docker.BuildRequest{Context: filepath.Join(dir, "nope"), Contents: "FROM scratch"}, "does not exist", "", "create the folder"},
		{"syntax", docker.BuildRequest{Context: dir, Contents: "FROM busybox\nCOPPY a b\n"}, "the Dockerfile has an error", "> ", "correct"},
		{"missing file", docker.BuildRequest{Context: dir, Contents: "FROM busybox\nCOPY there.txt /\nCOPY nope.txt /\n"},
			"nope.txt is not in the build context", "COPY nope.txt", "create it"},
		{"ignored file", docker.BuildRequest{Context: dir, Ignores: ignore, Contents: "FROM busybox\nCOPY secret.txt /\n"},
			"secret.txt exists but is ignored", "COPY secret.txt", "!secret.txt"},
		{"failing command", docker.BuildRequest{Context: dir, Contents: "FROM busybox\nENV RUN=" + Run + "\nRUN exit 3\n"}, "exit code 3", "> ", ""},
		{"missing stage", docker.BuildRequest{Context: dir, Target: "prod", Contents: "FROM busybox AS dev\n"}, `no stage "prod"`, "", "target"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := b.Build(t.Context(), tt.req)
			if _, user := errors.AsType[*docker.UserError](err); !user {
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

func testBuildCancelled(t *testing.T, b Builder) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Build(ctx, docker.BuildRequest{Contents: "FROM busybox"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func testIgnores(t *testing.T, b Builder) {
	build := func(files map[string]string) string {
		dir := WriteTree(t, files)
		return MustBuild(t, b, docker.BuildRequest{Context: dir, Contents: "FROM scratch\nLABEL run=" + Run + "\nCOPY . /\n",
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
	if _, fake := b.(*Fake); fake && plain != noisy {
		t.Error("ignored files made a difference")
	}
	if plain == other {
		t.Error("a file that is not ignored made no difference")
	}
}
