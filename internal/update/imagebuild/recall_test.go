package imagebuild

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRecall builds an image, changes something, and asks another process for the last image. It lacks the changed files, unless
// something else has changed.
func TestRecall(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, dir string, req *Request, engine *dockertest.Fake, first model.ImageResult)
		lacks  []string
		gone   bool
	}{
		{name: "nothing"},
		{name: "ignored", change: func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			write(t, filepath.Join(dir, "ignored", "y"), "")
		}},
		{name: "files", lacks: []string{"gone", "main.go", "new"}, change: func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			write(t, filepath.Join(dir, "main.go"), "package next")
			write(t, filepath.Join(dir, "new"), "")
			remove(t, filepath.Join(dir, "gone"))
		}},
		{name: "a folder", gone: true, change: func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			write(t, filepath.Join(dir, "more", "x"), "")
		}},
		{name: "a link", gone: true, change: func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			remove(t, filepath.Join(dir, "link"))
		}},
		{name: "the Dockerfile", gone: true, change: func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			req.Target.Docker.Contents += "USER 1\n"
		}},
		{name: "the registry", gone: true, change: func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			req.Registry.Host = "elsewhere:5000"
		}},
		{name: "the image was removed", gone: true, change: func(t *testing.T, _ string, _ *Request, engine *dockertest.Fake, first model.ImageResult) {
			if err := engine.Remove(t.Context(), first.Local); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "from scratch", gone: true, change: func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			req.NoCache = true
		}},
		{name: "the files need an image", gone: true, change: func(t *testing.T, dir string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			write(t, filepath.Join(dir, "main.go"), "package next")
			req.MayLack = func(files []string) bool { return len(files) == 0 }
		}},
		{name: "a later build failed", gone: true, change: func(t *testing.T, dir string, req *Request, engine *dockertest.Fake, _ model.ImageResult) {
			write(t, filepath.Join(dir, "main.go"), "package next")
			other := *req
			other.MayLack = nil
			engine.OnBuild = func(context.Context, docker.BuildRequest) (string, error) { return "", errors.New("no") }
			if _, err := New(engine).Remember(memoryOf(dir)).Build(t.Context(), other); err == nil {
				t.Fatal("the build did not fail")
			}
			engine.OnBuild = nil
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "main.go"), "package main")
			write(t, filepath.Join(dir, "gone"), "")
			write(t, filepath.Join(dir, "ignored", "x"), "")
			if err := os.Symlink("main.go", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			b, engine := newTestBuilder(t)
			b.Remember(memoryOf(dir))
			ignores := []model.Ignore{{Base: dir, Patterns: []string{"ignored"}}}
			req := Request{Target: model.ImageTarget{Ref: "api", Docker: &model.DockerBuild{Context: dir, Contents: "FROM scratch\nCOPY . .\n", ContextIgnores: ignores}}}
			first, err := b.Build(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			req.MayLack = func([]string) bool { return true }
			if tc.change != nil {
				tc.change(t, dir, &req, engine, first)
			}
			again := New(engine).Remember(memoryOf(dir)) // another process
			last, ok := again.recalled(t.Context(), req)
			if ok == tc.gone {
				t.Fatalf("recalled: %v", ok)
			}
			if tc.gone {
				return
			}
			var lacks []string
			for _, f := range slices.Sorted(maps.Keys(last.Lacks)) {
				lacks = append(lacks, filepath.Base(f))
				if !last.Lacks[f].After(last.StartedAt) {
					t.Errorf("%s is from before the build", f)
				}
			}
			if diff := cmp.Diff(tc.lacks, lacks); diff != "" || last.Cluster != first.Cluster || last.ImageID != first.ImageID {
				t.Errorf("%+v lacks (-want +got):\n%s", last, diff)
			}
			if built, err := again.Build(t.Context(), req); err != nil || built.Cluster != first.Cluster || len(engine.Builds()) != 1 {
				t.Errorf("%+v, %v after %d builds", built, err, len(engine.Builds()))
			}
			if p := again.Foresee(t.Context(), req); !p.Known || p.Image.Cluster != first.Cluster {
				t.Errorf("a preview expects %+v", p)
			}
		})
	}
}

// memoryOf returns the memory of a project. The folder beside the project's outlives it.
func memoryOf(dir string) *Memory { return NewMemory(dir + ".memory") }

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
