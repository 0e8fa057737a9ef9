package e2e

import (
	"io"
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/compression"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
)

// onZstd is a project whose image is based on one with layers that zstd has compressed.
var onZstd = `
-- Tiltfile --
docker_build('app-$NS', 'app')
k8s_yaml('app.yaml')
-- app/Dockerfile --
FROM localhost:5000/hone-test/zstd-$NS
RUN echo made > /made
CMD ["sleep", "1000"]
-- app.yaml --
` + deployment("app", `
terminationGracePeriodSeconds: 0
containers: [{name: app, image: app-$NS, readinessProbe: {exec: {command: [cat, /made]}, periodSeconds: 1}}]
`)

// zstdBase pushes busybox with layers that zstd has compressed, and returns their digests.
func (p *project) zstdBase() (layers []string) {
	p.t.Helper()
	buildkittest.Busybox(p.t)
	from, err := name.NewTag(buildkittest.Registry + "/library/busybox")
	if err != nil {
		p.t.Fatal(err)
	}
	busybox, err := remote.Image(from)
	if err != nil {
		p.t.Fatal(err)
	}
	config, err := busybox.ConfigFile()
	if err != nil {
		p.t.Fatal(err)
	}
	old, err := busybox.Layers()
	if err != nil {
		p.t.Fatal(err)
	}
	packed, err := mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1), &v1.ConfigFile{OS: config.OS, Architecture: config.Architecture, Config: config.Config})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, layer := range old {
		zstd, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return layer.Uncompressed() }, tarball.WithCompression(compression.ZStd), tarball.WithMediaType(types.OCILayerZStd))
		if err != nil {
			p.t.Fatal(err)
		}
		if packed, err = mutate.Append(packed, mutate.Addendum{Layer: zstd, MediaType: types.OCILayerZStd}); err != nil {
			p.t.Fatal(err)
		}
		digest, err := zstd.Digest()
		if err != nil {
			p.t.Fatal(err)
		}
		layers = append(layers, digest.String())
	}
	to, err := name.NewTag(buildkittest.Registry + "/hone-test/zstd-" + p.namespace)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := remote.Write(to, packed); err != nil {
		p.t.Fatal(err)
	}
	return layers
}

// holds reports whether an image in the registry or in the node has a layer.
func (p *project) holds(ref, layer string, inNode bool) bool {
	p.t.Helper()
	if inNode {
		node, err := containerd.Dial(imagebuild.Probe(p.t.Context()).ContainerdSocket)
		if err != nil {
			p.t.Fatal(err)
		}
		defer node.Close()
		image, err := node.Image(p.t.Context(), "docker.io/library/"+ref)
		if err != nil {
			p.t.Fatal(err)
		}
		_, err = image.Open(p.t.Context(), layer)
		return err == nil
	}
	tag, err := name.NewTag(ref)
	if err != nil {
		p.t.Fatal(err)
	}
	image, err := remote.Image(tag)
	if err != nil {
		p.t.Fatal(err)
	}
	manifest, err := image.Manifest()
	if err != nil {
		p.t.Fatal(err)
	}
	return slices.ContainsFunc(manifest.Layers, func(l v1.Descriptor) bool { return l.Digest.String() == layer })
}

// TestZstd deploys an image whose base zstd has compressed: it runs, and where only a builder and hone bring it, the layers of its base stay as they
// are. An engine may unpack them.
func TestZstd(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name                    string
		builder, engine, inNode bool
	}{{"builder and registry", true, false, false}, {"builder and node", true, false, true}, {"builder and engine", true, true, false},
		{"engine and registry", false, true, false}, {"engine and node", false, true, true}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			created := newProject
			if tc.builder && tc.engine {
				created = newDockerProject // the builder's image is loaded into the engine that runs the pods
			}
			p := created(t, onZstd)
			layers := p.zstdBase()
			if tc.inNode {
				p.env = append(p.env, "KUBECONFIG="+p.seesNoRegistry())
			}
			if tc.builder {
				p.env = append(p.env, "HONE_BUILDER=unix://"+buildkittest.Start(t).Socket)
			}
			if !tc.engine {
				p.env = append(p.env, "DOCKER_HOST=unix://"+t.TempDir()+"/dead.sock")
			}
			p.ci("--timeout", "2m").ended(0, "ok", "(Tiltfile): ok", "app: ok")
			image := p.imageOfApp()
			for _, layer := range layers {
				if !tc.engine && !p.holds(image, layer, tc.inNode) {
					t.Errorf("%s lacks the layer %s of its base", image, layer)
				}
			}
		})
	}
}
