package imagebuild

import (
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// imageFor returns an image for an architecture, with a command.
func imageFor(t *testing.T, arch string, media types.MediaType) v1.Image {
	t.Helper()
	im, err := random.Image(10, 2)
	if err != nil {
		t.Fatal(err)
	}
	file, err := im.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", arch, v1.Config{Entrypoint: []string{"/app"}, Cmd: []string{"serve"}, Env: []string{"a=b"}, User: "7"}
	if im, err = mutate.ConfigFile(im, file); err != nil {
		t.Fatal(err)
	}
	return mutate.MediaType(im, media)
}

// TestDelivered puts the synclet into an image that a command has pushed. No engine answers. The image keeps its layers and its settings,
// and gets a name of its own, which is the same again.
func TestDelivered(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	dead := dockertest.New()
	dead.Fail("Inspect", dead.Unreachable())
	target := custom(t, "true", model.CustomBuild{SkipsLocalDocker: true, Tag: "made"})
	target.Ref, target.Supervised = host+"/web", true
	req := Request{Target: target, To: Plan{Method: model.DeliverNone}}
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: imageFor(t, "amd64", types.OCIManifestSchema1), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}},
		mutate.IndexAddendum{Add: imageFor(t, "arm64", types.OCIManifestSchema1), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}}},
		mutate.IndexAddendum{Add: imageFor(t, "amd64", types.OCIManifestSchema1), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"}}})
	client := newRegistryClient()
	for _, tt := range []struct {
		name string
		put  func(ref string) error
		want []string // the architectures
	}{
		{"an image", func(ref string) error {
			return client.write(t.Context(), ref, imageFor(t, "amd64", types.DockerManifestSchema2))
		}, []string{"amd64"}},
		{"an image of OCI", func(ref string) error {
			return client.write(t.Context(), ref, imageFor(t, "arm64", types.OCIManifestSchema1))
		}, []string{"arm64"}},
		{"an index", func(ref string) error { return client.writeIndex(t.Context(), ref, index) }, []string{"amd64", "arm64"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.put(host + "/web:made"); err != nil {
				t.Fatal(err)
			}
			b := New(dead)
			result, err := b.Build(t.Context(), req)
			if err != nil {
				t.Fatal(problem.Text(err))
			}
			if again, err := b.Build(t.Context(), req); err != nil || again.Cluster != result.Cluster {
				t.Errorf("built again: %v, %v", again, err)
			}
			if !strings.HasPrefix(result.Local, host+"/web:"+tagPrefix) || result.Cluster != result.Local || result.ImageID != "" || !b.Reusable(t.Context(), result, req.To) {
				t.Errorf("the result is %+v", result)
			}
			var archs []string
			for _, im := range imagesAt(t, client, result.Local) {
				if err := validate.Image(im); err != nil {
					t.Error(err)
				}
				file, err := im.ConfigFile()
				if err != nil {
					t.Fatal(err)
				}
				archs = append(archs, file.Architecture)
				c := file.Config
				if !slices.Equal(c.Entrypoint, []string{protocol.Path, "run", "--", "/app"}) || !slices.Equal(c.Cmd, []string{"serve"}) || c.User != "7" || len(file.RootFS.DiffIDs) != 3 {
					t.Errorf("the image is %+v", file)
				}
				if found, err := programOf(im, []string{protocol.Path}); found != protocol.Path || err != nil {
					t.Errorf("it has the synclet at %q, %v", found, err)
				}
			}
			if !slices.Equal(archs, tt.want) {
				t.Errorf("it is for %v, not %v", archs, tt.want)
			}
		})
	}
	req.Target.Ref = host + "/none"
	if _, err := New(dead).Build(t.Context(), req); !strings.Contains(problem.Text(err), "has delivered "+host+"/none:made to no place that hone reaches") {
		t.Errorf("of an image that is nowhere: %v", err)
	}
	left := custom(t, "true", model.CustomBuild{})
	if _, err := New(dead).Build(t.Context(), Request{Target: left}); !docker.IsUnreachable(err) || !strings.Contains(problem.Text(err), "pass skips_local_docker=True") {
		t.Errorf("of an image in an engine that does not answer: %v", err)
	}
}

// imagesAt returns the images that a reference names.
func imagesAt(t *testing.T, client *registryClient, ref string) (out []v1.Image) {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	found, err := remote.Get(parsed, client.options(t.Context())...)
	if err != nil {
		t.Fatal(err)
	}
	if !found.MediaType.IsIndex() {
		im, err := found.Image()
		if err != nil {
			t.Fatal(err)
		}
		return []v1.Image{im}
	}
	parts, err := client.images(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		out = append(out, p.Add.(v1.Image))
	}
	return out
}
