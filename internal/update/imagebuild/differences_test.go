package imagebuild

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestWhy builds an image, changes something, and asks why the next build would give another image. Times alone are no reason.
func TestWhy(t *testing.T) {
	type change func(t *testing.T, dir string, req *Request, engine *dockertest.Fake)
	file := func(name, text string) change {
		return func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake) {
			write(t, filepath.Join(dir, name), text)
		}
	}
	all := func(changes ...change) change {
		return func(t *testing.T, dir string, req *Request, engine *dockertest.Fake) {
			for _, c := range changes {
				c(t, dir, req, engine)
			}
		}
	}
	spec := func(f func(*model.DockerBuild)) change {
		return func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake) { f(req.Target.Docker) }
	}
	touched := func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake) {
		if err := os.Chtimes(filepath.Join(dir, "main.go"), time.Now(), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name   string
		change change
		want   string
	}{
		{"a file", all(touched, file("cmd/run.go", "other")), "cmd/run.go changed"},
		{"files", all(file("main.go", "other"), file("cmd/run.go", "other"), file("new.go", "")), "cmd/run.go and 2 other files changed"},
		{"a new file", file("new.go", ""), "new.go is new"},
		{"new files", all(file("new.go", ""), file("other/new.go", "")), "new.go and 1 other file are new"},
		{"a file is gone", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake) {
			remove(t, filepath.Join(dir, "main.go"))
		}, "main.go is gone"},
		{"a mode", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake) {
			if err := os.Chmod(filepath.Join(dir, "main.go"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "main.go changed"},
		{"a link", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake) { remove(t, filepath.Join(dir, "link")) }, "link link is gone"},
		{"a folder", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake) {
			if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "folder empty is new"},
		{"the Dockerfile in the context", all(file("Dockerfile", "FROM base:2\n"), spec(func(d *model.DockerBuild) { d.Contents = "FROM base:2\n" })), "its Dockerfile changed"},
		{"an argument", spec(func(d *model.DockerBuild) { d.BuildArgs["VERSION"] = ptr("2") }), "argument VERSION changed"},
		{"arguments", spec(func(d *model.DockerBuild) { d.BuildArgs["A"], d.BuildArgs["B"] = ptr("2"), ptr("2") }), "argument A and 1 other argument are new"},
		{"the value of a secret", spec(func(d *model.DockerBuild) { d.Secrets = []string{"id=npm,src=other"} }), ""},
		{"a secret", spec(func(d *model.DockerBuild) { d.Secrets = nil }), "secret npm is gone"},
		{"an agent", spec(func(d *model.DockerBuild) { d.SSH = []string{"default"} }), "SSH agent default is new"},
		{"a target", spec(func(d *model.DockerBuild) { d.Target = "test" }), "its target changed"},
		{"a platform", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake) { req.Platform = "linux/arm64" }, "its platform changed"},
		{"a base", func(t *testing.T, _ string, _ *Request, engine *dockertest.Fake) {
			if err := engine.Tag(t.Context(), "base:2", "base:1"); err != nil {
				t.Fatal(err)
			}
		}, "base base:1 has a new digest"},
		{"a base that is built", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake) {
			req.Deps["tools"] = model.ImageResult{Local: "tools:hone-2"}
		}, "image tools changed"},
		{"a base that will be built", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake) { delete(req.Deps, "tools") }, "image tools changed"},
		{"the registry", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake) { req.Registry = localRegistry }, "its registry changed"},
		{"a build for another cluster's registry", func(t *testing.T, dir string, req *Request, engine *dockertest.Fake) {
			other := *req
			other.Registry = localRegistry
			if _, err := New(engine).Remember(memoryOf(dir)).Build(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "main.go"), "other")
		}, "main.go changed"},
		{"much", all(file("main.go", "other"), spec(func(d *model.DockerBuild) {
			d.BuildArgs["VERSION"], d.Target, d.Network, d.Contents = ptr("2"), "x", "host", d.Contents+"RUN true\n"
		})), "its Dockerfile changed, argument VERSION changed, its target changed, and more"},
		{"the image is gone", func(_ *testing.T, dir string, req *Request, engine *dockertest.Fake) {
			last, _ := memoryOf(dir).lastList(*req)
			engine.RemoveImage(last.Local)
		}, "its last image is gone"},
		{"from scratch", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake) { req.NoCache = true }, "it is built from scratch"},
		{"pull", spec(func(d *model.DockerBuild) { d.Pull = true }), "pull=True, so its base may be another one"},
		{"another image", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake) { req.Target.Ref = "other" }, "never built on this machine"},
		{"a build that failed", func(t *testing.T, dir string, req *Request, engine *dockertest.Fake) {
			write(t, filepath.Join(dir, "main.go"), "other")
			engine.OnBuild = func(context.Context, docker.BuildRequest) (string, error) { return "", errors.New("no") }
			if _, err := New(engine).Remember(memoryOf(dir)).Build(t.Context(), *req); err == nil {
				t.Fatal("the build did not fail")
			}
		}, "main.go changed"},
		{"too many files", func(t *testing.T, dir string, req *Request, _ *dockertest.Fake) {
			m := memoryOf(dir)
			last, _ := m.lastList(*req)
			last.Listing = listing{Cut: true}
			raw, err := json.Marshal(last)
			if err != nil {
				t.Fatal(err)
			}
			write(t, m.listPath(*req), string(raw))
			write(t, filepath.Join(dir, "main.go"), "other")
		}, "its files may have changed: there are too many to compare each"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"main.go": "package main", "cmd/run.go": "package cmd", "Dockerfile": "FROM base:1\n"} {
				write(t, filepath.Join(dir, name), text)
			}
			if err := os.Symlink("main.go", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			b, engine := newTestBuilder(t)
			b.Remember(memoryOf(dir))
			for _, ref := range []string{"base:1", "base:2", "tools:hone-1", "tools:hone-2"} {
				engine.AddImage(ref)
			}
			req := Request{Platform: "linux/amd64", Deps: map[string]model.ImageResult{"tools": {Local: "tools:hone-1"}},
				Target: model.ImageTarget{Ref: "api", DependsOn: []string{"tools"}, Docker: &model.DockerBuild{Context: dir, Dockerfile: filepath.Join(dir, "Dockerfile"),
					Contents: "FROM base:1\n", BuildArgs: map[string]*string{"VERSION": ptr("a secret value")}, Secrets: []string{"id=npm,src=npmrc"}}}}
			if _, err := b.Build(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if raw, err := os.ReadFile(b.memory.listPath(req)); err != nil || strings.Contains(string(raw), "a secret value") {
				t.Fatalf("%v: the list is %s", err, raw)
			}
			tc.change(t, dir, &req, engine)
			p := New(engine).Remember(memoryOf(dir)).Foresee(t.Context(), req) // another process
			if got := p.Reason(); got != tc.want || p.Known != (tc.want == "") {
				t.Errorf("%q of %+v, want %q", got, p, tc.want)
			}
		})
	}
}
