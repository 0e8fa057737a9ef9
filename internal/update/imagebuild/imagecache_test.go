package imagebuild

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/hone-dev/hone/pkg/model"
)

// newCachingMachine returns a machine that uses a registry only as an image cache.
func newCachingMachine(t *testing.T, host string, push bool) *machine {
	t.Helper()
	m := newMachine(t, host)
	m.request = func(r *Request) {
		r.Share, r.Registry, r.Cache = false, model.Registry{}, model.ImageCache{Registry: model.Registry{Host: host + "/cache"}, Push: push}
	}
	m.engine.OnPull = func(_ context.Context, ref string) (string, error) {
		parsed, err := name.ParseReference(ref)
		if err != nil {
			return "", err
		}
		im, err := remote.Image(parsed, remote.WithTransport(newRegistryClient().transport))
		if err != nil {
			return "", err
		}
		id, err := im.ConfigName()
		m.images[id.String()] = im
		return id.String(), err
	}
	return m
}

func (m *machine) asked(change func(*Request)) Request {
	req := Request{Target: model.ImageTarget{Ref: "api", Docker: &model.DockerBuild{Context: m.dir, Contents: "FROM " + m.from + "\nCOPY . .\n"}}, Logger: m.log}
	m.request(&req)
	change(&req)
	return req
}

// foresee returns the name of the image that the image cache has, without pulling it.
func (m *machine) foresee(t *testing.T, change func(*Request)) (cluster string, known bool) {
	t.Helper()
	pulls := len(m.images)
	p := m.build.Foresee(t.Context(), m.asked(change))
	if there := strings.HasPrefix(p.Digest, "sha256:") && strings.HasSuffix(p.Registry, "/cache"); there != p.Known {
		t.Errorf("the prospect is %+v", p)
	}
	if len(m.images) != pulls {
		t.Error("a forecast has pulled an image")
	}
	return p.Image.Cluster, p.Known
}

// cached builds an image without delivering it.
func (m *machine) cached(t *testing.T, change func(*Request)) model.ImageResult {
	t.Helper()
	result, err := m.build.Build(t.Context(), m.asked(change))
	if err != nil {
		t.Fatal(err)
	}
	m.build.pushes.all.Wait()
	return result
}

// TestImageCache builds on one machine, whose images only its engine has, and then on others with the same image cache.
func TestImageCache(t *testing.T) {
	none := func(*Request) {}
	for _, tc := range []struct {
		name   string
		pushes bool
		change func(*Request)
		builds int
		alone  bool
	}{
		{"the same", true, none, 0, false},
		{"the first machine does not push", false, none, 1, false},
		{"another argument", true, func(r *Request) { r.Target.Docker.Target = "x" }, 1, false},
		{"renewed", true, func(r *Request) { r.Renew = true }, 1, false},
		{"no cache", true, func(r *Request) { r.Cache = model.ImageCache{} }, 1, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(registry.New(registry.Logger(nopLog)))
			t.Cleanup(server.Close)
			host := strings.TrimPrefix(server.URL, "http://")
			if err := put(host+"/base:1", labelled(t, "base")); err != nil {
				t.Fatal(err)
			}
			one, two, three := newCachingMachine(t, host, tc.pushes), newCachingMachine(t, host, true), newCachingMachine(t, host, true)
			first := one.cached(t, none)
			foreseen, known := two.foresee(t, tc.change)
			second := two.cached(t, tc.change)
			if known != (tc.builds == 0) || known && foreseen != second.Cluster {
				t.Errorf("foreseen was %v, %s, built is %s", known, foreseen, second.Cluster)
			}
			if n := len(two.engine.Builds()); n != tc.builds {
				t.Errorf("%d builds, want %d:\n%s", n, tc.builds, two.log.String())
			}
			if same := first.Cluster == second.Cluster && first.ImageID == second.ImageID; same != (tc.builds == 0) {
				t.Errorf("the images are %+v and %+v", first, second)
			}
			im, found, err := two.engine.Inspect(t.Context(), second.Local)
			if err != nil || !found || !slices.Equal(im.Tags, []string{second.Local}) {
				t.Errorf("the engine has %v, %v: %v", im.Tags, found, err)
			}
			third := three.cached(t, func(r *Request) { tc.change(r); r.Renew = false })
			if same := third.Cluster == second.Cluster; same != !tc.alone {
				t.Errorf("the third machine has %s, the second one %s", third.Cluster, second.Cluster)
			}
		})
	}
}

// TestImageCacheFails builds while the image cache cannot be pushed to: it says so once.
func TestImageCacheFails(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(nopLog)))
	t.Cleanup(server.Close)
	m := newCachingMachine(t, strings.TrimPrefix(server.URL, "http://"), true)
	m.from = "scratch"
	m.engine.OnPush = func(context.Context, string) error { return errors.New("denied") }
	m.cached(t, func(*Request) {})
	m.cached(t, func(r *Request) { r.Renew = true })
	if n := strings.Count(m.log.String(), "the image cache is not used"); n != 1 {
		t.Errorf("it warns %d times:\n%s", n, m.log.String())
	}
}

// TestCloseIsBounded ends while a push does not.
func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, "registry.example.com")
		m.build.pushes.all.Go(func() { <-m.build.pushes.ctx.Done() })
		began := time.Now()
		m.build.Close()
		if took := time.Since(began); took != cacheWait {
			t.Errorf("it took %v", took)
		}
	})
}
