package imagebuild

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestInputs builds an image, changes something, and asks whether the image of the same inputs is known.
func TestInputs(t *testing.T) {
	t.Setenv("FROM_OUTSIDE", "1")
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, dir string, req *Request, engine *dockertest.Fake, first model.ImageResult)
		known  bool
	}{
		{"nothing", func(*testing.T, string, *Request, *dockertest.Fake, model.ImageResult) {}, true},
		{"the times of a file", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			if err := os.Chtimes(filepath.Join(dir, "main.go"), time.Now(), time.Now()); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"an ignored file", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			write(t, filepath.Join(dir, "ignored", "x"), "other")
		}, true},
		{"a file", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			write(t, filepath.Join(dir, "main.go"), "package x")
		}, false},
		{"the mode of a file", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			if err := os.Chmod(filepath.Join(dir, "main.go"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a new file", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			write(t, filepath.Join(dir, "new.go"), "")
		}, false},
		{"a file is gone", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			if err := os.Remove(filepath.Join(dir, "main.go")); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"where a link points", func(t *testing.T, dir string, _ *Request, _ *dockertest.Fake, _ model.ImageResult) {
			if err := errors.Join(os.Remove(filepath.Join(dir, "link")), os.Symlink("nowhere", filepath.Join(dir, "link"))); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"an argument", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			forEach(req, func(d *model.DockerBuild) { d.BuildArgs["A"] = ptr("2") }, func(c *model.CustomBuild) { c.Command.Env = []string{"A=2"} })
		}, false},
		{"what is run", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			forEach(req, func(d *model.DockerBuild) { d.Contents += "RUN true\n" }, func(c *model.CustomBuild) { c.Command.Argv[1] = "b" })
		}, false},
		{"where a word ends", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			forEach(req, func(d *model.DockerBuild) { d.Contents += "#\n" }, func(c *model.CustomBuild) { c.Command.Argv = []string{"build a"} })
		}, false},
		{"where its caches are", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			forEach(req, func(d *model.DockerBuild) {
				d.CacheFrom = []model.BuildCache{{Type: model.CacheGHA}}
				d.CacheTo = []model.BuildCache{{Type: model.CacheLocal, Attrs: map[string]string{"dest": "/tmp/cache"}}}
			}, func(*model.CustomBuild) {})
		}, true},
		{"a cache in the image", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			forEach(req, func(d *model.DockerBuild) { d.CacheTo = []model.BuildCache{{Type: model.CacheInline}} },
				func(c *model.CustomBuild) { c.Tag = "other" })
		}, false},
		{"the registry", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			req.Registry = localRegistry
		}, false},
		{"the base image of another build", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			req.Deps["base"] = model.ImageResult{Local: "base:hone-2"}
		}, false},
		{"its base is not built", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			delete(req.Deps, "base")
		}, false},
		{"no cache", func(_ *testing.T, _ string, req *Request, _ *dockertest.Fake, _ model.ImageResult) {
			req.NoCache = true
		}, false},
		{"the image is gone", func(_ *testing.T, _ string, _ *Request, engine *dockertest.Fake, first model.ImageResult) {
			engine.RemoveImage(first.Local)
		}, false},
	} {
		for kind, target := range map[string]func(dir string) model.ImageTarget{
			"docker_build": func(dir string) model.ImageTarget {
				return model.ImageTarget{Ref: "api", DependsOn: []string{"base"}, Docker: &model.DockerBuild{Context: dir, Contents: "FROM base\n",
					BuildArgs: map[string]*string{"A": ptr("1"), "FROM_OUTSIDE": nil}, ContextIgnores: []model.Ignore{{Base: dir, Patterns: []string{"ignored"}}}}}
			},
			"custom_build": func(dir string) model.ImageTarget {
				return model.ImageTarget{Ref: "api", DependsOn: []string{"base"}, Custom: &model.CustomBuild{Command: model.Cmd{Argv: []string{"true", "a"}}, Tag: "made"},
					Watch: model.WatchSpec{Paths: []string{dir}, Ignores: []model.Ignore{{Base: dir, Patterns: []string{"ignored"}}}}}
			},
		} {
			t.Run(kind+"/"+tc.name, func(t *testing.T) {
				dir, memory := t.TempDir(), NewMemory(t.TempDir())
				write(t, filepath.Join(dir, "main.go"), "package main")
				write(t, filepath.Join(dir, "ignored", "x"), "")
				if err := os.Symlink("main.go", filepath.Join(dir, "link")); err != nil {
					t.Fatal(err)
				}
				b, engine := newTestBuilder(t)
				for _, ref := range []string{"base:hone-1", "base:hone-2", "api:made"} {
					engine.AddImage(ref)
				}
				req := Request{Target: target(dir), Deps: map[string]model.ImageResult{"base": {Local: "base:hone-1"}}}
				if b.Foresee(t.Context(), req).Known {
					t.Error("without a memory it is known")
				}
				b.Remember(memory)
				first, err := b.Build(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				tc.change(t, dir, &req, engine, first)
				again := New(engine).Remember(memory) // another process
				if p := again.Foresee(t.Context(), req); p.Known != tc.known || p.Known && (p.Image.Cluster != first.Cluster || p.Image.ImageID != first.ImageID) {
					t.Errorf("%+v, want %v of %+v", p, tc.known, first)
				}
				if last, ok := again.Last(target(dir)); !ok || last.Cluster != first.Cluster {
					t.Errorf("the last one is %+v", last)
				}
				if other, ok := again.Last(target(dir + "/of/another/project")); ok && kind == "docker_build" {
					t.Errorf("another project has built %+v", other)
				}
			})
		}
	}
}

func forEach(req *Request, change func(*model.DockerBuild), command func(*model.CustomBuild)) {
	if req.Target.Docker != nil {
		change(req.Target.Docker)
	} else {
		command(req.Target.Custom)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestInputsThatChangeMeanwhile saves a file while an image is built: then the content of the image is unknown.
func TestInputsThatChangeMeanwhile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), "package main")
	b, engine := newTestBuilder(t)
	b.Remember(NewMemory(t.TempDir()))
	req := Request{Target: model.ImageTarget{Ref: "api", Docker: &model.DockerBuild{Context: dir, Contents: "FROM scratch\nCOPY . .\n"}}}
	engine.OnBuild = func(context.Context, docker.BuildRequest) (string, error) {
		write(t, filepath.Join(dir, "main.go"), "package next")
		return "sha256:0123456789abcdef0123456789abcdef", nil
	}
	if _, err := b.Build(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if p := b.Foresee(t.Context(), req); p.Known {
		t.Errorf("it is known as %+v", p.Image)
	}
}

// TestReuse builds the same inputs twice: the known image is used again, unless it is to be renewed.
func TestReuse(t *testing.T) {
	b, engine := newTestBuilder(t)
	b.Remember(NewMemory(t.TempDir()))
	req := Request{Target: model.ImageTarget{Ref: "api", Docker: &model.DockerBuild{Contents: "FROM scratch\n", ExtraTags: []string{"api:extra"}}}}
	begun := 0
	req.OnBuild = func() { begun++ }
	first, err := b.Build(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Remove(t.Context(), "api:extra"); err != nil {
		t.Fatal(err)
	}
	again, err := b.Build(t.Context(), req)
	if err != nil || again.Cluster != first.Cluster || len(engine.Builds()) != 1 || begun != 1 {
		t.Errorf("%+v, %v after %d builds, want %+v after one", again, err, len(engine.Builds()), first)
	}
	if _, found, err := engine.Inspect(t.Context(), "api:extra"); !found || err != nil {
		t.Errorf("it lacks its other tag: %v", err)
	}
	req.Renew = true
	if _, err := b.Build(t.Context(), req); err != nil || len(engine.Builds()) != 2 {
		t.Errorf("%v after %d builds, want two", err, len(engine.Builds()))
	}
	other := req
	docker := *req.Target.Docker
	docker.Contents = "FROM scratch\nUSER 1\n"
	other.Target.Docker = &docker
	for _, r := range []Request{other, req} { // the second one takes the first image again
		if again, err = b.Build(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if last, ok := b.Last(req.Target); !ok || last.Cluster != again.Cluster {
		t.Errorf("the last one is %+v, want %+v", last, again)
	}
}

// TestReadsOnce builds an image again and again, each time as another process. A file is read only if it may have been written to since
// the last build, and once for each build.
func TestReadsOnce(t *testing.T) {
	dir, memory, reads := t.TempDir(), NewMemory(t.TempDir()), map[string]int{}
	write(t, filepath.Join(dir, "main.go"), "package main")
	write(t, filepath.Join(dir, "doc.go"), "package main")
	engine := dockertest.New()
	req := Request{Share: true, Registry: model.Registry{Host: "127.0.0.1:1"}, // where no registry answers
		Target: model.ImageTarget{Ref: "api", Docker: &model.DockerBuild{Context: dir, Contents: "FROM scratch\nCOPY . .\n"}}}
	later := time.Hour // all files are old
	build := func(builds int, want map[string]int) {
		t.Helper()
		clear(reads)
		b := New(engine).Remember(memory)
		b.now = func() time.Time { return time.Now().Add(later) }
		var mu sync.Mutex
		b.read = func(path string) (uint64, error) {
			mu.Lock()
			defer mu.Unlock()
			reads[filepath.Base(path)]++
			return sumContent(path)
		}
		if _, err := b.Build(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, reads); diff != "" || len(engine.Builds()) != builds {
			t.Errorf("%d builds, want %d; the files were read (-want +got):\n%s", len(engine.Builds()), builds, diff)
		}
		if len(b.files) > 0 {
			t.Errorf("it still has the files of %v", b.files)
		}
	}
	build(1, map[string]int{"main.go": 1, "doc.go": 1})
	build(1, map[string]int{})
	edited := filepath.Join(dir, "main.go")
	before, err := os.Stat(edited)
	if err != nil {
		t.Fatal(err)
	}
	write(t, edited, "package next") // as long as before, and with the same time
	if err := os.Chtimes(edited, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	build(2, map[string]int{"main.go": 1})
	build(2, map[string]int{})
	later = -time.Hour // the files are so young that the next write may leave their times as they are
	req.Share = false
	build(2, map[string]int{"main.go": 1, "doc.go": 1})
}

// TestBaseInRegistry builds an image again and again, each time as another process. The engine lacks its base, whose registry is asked for the
// digest.
func TestBaseInRegistry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(nopLog)))
	t.Cleanup(server.Close)
	base := strings.TrimPrefix(server.URL, "http://") + "/base:1"
	is := func(content string) func() {
		return func() {
			if err := put(base, labelled(t, content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	engine, memory := dockertest.New(), NewMemory(t.TempDir())
	engine.OnBuild = func(context.Context, docker.BuildRequest) (string, error) {
		return "sha256:0123456789abcdef0123456789abcdef", nil
	}
	req := Request{Target: model.ImageTarget{Ref: "api", Docker: &model.DockerBuild{Contents: "FROM " + base + "\n"}}}
	for _, then := range []struct {
		name   string
		do     func()
		builds int // in all
	}{
		{"the first build", is("one"), 1},
		{"the same base", is("one"), 1},
		{"another base", is("two"), 2},
		{"no answer", server.Close, 2},
	} {
		then.do()
		if _, err := New(engine).Remember(memory).Build(t.Context(), req); err != nil || len(engine.Builds()) != then.builds {
			t.Errorf("%s: %v after %d builds, want %d", then.name, err, len(engine.Builds()), then.builds)
		}
	}
}

// TestStill looks for an image of an earlier build where the engine may have lost it.
func TestStill(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(nopLog)))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	const id = "sha256:0123456789abcdef0123456789abcdef"
	tag, err := ContentTag(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		image string
		to    Plan
		lost  bool
		still bool
	}{
		{"in the engine", "api:" + tag, Plan{Method: model.DeliverShared, Base: true}, false, true},
		{"in no place", "api:" + tag, Plan{Method: model.DeliverShared}, true, false},
		{"in a registry", host + "/api:" + tag, Plan{Method: model.DeliverRegistry}, true, true},
		{"in the registry that others use", host + "/api:" + tag, Plan{Method: model.DeliverPush}, true, true},
		{"in a registry under a name of the user's", host + "/api:mine", Plan{Method: model.DeliverRegistry}, true, false},
		{"in a registry, and the engine needs it", host + "/api:" + tag, Plan{Method: model.DeliverRegistry, Base: true}, true, false},
		{"in no registry", host + "/other:" + tag, Plan{Method: model.DeliverRegistry}, true, false},
		{"in no node", "api:" + tag, Plan{Method: model.DeliverContainerd, Socket: t.TempDir() + "/none"}, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, engine := newTestBuilder(t)
			if strings.HasPrefix(tc.image, host+"/api") {
				if err := put(tc.image, labelled(t, "")); err != nil {
					t.Fatal(err)
				}
			}
			prior := model.ImageResult{Local: tc.image, Cluster: tc.image, ImageID: id}
			if !tc.lost {
				engine.AddImage(tc.image)
				im, _, err := engine.Inspect(t.Context(), tc.image)
				if err != nil {
					t.Fatal(err)
				}
				prior.ImageID = im.ID
			}
			now, ok := b.still(t.Context(), prior, tc.to)
			if ok != tc.still || ok && (now.ImageID == "") != tc.lost {
				t.Errorf("%+v, %v", now, ok)
			}
		})
	}
}
