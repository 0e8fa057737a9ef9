package imagebuild

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"strings"

	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
	"github.com/hone-dev/hone/pkg/model"
)

// An image that is not in the engine gets the synclet where it is, in a registry or in a node: one layer goes on top of its own layers,
// which stay unread, and its configuration gets the command of the synclet. This takes no builder, and only the synclet travels.

// atop adds the synclet to an image whose target requires it, as the program that runs the image's command.
func atop(target model.ImageTarget, below v1.Image) (v1.Image, error) {
	if !target.Supervised {
		return below, nil
	}
	file, err := below.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the configuration of %s: %w", target.Ref, err)
	}
	first, rest, err := supervisedCommand(target, file.Config.Entrypoint, file.Config.Cmd)
	if err != nil {
		return nil, err
	}
	prog, err := programFor(target, file.Architecture)
	if err != nil {
		return nil, err
	}
	media, err := below.MediaType()
	if err != nil {
		return nil, fmt.Errorf("read the manifest of %s: %w", target.Ref, err)
	}
	of := types.DockerLayer
	if media == types.OCIManifestSchema1 {
		of = types.OCILayer
	}
	layer, err := syncletLayer(prog, protocol.Path, of)
	if err != nil {
		return nil, fmt.Errorf("pack the synclet: %w", err)
	}
	above, err := mutate.Append(below, mutate.Addendum{Layer: layer, MediaType: of, History: v1.History{CreatedBy: "hone: the synclet"}})
	if err != nil {
		return nil, fmt.Errorf("put the synclet into image %s: %w", target.Ref, err)
	}
	config := file.Config
	config.Entrypoint, config.Cmd = first, rest
	return mutate.Config(above, config)
}

// atopEach is atop for the images of an index. Attestations are left out: they are about the images before.
func atopEach(target model.ImageTarget, images []mutate.IndexAddendum) (out []mutate.IndexAddendum, err error) {
	if !target.Supervised {
		return images, nil
	}
	for _, is := range images {
		below, whole := is.Add.(v1.Image)
		if !whole || attests(is.Descriptor) {
			continue
		}
		above, err := atop(target, below)
		if err != nil {
			return nil, err
		}
		out = append(out, mutate.IndexAddendum{Add: above, Descriptor: v1.Descriptor{Platform: is.Platform}})
	}
	return out, nil
}

// attests reports whether an entry of an index is about another image, and none itself.
func attests(d v1.Descriptor) bool { return d.Platform != nil && d.Platform.OS == "unknown" }

// programFor returns the synclet for an image.
func programFor(target model.ImageTarget, arch string) ([]byte, error) {
	prog, err := program.For(arch)
	if err == nil {
		return prog, nil
	}
	mend := "Build it for amd64 or arm64."
	if errors.Is(err, program.ErrMissing) {
		mend = "Build hone with make build, or install a release."
	}
	return nil, problem.Wrap(err, "the process of image "+target.Ref+" cannot be restarted in place", mend)
}

// syncletLayer packs the synclet as a layer that has it at a path. The same program always makes the same layer.
func syncletLayer(prog []byte, at string, media types.MediaType) (v1.Layer, error) {
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	at = strings.TrimPrefix(at, "/")
	var err error
	if dir := path.Dir(at); dir != "." {
		err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755})
	}
	if err == nil {
		err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: at, Mode: 0o755, Size: int64(len(prog))})
	}
	if err == nil {
		_, err = w.Write(prog)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil }, tarball.WithMediaType(media))
}

// naming returns the names of an image for its content.
type naming func(id string) (model.ImageResult, error)

// atopInRegistry adds the synclet to an image that a registry has, and names the result there after its content.
func (b *Builder) atopInRegistry(ctx context.Context, req Request, from string, named naming) (result model.ImageResult, err error) {
	sayAtop(req)
	parsed, err := name.ParseReference(from)
	if err != nil {
		return result, err
	}
	found, err := remote.Get(parsed, b.registry.options(ctx)...)
	if err != nil {
		return result, fmt.Errorf("read %s: %w", from, err)
	}
	if !found.MediaType.IsIndex() {
		return b.atopImage(ctx, req, found, named)
	}
	parts, err := b.registry.images(ctx, from)
	if err == nil {
		parts, err = atopEach(req.Target, parts)
	}
	if err != nil {
		return result, err
	}
	whole := mutate.AppendManifests(empty.Index, parts...)
	digest, err := whole.Digest()
	if err != nil {
		return result, err
	}
	if result, err = named(digest.String()); err != nil {
		return result, err
	}
	if err := b.registry.writeIndex(ctx, result.Local, whole); err != nil {
		return result, notPushed(result.Local, err)
	}
	return result, nil
}

// atopImage is atopInRegistry for an image of one platform.
func (b *Builder) atopImage(ctx context.Context, req Request, found *remote.Descriptor, named naming) (result model.ImageResult, err error) {
	image, err := found.Image()
	if err != nil {
		return result, err
	}
	if image, err = atop(req.Target, image); err != nil {
		return result, err
	}
	digest, err := image.Digest()
	if err != nil {
		return result, err
	}
	if result, err = named(digest.String()); err != nil {
		return result, err
	}
	if err := b.registry.write(ctx, result.Local, image); err != nil {
		return result, notPushed(result.Local, err)
	}
	return result, nil
}

// sayAtop logs that an image gets the synclet.
func sayAtop(req Request) {
	logstore.Infof(req.Logger, "Putting the synclet into the image: its process is restarted in place, and a command deploys it")
}

// atopIn adds the synclet to an image whose blobs are given, which a node takes in or has, and returns the digest of its manifest there.
func atopIn(ctx context.Context, target model.ImageTarget, manifest string, blobs docker.Blobs, into docker.Receiver) (string, error) {
	below, err := partial.CompressedToImage(blobImage{ctx, manifest, blobs})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", target.Ref, err)
	}
	return atopInto(target, below, func(digest string, blob []byte) error { return receive(ctx, into, digest, blob) })
}

// atopInto adds the synclet to an image. put gets the new blobs: the others stay where they are.
func atopInto(target model.ImageTarget, below v1.Image, put func(digest string, blob []byte) error) (manifest string, err error) {
	above, err := atop(target, below)
	if err != nil {
		return "", err
	}
	layers, err := above.Layers()
	if err != nil {
		return "", err
	}
	layer := layers[len(layers)-1]
	is, err := layer.Digest()
	if err != nil {
		return "", err
	}
	packed, err := layer.Compressed()
	if err != nil {
		return "", err
	}
	defer packed.Close()
	top, err := io.ReadAll(packed)
	if err != nil {
		return "", err
	}
	id, err := above.ConfigName()
	if err != nil {
		return "", err
	}
	config, err := above.RawConfigFile()
	if err != nil {
		return "", err
	}
	digest, err := above.Digest()
	if err != nil {
		return "", err
	}
	raw, err := above.RawManifest()
	if err != nil {
		return "", err
	}
	return digest.String(), errors.Join(put(is.String(), top), put(id.String(), config), put(digest.String(), raw))
}

// receive has a receiver take in a blob that is in memory.
func receive(ctx context.Context, into docker.Receiver, digest string, blob []byte) error {
	to, err := into.Receive(ctx, digest, int64(len(blob)))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err := to.Write(blob[to.Offset():]); err != nil {
		return err
	}
	return to.Commit()
}

// delivered puts the synclet into an image that the command of the user has delivered, where hone finds it: in the registry in its name, or in the
// containerd of this machine.
func (b *Builder) delivered(ctx context.Context, req Request, made model.ImageResult) (result model.ImageResult, err error) {
	result = made
	if !req.Target.Supervised {
		return result, nil
	}
	named := func(id string) (model.ImageResult, error) { return renamed(made, id) }
	err = fs.ErrNotExist
	if elsewhere(made.Local) && b.registry.has(ctx, made.Local) {
		result, err = b.atopInRegistry(ctx, req, made.Local, named)
	} else if req.To.Socket != "" {
		result, err = atopInNode(ctx, req, made, named)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return result, nowhere(req, made.Local)
	}
	result.StartedAt = made.StartedAt
	return result, err
}

// nowhere is the problem of an image that hone does not find.
func nowhere(req Request, ref string) error {
	return problem.New(fmt.Sprintf("the build command of %s has delivered %s to no place that hone reaches, so that its process cannot be restarted in place", req.Target.Ref, ref),
		"let the command push $EXPECTED_REF to a registry that this machine reaches, too: default_registry(\"registry.example.com/you\") in the Tiltfile\n"+
			"or let it leave the image in the engine, without skips_local_docker and disable_push").See("live-update")
}

// renamed returns the names of an image that has taken the place of another one in its repository.
func renamed(of model.ImageResult, id string) (result model.ImageResult, err error) {
	tag, err := ContentTag(id)
	if err != nil {
		return result, err
	}
	if result.Local, err = retagged(of.Local, tag); err != nil {
		return result, err
	}
	result.Cluster, err = retagged(of.Cluster, tag)
	return result, err
}

// retagged returns a reference with another tag.
func retagged(ref, tag string) (string, error) {
	parsed, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return "", fmt.Errorf("image reference %q: %w", ref, err)
	}
	other, err := reference.WithTag(reference.TrimNamed(parsed), tag)
	if err != nil {
		return "", fmt.Errorf("image reference %q: %w", ref, err)
	}
	return reference.FamiliarString(other), nil
}

// atopInNode adds the synclet to an image in the containerd of this machine. The error satisfies fs.ErrNotExist if there is none.
func atopInNode(ctx context.Context, req Request, made model.ImageResult, named naming) (result model.ImageResult, err error) {
	full, err := fullRef(made.Cluster)
	if err != nil {
		return result, err
	}
	node, err := containerd.Dial(req.To.Socket)
	if err != nil {
		return result, err
	}
	defer node.Close()
	image, err := node.Image(ctx, full)
	if err != nil {
		return result, err
	}
	sayAtop(req)
	manifest, err := ofThisMachine(ctx, image)
	if err != nil {
		return result, fmt.Errorf("read %s: %w", full, err)
	}
	into := node.Receive()
	defer into.Close()
	if manifest, err = atopIn(ctx, req.Target, manifest, image, into); err != nil {
		return result, err
	}
	err = into.Name(ctx, manifest, func(id string) (string, error) {
		if result, err = named(id); err != nil {
			return "", err
		}
		return fullRef(result.Cluster)
	})
	return result, err
}

// ofThisMachine returns the digest of the manifest of an image for this machine, also out of an index.
func ofThisMachine(ctx context.Context, image *containerd.Image) (digest string, err error) {
	raw, err := blobImage{ctx, image.Digest, image}.RawManifest()
	if err != nil {
		return "", err
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(raw, &index); err != nil {
		return "", err
	}
	for _, is := range index.Manifests {
		if p := is.Platform; p != nil && p.OS == "linux" && p.Architecture == runtime.GOARCH {
			return is.Digest.String(), nil
		}
	}
	return image.Digest, nil
}
