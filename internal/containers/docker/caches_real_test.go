package docker_test

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// withCaches is an engine whose builds all have caches.
type withCaches struct {
	*docker.Engine
	from, to []model.BuildCache
}

// Build implements dockertest.Builder.
func (e withCaches) Build(ctx context.Context, req docker.BuildRequest) (string, error) {
	req.CacheFrom, req.CacheTo = e.from, e.to
	return e.Engine.Build(ctx, req)
}

func folderCache(attr, folder string) []model.BuildCache {
	return []model.BuildCache{{Type: model.CacheLocal, Attrs: map[string]string{attr: folder}}}
}

// TestEngineBuildWithCache runs the tests of a builder with a cache in a folder, which the engine's own endpoint for builds does not take.
func TestEngineBuildWithCache(t *testing.T) {
	e := dockertest.Real(t)
	dockertest.Builds(t, withCaches{Engine: e, from: folderCache("src", filepath.Join(t.TempDir(), "none"))})
}

// TestEngineCaches: the image has the cache that is asked for in it, whichever way it is built; a cache that the engine does not have is left
// out, and named.
func TestEngineCaches(t *testing.T) {
	e := dockertest.Real(t)
	inline := []model.BuildCache{{Type: model.CacheInline}}
	none := folderCache("src", filepath.Join(t.TempDir(), "none"))
	for name, tt := range map[string]struct {
		from, to []model.BuildCache
		holds    bool
	}{
		"plain": {}, "endpoint": {to: inline, holds: true}, "control": {from: none, to: inline, holds: true},
	} {
		t.Run(name, func(t *testing.T) {
			id := dockertest.MustBuild(t, withCaches{e, tt.from, tt.to}, docker.BuildRequest{Contents: "FROM busybox\nRUN echo " + name + dockertest.Run + "\n"})
			archive, err := e.Save(t.Context(), []string{id})
			if err != nil {
				t.Fatal(err)
			}
			defer archive.Close()
			text, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			if holds := strings.Contains(string(text), "moby.buildkit.cache.v0"); holds != tt.holds {
				t.Errorf("the image holds a cache: %v", holds)
			}
		})
	}
	t.Run("missing", func(t *testing.T) { testEngineLacks(t, e) })
	t.Run("host-gateway", func(t *testing.T) {
		log := &dockertest.Recorder{}
		dockertest.MustBuild(t, withCaches{e, none, inline}, docker.BuildRequest{Contents: "FROM busybox\nRUN grep outside /etc/hosts && echo " + dockertest.Run + "\n",
			ExtraHosts: []string{"outside:host-gateway"}, Log: warnings{log}})
		if got := log.String(); !strings.HasPrefix(got, "Building without cache_from type=local, which the engine in a build with host-gateway does not have") {
			t.Errorf("warned of %q", got)
		}
	})
}

// testEngineLacks: without containerd's image store, the engine writes no caches but inline ones.
func testEngineLacks(t *testing.T, e *docker.Engine) {
	info, err := e.Ping(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.ManifestIDs {
		t.Skip("this engine has containerd's image store")
	}
	for classic, want := range map[string]string{
		"":  "Building without cache_from type=gha, cache_to type=local, which the engine without containerd's image store does not have: use another builder (--builder",
		"0": "Building without cache_from type=local, cache_from type=gha, cache_to type=inline, cache_to type=local, which the engine's classic builder does not have",
	} {
		t.Setenv("DOCKER_BUILDKIT", classic)
		log := &dockertest.Recorder{}
		folder := filepath.Join(t.TempDir(), "written")
		b := withCaches{e, append(folderCache("src", folder), model.BuildCache{Type: model.CacheGHA, Attrs: map[string]string{"token": "hush-hush", "url": "http://none.test"}}),
			append([]model.BuildCache{{Type: model.CacheInline}}, folderCache("dest", folder)...)}
		dockertest.MustBuild(t, b, docker.BuildRequest{Contents: "FROM busybox\nLABEL lacks=" + dockertest.Run + "\n", Log: warnings{log}})
		if got := log.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("warned of %q, want %q", got, want)
		}
	}
}

// warnings passes on warnings only.
type warnings struct{ logstore.Logger }

// Write implements logstore.Logger.
func (w warnings) Write(level logstore.Level, text string) {
	if level == logstore.LevelWarn {
		w.Logger.Write(level, text)
	}
}

// Progress implements logstore.Logger.
func (warnings) Progress(string, string, bool) {}
