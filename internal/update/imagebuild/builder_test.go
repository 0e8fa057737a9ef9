package imagebuild

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

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

// newTestBuilder returns a builder of a fake engine whose clock stands still.
func newTestBuilder(t *testing.T) (*Builder, *dockertest.Fake) {
	t.Helper()
	engine := dockertest.New()
	b := New(engine)
	b.now = func() time.Time { return time.Unix(1700000000, 0) }
	return b, engine
}

var localRegistry = model.Registry{Host: "localhost:5000", HostFromCluster: "registry:5000"}

func TestDockerBuild(t *testing.T) {
	t.Setenv("DOCKER_DEFAULT_PLATFORM", "")
	b, engine := newTestBuilder(t)
	target := model.ImageTarget{Ref: "shop/api", Docker: &model.DockerBuild{
		Contents: "FROM base\nRUN make\n", ExtraTags: []string{"shop/api:latest"}, BuildArgs: map[string]*string{"A": ptr("1")},
	}}
	engine.AddImage("localhost:5000/base:hone-1")
	req := Request{Target: target, Registry: localRegistry, Platform: "linux/amd64",
		Deps: map[string]model.ImageResult{"base": {Local: "localhost:5000/base:hone-1"}}}
	first, err := b.Build(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := ContentTag(first.ImageID)
	if err != nil {
		t.Fatal(err)
	}
	want := model.ImageResult{Local: "localhost:5000/shop_api:" + tag, Cluster: "registry:5000/shop_api:" + tag,
		ImageID: first.ImageID, StartedAt: time.Unix(1700000000, 0)}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if again, err := b.Build(t.Context(), req); err != nil || !cmp.Equal(again, first) {
		t.Errorf("an unchanged image got another reference: %+v, %v", again, err)
	}
	sent := engine.Builds()[0]
	if sent.Contents != "FROM localhost:5000/base:hone-1\nRUN make\n" || sent.Platform != "linux/amd64" || sent.Labels[Label] != "shop/api" {
		t.Errorf("sent %+v", sent)
	}
	for _, ref := range []string{first.Local, "shop/api:latest"} {
		if im, found, err := engine.Inspect(t.Context(), ref); err != nil || !found || im.ID != first.ImageID {
			t.Errorf("%s: %v, %v", ref, found, err)
		}
	}
	if !b.Reusable(t.Context(), first, Plan{}) {
		t.Error("the image cannot be reused though it is there")
	}
	engine.RemoveImage(first.Local)
	if b.Reusable(t.Context(), first, Plan{}) || b.Reusable(t.Context(), model.ImageResult{}, Plan{}) {
		t.Error("an image that is gone can be reused")
	}
}

func TestDockerBuildErrors(t *testing.T) {
	b, engine := newTestBuilder(t)
	target := model.ImageTarget{Ref: "api", Docker: &model.DockerBuild{Contents: "FROM busybox\nRUN exit 3\n"}}
	_, err := b.Build(t.Context(), Request{Target: target})
	_, user := errors.AsType[*docker.UserError](err)
	if p, ok := problem.Of(err); !user || !ok || !strings.Contains(p.Summary, "exit code 3") {
		t.Errorf("got %v", err)
	}
	engine.Fail("Build", engine.Unreachable())
	_, err = b.Build(t.Context(), Request{Target: target})
	if _, user := errors.AsType[*docker.UserError](err); user || !docker.IsUnreachable(err) {
		t.Errorf("got %v", err)
	}
	if _, err := b.Build(t.Context(), Request{Target: model.ImageTarget{Ref: "api"}}); err == nil {
		t.Error("built nothing")
	}
}

func TestPlatform(t *testing.T) {
	t.Setenv("DOCKER_DEFAULT_PLATFORM", "linux/arm64")
	for _, tt := range [][3]string{{"linux/s390x", "linux/amd64", "linux/s390x"}, {"", "linux/amd64", "linux/arm64"}} {
		if got := platform(tt[0], tt[1]); got != tt[2] {
			t.Errorf("platform(%q, %q) = %q", tt[0], tt[1], got)
		}
	}
}

// custom returns a target whose command is a script.
func custom(t *testing.T, script string, spec model.CustomBuild) model.ImageTarget {
	t.Helper()
	spec.Command = model.Cmd{Argv: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: []string{"MINE=1"}}
	return model.ImageTarget{Ref: "shop/api", Custom: &spec}
}

func TestCustomBuild(t *testing.T) {
	b, engine := newTestBuilder(t)
	id := engine.AddImage("localhost:5000/shop_api:hone-build-1700000000")
	own := engine.AddImage("shop/api:own")
	written := engine.AddImage("elsewhere/api:v7")
	tag, _ := ContentTag(id)
	ownTag, _ := ContentTag(own)
	tests := []struct {
		name   string
		script string
		spec   model.CustomBuild
		want   model.ImageResult
		log    []string
	}{
		{"expected ref", `echo "$EXPECTED_REF|$EXPECTED_IMAGE|$EXPECTED_TAG|$EXPECTED_REGISTRY|$REGISTRY_HOST|$MINE"`, model.CustomBuild{},
			model.ImageResult{Local: "localhost:5000/shop_api:" + tag, Cluster: "registry:5000/shop_api:" + tag, ImageID: id},
			[]string{"localhost:5000/shop_api:hone-build-1700000000|shop_api|hone-build-1700000000|localhost:5000|localhost:5000|1"}},
		{"own tag", `echo "$EXPECTED_REF|$EXPECTED_REGISTRY"`, model.CustomBuild{Tag: "own"},
			model.ImageResult{Local: "localhost:5000/shop_api:" + ownTag, Cluster: "registry:5000/shop_api:" + ownTag, ImageID: own},
			[]string{"shop/api:own|localhost:5000"}},
		{"writes its ref", `echo elsewhere/api:v7 > out.txt; echo "ref=$EXPECTED_REF."`, model.CustomBuild{OutputsImageRefTo: "out.txt"},
			model.ImageResult{Local: "elsewhere/api:v7", Cluster: "elsewhere/api:v7", ImageID: written}, []string{"ref=."}},
		{"writes a ref in the registry", `echo localhost:5000/x:1 > out.txt`, model.CustomBuild{OutputsImageRefTo: "out.txt", SkipsLocalDocker: true},
			model.ImageResult{Local: "localhost:5000/x:1", Cluster: "registry:5000/x:1"}, nil},
		{"skips the engine", `true`, model.CustomBuild{SkipsLocalDocker: true},
			model.ImageResult{Local: "localhost:5000/shop_api:hone-build-1700000000", Cluster: "registry:5000/shop_api:hone-build-1700000000"}, nil},
		{"dependencies", `echo "$TILT_IMAGE_0|$TILT_IMAGE_MAP_0|$TILT_IMAGE_MAP_1|$TILT_IMAGE_1."`,
			model.CustomBuild{ImageDeps: []string{"base", "unbuilt"}, SkipsLocalDocker: true, Tag: "t"},
			model.ImageResult{Local: "shop/api:t", Cluster: "shop/api:t"}, []string{"base:hone-9|base|unbuilt|."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := &recorder{}
			got, err := b.Build(t.Context(), Request{Target: custom(t, tt.script, tt.spec), Registry: localRegistry, Logger: log,
				Deps: map[string]model.ImageResult{"base": {Local: "base:hone-9"}}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(model.ImageResult{}, "StartedAt")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, want := range append(tt.log, "Running cmd: ") {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log lacks %q:\n%s", want, log)
				}
			}
		})
	}
}

func TestCustomBuildErrors(t *testing.T) {
	b, _ := newTestBuilder(t)
	tests := []struct {
		name   string
		script string
		spec   model.CustomBuild
		want   string
	}{
		{"no image", "true", model.CustomBuild{}, "is not in the engine"},
		{"no output", "true", model.CustomBuild{OutputsImageRefTo: "out.txt"}, "did not write"},
		{"bad output", "echo 'What?' > out.txt", model.CustomBuild{OutputsImageRefTo: "out.txt"}, "not an image reference"},
		{"output without tag", "echo name > out.txt", model.CustomBuild{OutputsImageRefTo: "out.txt"}, "it has no tag"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := b.Build(t.Context(), Request{Target: custom(t, tt.script, tt.spec)})
			if p, ok := problem.Of(err); !ok || p.Mend == "" || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("failing command", func(t *testing.T) {
		log := &recorder{}
		_, err := b.Build(t.Context(), Request{Target: custom(t, "echo out; echo err >&2; exit 4", model.CustomBuild{}), Logger: log})
		var failed *CommandError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), "exit code 4") {
			t.Errorf("got %v", err)
		}
		if !strings.Contains(log.String(), "out\nerr\n") {
			t.Errorf("output %q", log)
		}
	})
	t.Run("stale output", func(t *testing.T) {
		target := custom(t, "true", model.CustomBuild{OutputsImageRefTo: "out.txt"})
		if err := os.WriteFile(filepath.Join(target.Custom.Command.Dir, "out.txt"), []byte("old:1"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Build(t.Context(), Request{Target: target}); err == nil {
			t.Errorf("took %+v from the last build", got)
		}
	})
}

func TestCustomBuildCancelled(t *testing.T) {
	b, _ := newTestBuilder(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log logstore.Func = func(_ logstore.Level, text string) {
		if strings.HasPrefix(text, "begun") {
			cancel()
		}
	}
	_, err := b.Build(ctx, Request{Target: custom(t, "echo begun; sleep 60 & wait", model.CustomBuild{}), Logger: log})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
