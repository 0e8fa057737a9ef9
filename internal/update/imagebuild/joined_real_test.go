package imagebuild

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// daemonsFor are the sockets of daemons, by the architecture of the nodes on which they run.
type daemonsFor map[string]string

func (s daemonsFor) Builder(pod model.BuilderPod, _ int) (buildkit.Pod, error) {
	arch := pod.NodeSelector[model.NodeArch]
	return onNodes{s[arch], arch}, nil
}

// onNodes is a daemon on nodes of an architecture.
type onNodes struct{ socket, arch string }

var _ buildkit.Pod = onNodes{}

func (n onNodes) Namespace() string                     { return "here" }
func (n onNodes) Name() string                          { return n.arch }
func (n onNodes) String() string                        { return "rootless" }
func (n onNodes) Ready(context.Context) (string, error) { return "", nil }

func (n onNodes) Dial(ctx context.Context, _ func(error)) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", n.socket)
}

// nextDoor is a builder that reaches the registries of this machine.
type nextDoor struct{ Elsewhere }

func (nextDoor) OnThisMachine() bool { return true }

// TestJoined has two daemons build the parts of an image for several platforms, which are joined in a registry: one that the daemons reach, and
// one that only this machine reaches.
func TestJoined(t *testing.T) {
	choice, err := buildkit.Choose("", daemonsFor{"amd64": buildkittest.Start(t).Socket, "arm64": buildkittest.Start(t).Socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = choice.Close() })
	declared := model.Builder{At: model.BuilderInCluster, Pod: model.BuilderPod{Platforms: []string{"linux/amd64", "linux/arm64"}}}
	dead := dockertest.New()
	dead.Fail("Alive", dead.Unreachable())
	dir, run := t.TempDir(), uuid.NewString()
	for _, arch := range []string{"amd64", "arm64", "s390x"} {
		if err := os.WriteFile(filepath.Join(dir, arch), []byte(run+" for "+arch), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	registry := Plan{Method: model.DeliverRegistry, Registry: model.Registry{Host: buildkittest.Registry}}
	for _, tt := range []struct {
		name      string
		plan      Plan
		platforms string
		reaches   bool     // the daemons reach the registry
		at        []string // the builds, each with its platforms and the daemon
		images    []string // the platforms of the index; none for an image
		err       string
	}{
		{name: "one", plan: registry, platforms: "linux/arm64", reaches: true, at: []string{"Building at arm64"}},
		{name: "both", plan: registry, platforms: "linux/amd64,linux/arm64", reaches: true,
			at: []string{"linux/amd64: Building at amd64", "linux/arm64: Building at arm64"}, images: []string{"linux/amd64", "linux/arm64"}},
		{name: "an emulated one, too", plan: registry, platforms: "linux/arm64,linux/s390x,linux/amd64", reaches: true,
			at: []string{"linux/arm64: Building at arm64", "linux/s390x,linux/amd64: Building at amd64"}, images: []string{"linux/arm64", "linux/s390x", "linux/amd64"}},
		{name: "through hone", plan: registry, platforms: "linux/amd64,linux/arm64,linux/s390x",
			at:     []string{"linux/amd64: Building at amd64", "linux/arm64: Building at arm64", "linux/s390x: Building at amd64"},
			images: []string{"linux/amd64", "linux/arm64", "linux/s390x"}},
		{name: "without a registry", plan: Plan{Method: model.DeliverContainerd, Socket: "/none"}, platforms: "linux/amd64,linux/arm64", err: "only a registry joins such an image"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			away := func(declared model.Builder) Elsewhere {
				is := Elsewhere(choice.For(declared))
				if tt.reaches {
					is = nextDoor{is}
				}
				return is
			}
			log := &recorder{}
			var begun, all int
			req := Request{To: tt.plan, Registry: tt.plan.Registry, Builder: declared, Logger: log, OnStep: func(b, a int) { begun, all = b, a },
				Target: model.ImageTarget{Ref: "hone-test/joined", Docker: &model.DockerBuild{Context: dir, Platform: tt.platforms,
					Contents: "FROM scratch\nARG TARGETARCH\nCOPY $TARGETARCH /text\n"}}}
			result, err := New(docker.Optional(dead, always)).With(away).Build(t.Context(), req)
			if tt.err != "" {
				p, ok := problem.Of(err)
				if !ok || !strings.Contains(err.Error(), tt.err) || !strings.Contains(p.Mend, `platform="linux/amd64"`) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(problem.Text(err))
			}
			var at []string
			for line := range strings.Lines(log.String()) {
				if by, where, ok := strings.Cut(strings.TrimSpace(line), "Building at kubernetes (kubernetes://here/"); ok {
					daemon, _, _ := strings.Cut(where, ")")
					at = append(at, by+"Building at "+daemon)
				}
			}
			slices.Sort(at)
			if diff := cmp.Diff(slices.Sorted(slices.Values(tt.at)), at); diff != "" {
				t.Errorf("builds (-want +got):\n%s", diff)
			}
			if begun == 0 || begun != all {
				t.Errorf("%d steps of %d", begun, all)
			}
			on := req
			on.Deps = map[string]model.ImageResult{req.Target.Ref: result}
			on.Target = model.ImageTarget{Ref: "hone-test/on-joined", DependsOn: []string{req.Target.Ref},
				Docker: &model.DockerBuild{Platform: tt.platforms, Contents: "FROM hone-test/joined\nLABEL run=" + run + "\n"}}
			based, err := New(docker.Optional(dead, always)).With(away).Build(t.Context(), on)
			if err != nil {
				t.Fatal(problem.Text(err))
			}
			ref, err := name.ParseReference(based.Local)
			if err != nil {
				t.Fatal(err)
			}
			asks := newRegistryClient().options(t.Context())
			found, err := remote.Get(ref, asks...)
			if err != nil {
				t.Fatal(err)
			}
			if found.MediaType.IsIndex() != (len(tt.images) > 0) {
				t.Errorf("it is a %s", found.MediaType)
			}
			platforms := tt.images
			if len(platforms) == 0 {
				platforms = []string{tt.platforms}
			}
			for _, platform := range platforms {
				is, err := v1.ParsePlatform(platform)
				if err != nil {
					t.Fatal(err)
				}
				image, err := remote.Image(ref, append(asks, remote.WithPlatform(*is))...)
				if err != nil {
					t.Error(err)
					continue
				}
				if text, want := textOf(t, image), run+" for "+is.Architecture; text != want {
					t.Errorf("the image for %s has %q, want %q", platform, text, want)
				}
			}
			if len(tt.images) > 0 {
				if diff := cmp.Diff(tt.images, platformsOf(t, found)); diff != "" {
					t.Errorf("the index (-want +got):\n%s", diff)
				}
			}
			if !New(docker.Optional(dead, always)).With(away).Reusable(t.Context(), result, tt.plan) {
				t.Error("it is not reusable")
			}
		})
	}
}

// platformsOf returns the platforms of an index, in its order.
func platformsOf(t *testing.T, found *remote.Descriptor) (out []string) {
	t.Helper()
	index, err := found.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	list, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, is := range list.Manifests {
		if is.Platform != nil && is.Platform.OS != "unknown" {
			out = append(out, fmt.Sprintf("%s/%s", is.Platform.OS, is.Platform.Architecture))
		}
	}
	return out
}

// textOf returns the content of the file /text of an image.
func textOf(t *testing.T, image v1.Image) string {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers: %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	files := tar.NewReader(content)
	for {
		h, err := files.Next()
		if err != nil {
			t.Fatal(err)
		}
		if h.Name == "text" {
			text, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
}
