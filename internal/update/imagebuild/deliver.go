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
	case model.DeliverKIND:
		err = d.load(ctx, kindNodes(plan.Cluster), result, log)
	case model.DeliverK3D:
		err = d.load(ctx, k3dNodes(plan.Cluster), result, log)
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
	stays := result.ImageID == "" || hasContentTag(result.Local, result.ImageID)
	if stays && d.registry.has(ctx, result.Local) {
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
	if result.ImageID == "" || hasContentTag(result.Cluster, result.ImageID) {
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

// load loads the image into the nodes that lack it: directly from the engine into their containerds if the nodes are
// containers of the same engine, which saves the file on disk that the cluster's own tool writes first. The tool takes
// over if that fails or the nodes run elsewhere.
func (d *Deliverer) load(ctx context.Context, n nodes, result model.ImageResult, log logstore.Logger) error {
	containers, err := d.nodeContainers(ctx, n)
	if err != nil {
		return err
	}
	lacking, err := d.lacking(ctx, containers, result)
	if err != nil {
		return err
	}
	if len(containers) > 0 && len(lacking) == 0 {
		logstore.Infof(log, "Already in %s: %s", n.title, result.Local)
		return nil
	}
	logstore.Infof(log, "Loading into %s: %s", n.title, result.Local)
	if len(containers) > 0 {
		if err = d.importIntoAll(ctx, lacking, result.Local); err == nil || ctx.Err() != nil {
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

func (d *Deliverer) nodeContainers(ctx context.Context, n nodes) ([]docker.Container, error) {
	all, err := d.docker.Containers(ctx, n.labels)
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

// lacking returns the nodes that do not have the image yet. A node whose images cannot be listed counts as lacking it.
func (d *Deliverer) lacking(ctx context.Context, containers []docker.Container, result model.ImageResult) ([]docker.Container, error) {
	full, err := fullRef(result.Cluster)
	if err != nil || !hasContentTag(result.Cluster, result.ImageID) {
		return containers, err
	}
	var out []docker.Container
	for _, c := range containers {
		var names strings.Builder
		err := d.docker.ContainerExec(ctx, c.ID, []string{"ctr", "-n", "k8s.io", "images", "ls", "-q", "name==" + full}, nil, &names)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || strings.TrimSpace(names.String()) != full {
			out = append(out, c)
		}
	}
	return out, nil
}

// importInto streams the image from the engine into the containerd of a node container.
func (d *Deliverer) importInto(ctx context.Context, node docker.Container, ref string) error {
	archive, err := d.docker.Save(ctx, []string{ref})
	if err != nil {
		return err
	}
	defer archive.Close()
	var said strings.Builder
	argv := []string{"ctr", "-n", "k8s.io", "images", "import", "--all-platforms", "-"}
	if err := d.docker.ContainerExec(ctx, node.ID, argv, io.Reader(archive), &said); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}
