package imagebuild

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestFetch fetches each base that is missing once, and leaves no image of it.
func TestFetch(t *testing.T) {
	engine := dockertest.New()
	engine.Fail("Build", errors.New("no such image"))
	b := NewBases(engine)
	target := model.ImageTarget{Ref: "api", DependsOn: []string{"ours"}, Docker: &model.DockerBuild{
		Contents: "FROM golang AS build\nFROM ours\nFROM alpine\nFROM busybox\nCOPY --from=build / /\n"}}
	for range 2 {
		b.Fetch(t.Context(), target, "linux/arm64")
	}
	b.Fetch(t.Context(), model.ImageTarget{Ref: "custom", Custom: &model.CustomBuild{}}, "")
	var built []string
	for _, req := range engine.Builds() {
		built = append(built, strings.TrimSpace(req.Contents)+" "+req.Platform)
	}
	if diff := cmp.Diff([]string{"FROM alpine linux/arm64"}, built); diff != "" { // the build of golang has failed
		t.Errorf("-want +got:\n%s", diff)
	}
	if left, err := engine.Images(t.Context(), fetchedLabel); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}

// TestRealFetch counts the requests for the layer of a base that the engine has never seen: it comes before the build, and once, also
// for a build that begins meanwhile.
func TestRealFetch(t *testing.T) {
	engine := realEngine(t)
	to, err := url.Parse("http://localhost:5000")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var layer string
	gets, begun := 0, make(chan struct{})
	proxy := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if r.Method == http.MethodGet && layer != "" && strings.HasSuffix(r.URL.Path, layer) {
			if gets++; gets == 1 {
				close(begun)
			}
		}
		mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	for _, meanwhile := range []bool{false, true} {
		base := strings.TrimPrefix(server.URL, "http://") + "/hone-test/base-" + uuid.NewString()[:8] + ":1"
		im, err := random.Image(20<<20, 1)
		if err != nil {
			t.Fatal(err)
		}
		layers, err := im.Layers()
		if err != nil {
			t.Fatal(err)
		}
		digest, err := layers[0].Digest()
		if err != nil {
			t.Fatal(err)
		}
		ref, err := name.ParseReference(base, name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(ref, im); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		layer, gets, begun = digest.String(), 0, make(chan struct{})
		started := begun
		mu.Unlock()
		target := model.ImageTarget{Ref: "hone-test-fetch", Docker: &model.DockerBuild{Contents: "FROM " + base + "\nLABEL a=b\n"}}
		fetched := make(chan struct{})
		go func() {
			defer close(fetched)
			NewBases(engine).Fetch(t.Context(), target, "")
		}()
		<-started // before the build
		if !meanwhile {
			<-fetched
		}
		result, err := New(engine).Build(t.Context(), Request{Target: target})
		if err != nil {
			t.Fatal(problem.Text(err))
		}
		removeImage(t, engine, result)
		<-fetched
		mu.Lock()
		if gets != 1 {
			t.Errorf("the layer was asked for %d times", gets)
		}
		mu.Unlock()
		if left, err := engine.Images(t.Context(), fetchedLabel); err != nil || len(left) > 0 {
			t.Errorf("left: %+v, %v", left, err)
		}
	}
}
