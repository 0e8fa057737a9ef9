package imagebuild

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
	"github.com/hone-dev/hone/pkg/model"
)

// Deliverer delivers built images to the cluster. Construct it with NewDeliverer. Close it after use of Ahead.
type Deliverer struct {
	docker   docker.Client
	registry *registryClient
	unshared *once
	// lookPath finds the tools of kind and k3d.
	lookPath func(name string) (string, error)

	mu    sync.Mutex
	nodes map[string]*nodeLayers // guarded by mu; by the socket of the node's containerd
}

// NewDeliverer returns a deliverer for the engine's images.
func NewDeliverer(engine docker.Client) *Deliverer {
	return &Deliverer{docker: engine, registry: newRegistryClient(), unshared: &once{}, lookPath: exec.LookPath, nodes: map[string]*nodeLayers{}}
}

// Deliver delivers the image to the cluster as planned and logs the delivery in one line. An image that is already there is not
// sent again, provided that its tag comes from its content. Delivering the same image twice is harmless. If sent is not nil, it
// receives the percentage of the image's bytes that have been sent, whenever that grows, from engines that report it; Deliver calls
// it on the caller's goroutine.
func (d *Deliverer) Deliver(ctx context.Context, plan Plan, result model.ImageResult, log logstore.Logger, sent func(percent int)) error {
	var from origin = d.docker
	if plan.Registry.Kept() {
		from = throughHone{from, d.registry}
	}
	return d.deliver(ctx, plan, result, from, log, sent)
}

// origin is where an image is that is delivered: the engine, or this process.
type origin interface {
	Push(ctx context.Context, ref string, progress logstore.Logger, sent func(percent int)) error
	Save(ctx context.Context, refs []string) (io.ReadCloser, error)
}

// deliver is Deliver for an image of any origin. Clusters whose nodes are containers, and those that share the engine, need the engine all
// the same.
func (d *Deliverer) deliver(ctx context.Context, plan Plan, result model.ImageResult, from origin, log logstore.Logger, sent func(percent int)) error {
	if log == nil {
		log = logstore.Discard
	}
	if plan.Registry.Kept() {
		if err := d.registry.started(ctx, plan.Registry); err != nil {
			return err
		}
	}
	var err error
	switch plan.Method {
	case model.DeliverNone, model.DeliverShared:
		logstore.Infof(log, "Nothing to push: %s", plan.Why)
		return nil
	case model.DeliverRegistry:
		err = d.push(ctx, "local registry "+plan.Registry.Host, result, from, log, sent)
	case model.DeliverPush:
		err = d.pushAnywhere(ctx, plan, result, from, log, sent)
	case model.DeliverKIND, model.DeliverK3D:
		err = d.load(ctx, nodesOf(plan), result, log)
	case model.DeliverContainerd:
		err = d.importHere(ctx, plan, result, from, log)
	default:
		err = fmt.Errorf("unknown method %q", plan.Method)
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("deliver %s: %w", result.Local, err)
	}
	if plan.Share {
		d.share(ctx, result, log)
	}
	return nil
}

// push sends the image to the registry in its name. An image that the registry already has is not sent.
func (d *Deliverer) push(ctx context.Context, where string, result model.ImageResult, from origin, log logstore.Logger, sent func(percent int)) error {
	if stays(result) && d.registry.has(ctx, result.Local) {
		logstore.Infof(log, "Already in %s: %s", where, result.Local)
	} else {
		logstore.Infof(log, "Pushing to %s: %s", where, result.Local)
		if err := from.Push(ctx, result.Local, log, sent); err != nil {
			return err
		}
	}
	return nil
}

// pushAnywhere pushes to default_registry, or to the registry in the image's name. Docker Hub's library is refused.
func (d *Deliverer) pushAnywhere(ctx context.Context, plan Plan, result model.ImageResult, from origin, log logstore.Logger, sent func(percent int)) error {
	if !plan.Registry.Empty() {
		return d.push(ctx, "registry "+plan.Registry.Host, result, from, log, sent)
	}
	full, err := fullRef(result.Local)
	if err != nil {
		return err
	}
	if err := noPlace(full, result.Local, plan); err != nil {
		return err
	}
	host, _, _ := strings.Cut(full, "/")
	return d.push(ctx, "registry "+host, result, from, log, sent)
}

// noPlace returns a problem if the registry in an image's full name is Docker Hub's library, to which nobody may push.
func noPlace(full, ref string, plan Plan) error {
	if !strings.HasPrefix(full, "docker.io/library/") {
		return nil
	}
	return problem.New(fmt.Sprintf("the image %s cannot be delivered to the cluster: %s", ref, plan.Why),
		"name a registry that the cluster can pull from: default_registry(\"registry.example.com/you\") in the Tiltfile").See("clusters")
}

// importHere imports the image into the containerd of this machine, which is the node.
func (d *Deliverer) importHere(ctx context.Context, plan Plan, result model.ImageResult, from origin, log logstore.Logger) error {
	full, err := fullRef(result.Cluster)
	if err != nil {
		return err
	}
	node, err := containerd.Dial(plan.Socket)
	if err != nil {
		return err
	}
	defer node.Close()
	if stays(result) {
		if there, err := node.Has(ctx, full); err == nil && there {
			logstore.Infof(log, "Already in the node's containerd: %s", result.Cluster)
			return nil
		}
	}
	logstore.Infof(log, "Importing into the node's containerd: %s", result.Cluster)
	if d.layers(plan.Socket).deliver(ctx, result.ImageID, full) {
		return nil
	}
	archive, err := from.Save(ctx, []string{result.Local})
	if err != nil {
		return err
	}
	defer archive.Close()
	return node.Import(ctx, archive, full)
}

// load loads the image into the nodes that lack it: directly from the engine into their containerds if the nodes are
// containers of the same engine, which saves the file on disk that the cluster's own tool writes first. The tool takes
// over if that fails or the nodes run elsewhere.
func (d *Deliverer) load(ctx context.Context, n nodes, result model.ImageResult, log logstore.Logger) error {
	containers, err := n.containers(ctx, d.docker)
	if err != nil {
		return err
	}
	lack, err := lacking(ctx, d.docker, containers, result)
	if err != nil {
		return err
	}
	if len(containers) > 0 && len(lack) == 0 {
		logstore.Infof(log, "Already in %s: %s", n.title, result.Local)
		return nil
	}
	logstore.Infof(log, "Loading into %s: %s", n.title, result.Local)
	if len(containers) > 0 {
		if err = d.importIntoAll(ctx, lack, result.Local); err == nil || ctx.Err() != nil {
			return err
		}
	}
	tool, missing := d.lookPath(n.tool)
	switch {
	case missing != nil && err != nil:
		return err
	case missing != nil:
		return problem.New(fmt.Sprintf("the nodes of %s are not in this engine, and %s is not installed", n.title, n.tool),
			"install "+n.tool+", or point DOCKER_HOST at the engine that runs the cluster").See("clusters")
	case err != nil:
		logstore.Warnf(log, "%v; trying %s", err, n.tool)
	}
	out := logstore.WriterAt(logstore.Indent(log, "  "), logstore.LevelInfo)
	cmd := model.Cmd{Argv: append([]string{tool}, n.argv(result.Local)...), Env: d.docker.Env()}
	return process.Run(ctx, process.Command{Cmd: cmd, Stdout: out, Stderr: out, Plain: true})
}

// importIntoAll imports the image into nodes concurrently.
func (d *Deliverer) importIntoAll(ctx context.Context, containers []docker.Container, ref string) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, c := range containers {
		all.Go(func() error {
			if err := d.importInto(ctx, c, ref); err != nil {
				return fmt.Errorf("import into node %s: %w", c.Name, err)
			}
			return nil
		})
	}
	return all.Wait()
}

// importInto streams the image from the engine into the containerd of a node container.
func (d *Deliverer) importInto(ctx context.Context, node docker.Container, ref string) error {
	archive, err := d.docker.Save(ctx, []string{ref})
	if err != nil {
		return err
	}
	defer archive.Close()
	var said strings.Builder
	if err := (nodeContainer{d.docker, node}).ctr(ctx, io.Reader(archive), &said, "images", "import", "--all-platforms", "-"); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}
