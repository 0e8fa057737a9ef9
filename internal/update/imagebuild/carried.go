package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
	"github.com/hone-dev/hone/pkg/model"
)

// carried are the bases of a build elsewhere that go there from this machine. Close them after the build.
type carried struct {
	bases []docker.Base
	ends  []io.Closer
}

// Close closes the places of the bases.
func (c *carried) Close() {
	for _, end := range c.ends {
		_ = end.Close() // they were only read
	}
}

// blobsHere are blobs that this process can read until they are closed.
type blobsHere interface {
	docker.Blobs
	io.Closer
}

// carry finds the bases of an image that the other builder cannot fetch. They are images of earlier builds, so the builder mostly has their
// layers: it reads the manifests only, a few kilobytes, and knows by them that these are the very images that were deployed.
func (b *Builder) carry(ctx context.Context, req Request) (*carried, error) {
	out := &carried{}
	for _, ref := range slices.Sorted(maps.Keys(req.Deps)) {
		dep := req.Deps[ref]
		if tried := b.trials.of(dep); tried != nil {
			out.bases = append(out.bases, docker.Base{Ref: dep.Local, Digest: tried.manifest, Blobs: tried})
			continue
		}
		if dep.Local == "" || b.fetches(ctx, req, dep) {
			continue
		}
		digest, blobs, err := b.findHere(ctx, req, dep)
		if err != nil {
			out.Close()
			return nil, b.noBase(req, ref, dep, err)
		}
		logstore.Debugf(req.Logger, "the builder gets %s from this machine", dep.Local)
		out.bases = append(out.bases, docker.Base{Ref: dep.Local, Digest: digest, Blobs: blobs})
		out.ends = append(out.ends, blobs)
	}
	return out, nil
}

// fetches reports whether the other builder can fetch an image from a registry.
func (b *Builder) fetches(ctx context.Context, req Request, dep model.ImageResult) bool {
	switch {
	case req.To.Method == model.DeliverContainerd, b.cutOff(req):
		return false
	}
	return b.registry.has(ctx, dep.Local)
}

// cutOff reports whether the builder does not reach the registry of a request: only this machine does, or only the cluster.
func (b *Builder) cutOff(req Request) bool {
	builder := b.away(req.Builder)
	if req.Registry.Kept() {
		return !builder.InCluster()
	}
	return !builder.OnThisMachine() && onlyHere(req.Registry.Host)
}

// findHere finds an image on this machine. The error satisfies fs.ErrNotExist if it has gone.
func (b *Builder) findHere(ctx context.Context, req Request, dep model.ImageResult) (digest string, blobs blobsHere, err error) {
	switch {
	case dep.ImageID != "":
		return b.savedBlobs(ctx, dep)
	case req.To.inNodes():
		return nodeBlobs(ctx, b.docker, req.To, dep)
	case b.cutOff(req):
		return b.registry.blobs(ctx, dep.Local)
	}
	return "", nil, fs.ErrNotExist
}

// onNode is an image with the connection to its node.
type onNode struct {
	*containerd.Image
	io.Closer
}

// nodeBlobs finds an image in the containerd of a node.
func nodeBlobs(ctx context.Context, engine docker.Client, to Plan, dep model.ImageResult) (digest string, blobs blobsHere, err error) {
	if to.Method != model.DeliverContainerd {
		return nodesOf(to).blobs(ctx, engine, dep)
	}
	full, err := fullRef(dep.Cluster)
	if err != nil {
		return "", nil, err
	}
	node, err := containerd.Dial(to.Socket)
	if err != nil {
		return "", nil, err
	}
	image, err := node.Image(ctx, full)
	if err != nil {
		_ = node.Close()
		return "", nil, err
	}
	return image.Digest, onNode{image, node}, nil
}

// inNode reports whether a node's containerd has an image.
func inNode(ctx context.Context, to Plan, dep model.ImageResult) bool {
	_, node, err := nodeBlobs(ctx, nil, to, dep)
	if err != nil {
		return false
	}
	_ = node.Close() // it was only read
	return true
}

// noBase is the problem of a base that cannot be had. One that has gone is built again by the next attempt.
func (b *Builder) noBase(req Request, ref string, dep model.ImageResult, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is based on %s: %w", req.Target.Ref, ref, err)
	}
	return &docker.Passing{Err: problem.New(fmt.Sprintf("%s is based on %s, and %s has gone", req.Target.Ref, ref, dep.Local), "update again: hone builds "+ref+", too").See("builders")}
}
