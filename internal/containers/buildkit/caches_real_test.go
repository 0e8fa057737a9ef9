package buildkit_test

import (
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// cachedSteps is a build whose steps take their time: two in the last stage, and one in another stage, which only mode=max keeps.
var cachedSteps = docker.BuildRequest{Contents: `FROM busybox AS made
RUN echo ` + dockertest.Run + ` made >/made
FROM busybox
COPY --from=made /made /made
RUN echo ` + dockertest.Run + ` last >/last
`}

// ran builds, and returns the log.
func ran(t *testing.T, b dockertest.Builder, req docker.BuildRequest) string {
	t.Helper()
	log := &dockertest.Recorder{}
	req.Log = log
	dockertest.MustBuild(t, b, req)
	t.Log(log)
	return log.String()
}

// cached reports whether a step was taken from a cache.
func cached(log, step string) bool {
	for line := range strings.Lines(log) {
		if strings.Contains(line, step) && strings.HasSuffix(line, "[cached]\n") {
			return true
		}
	}
	return false
}

func cache(kind string, attrs ...string) []model.BuildCache {
	out := model.BuildCache{Type: kind, Attrs: map[string]string{}}
	for i := 0; i < len(attrs); i += 2 {
		out.Attrs[attrs[i]] = attrs[i+1]
	}
	return []model.BuildCache{out}
}

// TestCaches: a daemon that has never built anything takes the steps from the cache that another daemon has written, to a folder of this
// machine, to a registry, and into an image.
func TestCaches(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	first := connect(t, buildkit.Address{URL: "unix://" + buildkittest.Start(t).Socket})
	buildkittest.Busybox(t)
	folder := filepath.Join(t.TempDir(), "a cache, with=signs")
	tests := map[string]struct {
		to, from []model.BuildCache
		output   *docker.Output
		max      bool
	}{
		"folder":   {to: cache(model.CacheLocal, "dest", folder, "mode", "max"), from: cache(model.CacheLocal, "src", folder), max: true},
		"registry": {to: cache(model.CacheRegistry, "ref", host+"/cache:max", "mode", "max"), from: cache(model.CacheRegistry, "ref", host+"/cache:max"), max: true},
		"inline":   {to: cache(model.CacheInline), output: &docker.Output{Repository: host + "/app"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			req := cachedSteps
			req.CacheTo, req.Output = tt.to, tt.output
			digest := dockertest.MustBuild(t, first, req)
			if tt.from == nil {
				tt.from = cache(model.CacheRegistry, "ref", host+"/app@"+digest)
			}
			empty := connect(t, buildkit.Address{URL: "unix://" + buildkittest.Start(t).Socket})
			req = cachedSteps
			req.CacheFrom, req.Target = tt.from, "made"
			if said := ran(t, empty, req); tt.max && !cached(said, "RUN echo "+dockertest.Run+" made") {
				t.Error("the step of another stage ran again")
			}
			req.Target = ""
			if !cached(ran(t, empty, req), "RUN echo "+dockertest.Run+" last") {
				t.Error("the last step ran again")
			}
		})
	}
	t.Run("engine", func(t *testing.T) { testEngineReads(t, folder) })
	t.Run("other folders", func(t *testing.T) { testCacheFolders(t, first) })
	t.Run("without a cache", func(t *testing.T) { testNoCache(t, first, host) })
}

// testEngineReads: the engine reads a cache in a folder of this machine, too. An engine of another version than the daemon's has other names
// for the same steps, so they may run again; but the content of the folder is noticed.
func testEngineReads(t *testing.T, folder string) {
	engine := dockertest.Real(t)
	req := cachedSteps
	req.CacheFrom = cache(model.CacheLocal, "src", folder)
	if said := ran(t, engine, req); strings.Contains(said, "not used") {
		t.Error("the cache is not read")
	}
	blobs, err := filepath.Glob(filepath.Join(folder, "blobs/sha256/*"))
	if err != nil || len(blobs) == 0 {
		t.Fatalf("no blobs: %v", err)
	}
	for _, blob := range blobs {
		if err := errors.Join(os.Remove(blob), os.WriteFile(blob, []byte("broken"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	req.Contents += "LABEL broken=1\n"
	if said := ran(t, engine, req); !strings.Contains(said, "The cache in cache_from type=local is not used: ") {
		t.Error("a broken cache is not noticed")
	}
}

// testCacheFolders: a folder that somebody removes is written again; one that is no cache is not read, and one that cannot be written is a
// problem.
func testCacheFolders(t *testing.T, b *buildkit.Builder) {
	req := cachedSteps
	folder := filepath.Join(t.TempDir(), "cache")
	req.CacheTo = cache(model.CacheLocal, "dest", folder, "tag", "mine")
	for range 2 {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		dockertest.MustBuild(t, b, req)
		if index, err := os.ReadFile(filepath.Join(folder, "index.json")); err != nil || !strings.Contains(string(index), `"mine"`) {
			t.Fatalf("the index is %s, %v", index, err)
		}
	}
	req.CacheTo = nil
	for folder, want := range map[string]string{
		filepath.Join(folder, "none"): "There is no cache in",
		folder:                        "is not used: it has no tag latest",
	} {
		req.CacheFrom = cache(model.CacheLocal, "src", folder)
		if said := ran(t, b, req); !strings.Contains(said, want) {
			t.Errorf("the log of a build from %s lacks %q", folder, want)
		}
	}
	req.CacheFrom, req.CacheTo = nil, cache(model.CacheLocal, "dest", filepath.Join(folder, "index.json"))
	_, err := b.Build(t.Context(), req)
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, "cannot write a cache to") {
		t.Errorf("a file in the place of the folder: %v", err)
	}
}

// testNoCache: a cache that a registry does not have yet fails no build, and is not blamed for another failure.
func testNoCache(t *testing.T, b *buildkit.Builder, host string) {
	req := cachedSteps
	req.CacheFrom = cache(model.CacheRegistry, "ref", host+"/none:yet")
	dockertest.MustBuild(t, b, req)
	req.Contents += "RUN exit 7\n"
	_, err := b.Build(t.Context(), req)
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, "exit code 7") {
		t.Errorf("got %v", err)
	}
}
