package imagebuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// nodes describes how to load images into a cluster whose nodes are containers.
type nodes struct {
	// title names the cluster for the user; tool is the command that loads images, and argv returns its arguments for an
	// image.
	title string
	tool  string
	argv  func(ref string) []string
	// labels select the node containers, and isNode excludes helpers.
	labels map[string]string
	isNode func(docker.Container) bool
}

func kindNodes(cluster string) nodes {
	return nodes{
		title: "kind cluster " + cluster, tool: "kind",
		argv:   func(ref string) []string { return []string{"load", "docker-image", ref, "--name", cluster} },
		labels: map[string]string{"io.x-k8s.kind.cluster": cluster},
		isNode: func(c docker.Container) bool { return c.Labels["io.x-k8s.kind.role"] != "external-load-balancer" },
	}
}

func k3dNodes(cluster string) nodes {
	return nodes{
		title: "k3d cluster " + cluster, tool: "k3d",
		argv:   func(ref string) []string { return []string{"image", "import", ref, "-c", cluster} },
		labels: map[string]string{"app": "k3d", "k3d.cluster": cluster},
		isNode: func(c docker.Container) bool {
			return c.Labels["k3d.role"] == "server" || c.Labels["k3d.role"] == "agent"
		},
	}
}

// nodesOf returns the nodes of a kind or k3d cluster.
func nodesOf(plan Plan) nodes {
	if plan.Method == model.DeliverK3D {
		return k3dNodes(plan.Cluster)
	}
	return kindNodes(plan.Cluster)
}

// containers returns the nodes that run in the engine.
func (n nodes) containers(ctx context.Context, engine docker.Client) ([]docker.Container, error) {
	all, err := engine.Containers(ctx, n.labels)
	if err != nil {
		return nil, err
	}
	found := all[:0]
	for _, c := range all {
		if n.isNode(c) {
			found = append(found, c)
		}
	}
	return found, nil
}

// have reports whether all nodes have an image, and run in the engine.
func (n nodes) have(ctx context.Context, engine docker.Client, result model.ImageResult) bool {
	containers, err := n.containers(ctx, engine)
	if err != nil || len(containers) == 0 {
		return false
	}
	lack, err := lacking(ctx, engine, containers, result)
	return err == nil && len(lack) == 0
}

// blobs finds an image in one of the nodes. The error satisfies fs.ErrNotExist if none has it.
func (n nodes) blobs(ctx context.Context, engine docker.Client, of model.ImageResult) (digest string, blobs blobsHere, err error) {
	full, err := fullRef(of.Cluster)
	if err != nil {
		return "", nil, err
	}
	containers, err := n.containers(ctx, engine)
	if err != nil {
		return "", nil, err
	}
	for _, c := range containers {
		node := nodeContainer{engine, c}
		if digest, err = node.digest(ctx, full); err == nil {
			return digest, node, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", nil, err
		}
	}
	return "", nil, fs.ErrNotExist
}

// lacking returns the nodes that do not have the image yet, or another one under its name. A node whose images cannot be listed counts as
// lacking it.
func lacking(ctx context.Context, engine docker.Client, containers []docker.Container, result model.ImageResult) ([]docker.Container, error) {
	full, err := fullRef(result.Cluster)
	if err != nil || !stays(result) {
		return containers, err
	}
	var out []docker.Container
	for _, c := range containers {
		_, err := nodeContainer{engine, c}.target(ctx, full)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			out = append(out, c)
		}
	}
	return out, nil
}

// nodeContainer is a node of kind or k3d. Its containerd has no address outside of the container, so its own tool answers.
type nodeContainer struct {
	engine docker.Client
	docker.Container
}

// ctr runs containerd's tool in the node.
func (n nodeContainer) ctr(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	return n.engine.ContainerExec(ctx, n.ID, append([]string{"ctr", "-n", "k8s.io"}, args...), in, out)
}

// target returns the digest of a full reference. The error satisfies fs.ErrNotExist if there is none.
func (n nodeContainer) target(ctx context.Context, full string) (digest string, err error) {
	var list strings.Builder
	if err := n.ctr(ctx, nil, &list, "images", "ls", "name=="+full); err != nil {
		return "", fmt.Errorf("list images of node %s: %w", n.Name, err)
	}
	for line := range strings.Lines(list.String()) { // reference, media type, digest …
		if f := strings.Fields(line); len(f) > 2 && f[0] == full {
			return f[2], nil
		}
	}
	return "", fs.ErrNotExist
}

// digest returns the digest of the manifest of an image. An engine gives away one platform of an image, so an index has one manifest.
func (n nodeContainer) digest(ctx context.Context, full string) (string, error) {
	target, err := n.target(ctx, full)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := n.ctr(ctx, nil, &text, "content", "get", target); err != nil {
		return "", fmt.Errorf("read %s in node %s: %w", full, n.Name, err)
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(text.Bytes(), &index); err != nil {
		return "", fmt.Errorf("read %s in node %s: %w", full, n.Name, err)
	}
	if len(index.Manifests) > 0 { // an index need not say its type
		return index.Manifests[0].Digest.String(), nil
	}
	return target, nil
}

// Open implements docker.Blobs.
func (n nodeContainer) Open(ctx context.Context, digest string) (docker.Blob, error) {
	file, err := os.CreateTemp("", "hone-blob-*")
	if err != nil {
		return nil, fmt.Errorf("keep a layer: %w", err)
	}
	_ = os.Remove(file.Name()) // it is gone when it is closed
	if err := n.ctr(ctx, nil, file, "content", "get", digest); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("read %s in node %s: %w", digest, n.Name, err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("keep a layer: %w", err)
	}
	return blobFile{file, info.Size()}, nil
}

// Close implements io.Closer.
func (n nodeContainer) Close() error { return nil }

// stays reports whether the reference of an image never means another one. An image that is not in the engine is reused by its reference.
func stays(result model.ImageResult) bool {
	return result.ImageID == "" || hasContentTag(result.Cluster, result.ImageID)
}
