package imagebuild

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
	"github.com/hone-dev/hone/pkg/model"
)

// An engine gives its images away as a whole: "docker save" first copies every layer of an image to a file, even the ones that the node
// has. A push leaves these out, but it compresses the others. So an image goes to the containerd of a node as a push only if its new layers
// are few, and is saved and imported otherwise. While an image is built, the layers of its last version, or of its base, are pushed ahead.
// From then on, the engine knows the names that they have on the node, in later sessions, too.
//
// The layers of a build that still runs do not go ahead, neither to a node nor to a registry. BuildKit gives layers away only by exporting the
// result of a build: until its end, a finished step is a snapshot of BuildKit's own, without a digest, and neither the engine's API nor
// BuildKit's names it. An engine that has BuildKit inside cannot export to a registry at all: it pushes the images in its store, which has
// an image when the build is over.

// untagTime is the time that removing an image, or a name of it, may take.
const untagTime = 2 * headTime

// savedPerPushed is the number of bytes that are saved and imported in the time in which one is compressed.
const savedPerPushed = 3

// nodeLayers pushes layers to the containerd of a node on this machine. It is safe for concurrent use.
type nodeLayers struct {
	docker docker.Client
	socket string

	mu     sync.Mutex
	closed bool
	// registry is opened by the first use. After a failure, images are saved: the engine may be in a virtual machine, whose 127.0.0.1 is
	// another one.
	registry *containerd.Registry
	failed   bool
	// ahead are images whose layers the node has, or which are on their way, by ID.
	ahead  map[string]*pushedAhead
	ctx    context.Context
	cancel context.CancelFunc
	on     sync.WaitGroup // pushes ahead
}

// pushedAhead is an image whose layers have been pushed to the node.
type pushedAhead struct {
	image docker.Image
	over  bool // guarded by the mutex of nodeLayers
}

// Transfer is the time of a transfer of layers that Ahead has begun. It is safe for concurrent use.
type Transfer struct {
	began time.Time
	ended atomic.Pointer[time.Time]
}

// BeginTransfer begins a transfer now.
func BeginTransfer() *Transfer { return &Transfer{began: time.Now()} }

// Span returns the times from which and up to which the transfer has lasted: up to now, if it goes on.
func (t *Transfer) Span() (from, to time.Time) {
	if ended := t.ended.Load(); ended != nil {
		return t.began, *ended
	}
	return t.began, time.Now()
}

// End ends the transfer now.
func (t *Transfer) End() {
	now := time.Now()
	t.ended.Store(&now)
}

func newNodeLayers(engine docker.Client, socket string) *nodeLayers {
	n := &nodeLayers{docker: engine, socket: socket, ahead: map[string]*pushedAhead{}}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n
}

// close ends the pushes and waits for them.
func (n *nodeLayers) close() error {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.cancel()
	n.on.Wait()
	if n.registry == nil {
		return nil
	}
	return n.registry.Close()
}

// open returns the registry, or nil if images have to be saved.
func (n *nodeLayers) open() *containerd.Registry {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.registry == nil && !n.failed && !n.closed {
		var err error
		n.registry, err = containerd.NewRegistry(n.socket)
		n.failed = err != nil
	}
	if n.failed || n.closed {
		return nil
	}
	return n.registry
}

// send begins to push the first of the images that the engine has. It returns nil if the layers are on the node or on their way.
func (n *nodeLayers) send(ctx context.Context, refs []string) *Transfer {
	registry := n.open()
	if registry == nil {
		return nil
	}
	for _, ref := range refs {
		image, found, err := n.docker.Inspect(ctx, ref)
		if err != nil {
			return nil
		}
		if !found || len(image.Layers) == 0 {
			continue
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.closed || n.ahead[image.ID] != nil {
			return nil
		}
		sending, transfer := &pushedAhead{image: image}, BeginTransfer()
		n.ahead[image.ID] = sending
		n.on.Go(func() {
			defer transfer.End()
			err := n.push(n.ctx, registry, image)
			n.mu.Lock()
			defer n.mu.Unlock()
			if sending.over = err == nil; err != nil { // the image is saved when it is delivered, and says so if that fails, too
				delete(n.ahead, image.ID)
				n.failed = n.ctx.Err() == nil
			}
		})
		return transfer
	}
	return nil
}

// push pushes an image under a name that only this push uses.
func (n *nodeLayers) push(ctx context.Context, registry *containerd.Registry, image docker.Image) error {
	ref, password := registry.Ref(nodeTag(image.ID))
	if err := n.docker.Tag(ctx, image.ID, ref); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), untagTime)
		defer cancel()
		_ = n.docker.Remove(ctx, ref)
	}()
	return n.docker.PushHere(ctx, ref, password)
}

// nodeTag returns the tag of an image in the registry of a node.
func nodeTag(id string) string { return tagPrefix + strings.TrimPrefix(id, "sha256:")[:16] }

// deliver pushes an image to the node under its full name. It returns false if the image has to be saved instead.
func (n *nodeLayers) deliver(ctx context.Context, id, full string) bool {
	n.mu.Lock()
	registry := n.registry
	usable := registry != nil && !n.failed && !n.closed
	n.mu.Unlock()
	if !usable { // there is none before a push ahead
		return false
	}
	image, found, err := n.docker.Inspect(ctx, id)
	if err != nil || !found || !n.worth(registry, image) {
		return false
	}
	if err := n.push(ctx, registry, image); err != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.failed = n.failed || ctx.Err() == nil
		return false
	}
	if err := registry.Name(ctx, nodeTag(id), full); err != nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ahead[image.ID] = &pushedAhead{image: image, over: true}
	return true
}

// worth reports whether a push takes less time than to save the image.
func (n *nodeLayers) worth(registry *containerd.Registry, image docker.Image) bool {
	n.mu.Lock()
	var there []docker.Image
	for _, a := range n.ahead {
		if a.over {
			there = append(there, a.image)
		}
	}
	n.mu.Unlock()
	return slices.ContainsFunc(there, func(other docker.Image) bool {
		all, shared := registry.Size(nodeTag(other.ID), image.Layers)
		if all == 0 {
			return false
		}
		known := int64(float64(other.Size) * float64(shared) / float64(all))
		return max(image.Size-known, 0)*savedPerPushed <= image.Size
	})
}

// Ahead begins to send layers that the image of a build will share: the ones of its last version, or of its base. It returns at once, and
// nil if there is nothing to send. Failures are silent, since Deliver does without. Only layers that are in the engine are sent.
func (d *Deliverer) Ahead(ctx context.Context, plan Plan, build Request, last model.ImageResult) *Transfer {
	if plan.Method != model.DeliverContainerd {
		return nil
	}
	var refs []string
	if last.ImageID != "" {
		refs = append(refs, last.ImageID)
	}
	if spec := build.Target.Docker; spec != nil {
		base := FinalBase(spec.Contents, spec.BuildArgs, spec.Target)
		if built, ok := resolve(base, build.Deps); ok {
			base = built
		}
		if base != "" {
			refs = append(refs, base)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return d.layers(plan.Socket).send(ctx, refs)
}

// layers returns the sender of layers to the containerd at the socket.
func (d *Deliverer) layers(socket string) *nodeLayers {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.nodes[socket]
	if n == nil {
		n = newNodeLayers(d.docker, socket)
		d.nodes[socket] = n
	}
	return n
}

// Close ends the pushes that Ahead has begun. Layers that are part of no delivered image are garbage on the node from then on.
func (d *Deliverer) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.nodes {
		_ = n.close()
	}
}
