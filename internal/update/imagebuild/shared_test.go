package imagebuild

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// machine is an engine with a clone of a project on it.
type machine struct {
	engine *dockertest.Fake
	dir    string
	build  *Builder
	to     *Deliverer
	log    *recorder
	images map[string]v1.Image // by id
	share  bool
	from   string // the base image of the Dockerfile
	// request changes each request; nil changes none.
	request func(*Request)
}

// newMachine returns a machine whose builds all give other images, as builds that note the time do.
func newMachine(t *testing.T, host string) *machine {
	t.Helper()
	m := &machine{engine: dockertest.New(), dir: t.TempDir(), log: &recorder{}, images: map[string]v1.Image{}, share: true, from: host + "/base:1"}
	m.build, m.to = New(m.engine).Remember(memoryOf(m.dir)), NewDeliverer(m.engine)
	m.engine.OnBuild = func(context.Context, docker.BuildRequest) (string, error) {
		im := labelled(t, fmt.Sprint(m.dir, len(m.images)))
		id, err := im.ConfigName()
		m.images[id.String()] = im
		return id.String(), err
	}
	m.engine.OnPush = func(ctx context.Context, ref string) error {
		im, _, err := m.engine.Inspect(ctx, ref)
		if err != nil {
			return err
		}
		return put(ref, m.images[im.ID])
	}
	for path, text := range map[string]string{"main.go": "package main", "ignored/x": "", "token": "a"} {
		write(t, filepath.Join(m.dir, path), text)
	}
	return m
}

func labelled(t *testing.T, value string) v1.Image {
	t.Helper()
	im, err := mutate.Config(empty.Image, v1.Config{Labels: map[string]string{"made": value}})
	if err != nil {
		t.Fatal(err)
	}
	return im
}

func put(ref string, im v1.Image) error {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return err
	}
	return remote.Write(parsed, im, remote.WithTransport(newRegistryClient().transport))
}

// update builds and delivers an image, and the image that it is based on.
func (m *machine) update(t *testing.T, host string, change func(*model.DockerBuild)) (api model.ImageResult) {
	t.Helper()
	ctx, log := t.Context(), m.log
	ignores := []model.Ignore{{Base: m.dir, Patterns: []string{"ignored", "token"}}}
	spec := model.DockerBuild{Context: m.dir, Contents: "FROM runtime\nCOPY . .\n", BuildArgs: map[string]*string{"A": ptr("1")}, ContextIgnores: ignores,
		Secrets: []string{"id=token,src=" + m.dir + "/token"}}
	change(&spec)
	plan := Plan{Method: model.DeliverPush, Registry: model.Registry{Host: host}, Share: m.share}
	deps := map[string]model.ImageResult{}
	for _, target := range []model.ImageTarget{
		{Ref: "runtime", Docker: &model.DockerBuild{Contents: "FROM " + m.from + "\nRUN true\n"}},
		{Ref: "api", DependsOn: []string{"runtime"}, Docker: &spec},
	} {
		req := Request{Target: target, Deps: deps, Registry: plan.Registry, Platform: "linux/amd64", Share: plan.Share, Logger: log}
		if m.request != nil {
			m.request(&req)
		}
		result, err := m.build.Build(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.to.Deliver(ctx, plan, result, log, nil); err != nil {
			t.Fatal(err)
		}
		deps[target.Ref] = result
	}
	return deps["api"]
}

// TestShared builds an image on one machine, and updates a clone of the project on another one. What the first machine has built is not
// built again, unless its inputs differ.
func TestShared(t *testing.T) {
	none := func(*testing.T, *machine, *model.DockerBuild) {}
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, m *machine, spec *model.DockerBuild)
		builds int
	}{
		{"nothing", none, 0},
		{"the times of a file", func(t *testing.T, m *machine, _ *model.DockerBuild) {
			if err := os.Chtimes(filepath.Join(m.dir, "main.go"), time.Now(), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}, 0},
		{"an ignored file", func(t *testing.T, m *machine, _ *model.DockerBuild) {
			write(t, filepath.Join(m.dir, "ignored", "x"), "other")
		}, 0},
		{"the value of a secret", func(t *testing.T, m *machine, _ *model.DockerBuild) { write(t, filepath.Join(m.dir, "token"), "b") }, 0},
		{"the id of a secret", func(_ *testing.T, _ *machine, spec *model.DockerBuild) { spec.Secrets[0] = "id=other" }, 1},
		{"an agent", func(_ *testing.T, _ *machine, spec *model.DockerBuild) { spec.SSH = []string{"default"} }, 1},
		{"a file", func(t *testing.T, m *machine, _ *model.DockerBuild) {
			write(t, filepath.Join(m.dir, "main.go"), "package x")
		}, 1},
		{"the mode of a file", func(t *testing.T, m *machine, _ *model.DockerBuild) {
			if err := os.Chmod(filepath.Join(m.dir, "main.go"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"a link", func(t *testing.T, m *machine, _ *model.DockerBuild) {
			if err := os.Symlink("main.go", filepath.Join(m.dir, "link")); err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"an argument", func(_ *testing.T, _ *machine, spec *model.DockerBuild) { spec.BuildArgs["A"] = ptr("2") }, 1},
		{"the target", func(_ *testing.T, _ *machine, spec *model.DockerBuild) { spec.Target = "final" }, 1},
		{"the platform", func(_ *testing.T, _ *machine, spec *model.DockerBuild) { spec.Platform = "linux/arm64" }, 1},
		{"the Dockerfile", func(_ *testing.T, _ *machine, spec *model.DockerBuild) { spec.Contents += "USER 1\n" }, 1},
		{"what is ignored", func(_ *testing.T, _ *machine, spec *model.DockerBuild) {
			spec.ContextIgnores[0].Patterns = []string{"token"}
		}, 1},
		{"the network", func(_ *testing.T, _ *machine, spec *model.DockerBuild) { spec.Network = "host" }, 1},
		{"the base in its registry", func(t *testing.T, m *machine, _ *model.DockerBuild) {
			if err := put(m.from, labelled(t, "a newer base")); err != nil {
				t.Fatal(err)
			}
		}, 2},
		{"whether the engine has pulled the base", func(t *testing.T, m *machine, _ *model.DockerBuild) {
			m.pulled(t)
		}, 0},
		{"nothing, without sharing", func(_ *testing.T, m *machine, _ *model.DockerBuild) { m.share = false }, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(registry.New(registry.Logger(nopLog)))
			t.Cleanup(server.Close)
			host := strings.TrimPrefix(server.URL, "http://")
			if err := put(host+"/base:1", labelled(t, "base")); err != nil {
				t.Fatal(err)
			}
			one, two := newMachine(t, host), newMachine(t, host)
			first := one.update(t, host, func(*model.DockerBuild) {})
			second := two.update(t, host, func(spec *model.DockerBuild) { tc.change(t, two, spec) })
			if n := len(two.engine.Builds()); n != tc.builds {
				t.Errorf("%d builds, want %d:\n%s", n, tc.builds, two.log.String())
			}
			if same := first.Cluster == second.Cluster; same != (tc.builds == 0) {
				t.Errorf("the images are %s and %s", first.Cluster, second.Cluster)
			}
			if len(one.engine.Builds()) != 2 {
				t.Errorf("the first machine has built %d images", len(one.engine.Builds()))
			}
		})
	}
}

// pulled gives the engine the base image from its registry.
func (m *machine) pulled(t *testing.T) {
	t.Helper()
	digest, err := newRegistryClient().digest(t.Context(), m.from)
	if err != nil {
		t.Fatal(err)
	}
	place, _, _ := strings.Cut(m.from, "/base:1")
	m.engine.AddImage(m.from)
	m.engine.SetDigests(m.from, "other@sha256:1", place+"/base@"+digest)
}

// TestSharedRenewed builds on one machine, and again without a cache on another one, whose image replaces the first one: a third machine
// takes that.
func TestSharedRenewed(t *testing.T) {
	for _, tc := range []struct {
		name  string
		renew func(*Request)
	}{
		{"forced", func(r *Request) { r.Renew = true }},
		{"without a cache", func(r *Request) { r.NoCache = true }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(registry.New(registry.Logger(nopLog)))
			t.Cleanup(server.Close)
			host := strings.TrimPrefix(server.URL, "http://")
			if err := put(host+"/base:1", labelled(t, "base")); err != nil {
				t.Fatal(err)
			}
			one, two, three := newMachine(t, host), newMachine(t, host), newMachine(t, host)
			two.request = tc.renew
			same := func(*model.DockerBuild) {}
			first, second, third := one.update(t, host, same), two.update(t, host, same), three.update(t, host, same)
			if second.Cluster == first.Cluster || third.Cluster != second.Cluster {
				t.Errorf("the images are %s, %s and %s", first.Cluster, second.Cluster, third.Cluster)
			}
			if n := len(three.engine.Builds()); n != 0 {
				t.Errorf("the third machine has built %d images", n)
			}
		})
	}
}

// TestSharedRecalled builds an image on one machine whose base image an earlier session there has built and knows: another machine finds
// both, as if one session had built them.
func TestSharedRecalled(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(nopLog)))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	if err := put(host+"/base:1", labelled(t, "base")); err != nil {
		t.Fatal(err)
	}
	one, two := newMachine(t, host), newMachine(t, host)
	one.update(t, host, func(*model.DockerBuild) {})
	one.request = func(r *Request) { r.MayLack = func(files []string) bool { return len(files) == 0 } }
	change := func(spec *model.DockerBuild) { spec.BuildArgs["A"] = ptr("2") }
	first, second := one.update(t, host, change), two.update(t, host, change)
	if n := len(one.engine.Builds()); n != 3 {
		t.Errorf("the first machine has built %d images", n)
	}
	if n := len(two.engine.Builds()); n != 0 || first.Cluster != second.Cluster {
		t.Errorf("the second machine has built %d images; the images are %s and %s", n, first.Cluster, second.Cluster)
	}
}

// silent is a registry that never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// TestSharedWithSilentRegistry begins a session while the registry does not answer: each of the images is built, after one wait.
func TestSharedWithSilentRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, "registry.example.com")
		m.build.registry.transport.network = silent{}
		began := time.Now()
		for _, ref := range []string{"web", "api"} {
			target := model.ImageTarget{Ref: ref, Docker: &model.DockerBuild{Context: m.dir, Contents: "FROM scratch\nCOPY . .\n"}}
			result, err := m.build.Build(t.Context(), Request{Target: target, Registry: model.Registry{Host: "registry.example.com"}, Share: true, Logger: m.log})
			if err != nil || result.Key != "" {
				t.Errorf("%+v, %v", result, err)
			}
		}
		if took := time.Since(began); took != headTime {
			t.Errorf("it took %v", took)
		}
		if n := len(m.engine.Builds()); n != 2 {
			t.Errorf("%d builds", n)
		}
	})
}

// command updates an image that a command builds, and returns it and whether the command has run.
func (m *machine) command(t *testing.T, host string, change func(*model.ImageTarget)) (result model.ImageResult, ran bool) {
	t.Helper()
	m.build.now = func() time.Time { return time.Unix(1, 0) }
	_, err := m.engine.Build(t.Context(), docker.BuildRequest{Contents: "FROM scratch", Tags: []string{host + "/api:hone-build-1"}}) // in place of the command
	if err != nil {
		t.Fatal(err)
	}
	target := model.ImageTarget{Ref: "api", Watch: model.WatchSpec{Paths: []string{m.dir + "/main.go", m.dir + "/ignored"},
		Ignores: []model.Ignore{{Base: m.dir, Patterns: []string{"ignored/x"}}}},
		Custom: &model.CustomBuild{DepsComplete: true, Command: model.Cmd{Argv: []string{"sh", "-c", "echo run > token"}, Dir: m.dir, Env: []string{"A=1"}}}}
	change(&target)
	plan := Delivery{}.Choose(model.Cluster{}, docker.Info{}, model.Registry{Host: host}, target)
	result, err = m.build.Build(t.Context(), Request{Target: target, Registry: plan.Registry, Share: plan.Share, Logger: m.log})
	if err == nil {
		err = m.to.Deliver(t.Context(), plan, result, m.log, nil)
	}
	token, failed := os.ReadFile(filepath.Join(m.dir, "token"))
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	return result, string(token) == "run\n"
}

// TestSharedCommand runs a command on one machine whose image depends only on declared inputs, and updates a clone on another machine.
func TestSharedCommand(t *testing.T) {
	none := func(*testing.T, *machine, *model.ImageTarget) {}
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, m *machine, target *model.ImageTarget)
		builds bool
	}{
		{"nothing", none, false},
		{"an ignored file", func(t *testing.T, m *machine, _ *model.ImageTarget) { write(t, m.dir+"/ignored/x", "other") }, false},
		{"another file", func(t *testing.T, m *machine, _ *model.ImageTarget) { write(t, m.dir+"/README", "other") }, false},
		{"a file", func(t *testing.T, m *machine, _ *model.ImageTarget) { write(t, m.dir+"/main.go", "other") }, true},
		{"the command", func(_ *testing.T, _ *machine, target *model.ImageTarget) { target.Custom.Command.Argv[2] += "; true" }, true},
		{"the environment", func(_ *testing.T, _ *machine, target *model.ImageTarget) { target.Custom.Command.Env[0] = "A=2" }, true},
		{"nothing, and more inputs than it declares", func(_ *testing.T, _ *machine, target *model.ImageTarget) { target.Custom.DepsComplete = false }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(registry.New(registry.Logger(nopLog)))
			t.Cleanup(server.Close)
			host := strings.TrimPrefix(server.URL, "http://")
			one, two := newMachine(t, host), newMachine(t, host)
			first, ran := one.command(t, host, func(*model.ImageTarget) {})
			if !ran {
				t.Error("the first machine has built nothing")
			}
			second, ran := two.command(t, host, func(target *model.ImageTarget) { tc.change(t, two, target) })
			if ran != tc.builds || (first.Cluster == second.Cluster) == tc.builds {
				t.Errorf("it builds: %v; the images are %s and %s\n%s", ran, first.Cluster, second.Cluster, two.log.String())
			}
		})
	}
}

// TestSharedWithoutRegistry updates a project while the registry of its base image answers no question: it builds, and says why it
// cannot share, once.
func TestSharedWithoutRegistry(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusInternalServerError} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			var asked atomic.Int32
			deaf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.WriteHeader(status)
			}))
			t.Cleanup(deaf.Close)
			server := httptest.NewServer(registry.New(registry.Logger(nopLog)))
			t.Cleanup(server.Close)
			host := strings.TrimPrefix(server.URL, "http://")
			m := newMachine(t, strings.TrimPrefix(deaf.URL, "http://"))
			m.update(t, host, func(*model.DockerBuild) {})
			before := asked.Load()
			m.update(t, host, func(spec *model.DockerBuild) { spec.BuildArgs["A"] = ptr("2") })
			if answers := status == http.StatusNotFound; before == 0 || (asked.Load() > before) != answers {
				t.Errorf("%d requests, then %d", before, asked.Load()-before)
			}
			if n := len(m.engine.Builds()); n == 0 {
				t.Error("nothing was built")
			}
			if n := strings.Count(m.log.String(), "Images are not shared"); n != 1 {
				t.Errorf("it says %d times that images are not shared:\n%s", n, m.log.String())
			}
		})
	}
}
