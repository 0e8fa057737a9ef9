package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// SyncletName is the name of hone's own image, and the value of its Label.
	SyncletName = "hone-synclet"
	// syncletLabel is the label of that image with the build of the program in it.
	syncletLabel = "dev.hone.synclet"
	// syncletUser is its user: a number, so that Kubernetes can verify that it is not root.
	syncletUser = "65532:65532"
)

// SyncletImage delivers hone's own image, which holds only the synclet, to clusters. The image is built locally, not
// pulled. Construct it with NewSyncletImage; it is safe for concurrent use.
type SyncletImage struct {
	engine    docker.Client
	away      func() bool
	deliverer *Deliverer
	lock      chan struct{}       // held by the running delivery; it guards the fields below
	images    map[string]v1.Image // by architecture
	delivered map[string]string   // its reference in the cluster, by destination
}

// NewSyncletImage returns an image that is loaded into the engine and delivered like all images.
func NewSyncletImage(engine docker.Client, deliverer *Deliverer) *SyncletImage {
	return &SyncletImage{engine: engine, away: func() bool { return false }, deliverer: deliverer, lock: make(chan struct{}, 1),
		images: map[string]v1.Image{}, delivered: map[string]string{}}
}

// Unless makes the image go to the cluster from here while another builder takes the place of the engine, as away reports: other images
// do not go through the engine then either. It goes from here, too, where the engine does not answer and is not needed.
func (s *SyncletImage) Unless(away func() bool) *SyncletImage {
	s.away = away
	return s
}

// Deliver delivers the image for an architecture (empty: the architecture of this machine) to the cluster as planned, once for each
// destination, and returns its reference in the cluster. beside is an image that the plan is for: without a registry for all
// images, hone's image goes into the repository of that image.
func (s *SyncletImage) Deliver(ctx context.Context, plan Plan, arch, beside string, log logstore.Logger) (string, error) {
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	image, result, err := s.made(plan, arch, beside)
	if err != nil {
		return "", err
	}
	place := fmt.Sprint(plan.Method, plan.Cluster, plan.Socket, result)
	if ref := s.delivered[place]; ref != "" {
		return ref, nil
	}
	var from origin = held{image, s.deliverer.registry}
	if !s.away() || plan.throughEngine() {
		err := s.load(ctx, image, result.Local)
		if idle := docker.IsUnreachable(err) && !plan.throughEngine(); err != nil && !idle {
			return "", err
		}
		if err == nil {
			from = s.engine
		}
	}
	if err := s.deliverer.deliver(ctx, plan, result, from, log, nil); err != nil {
		return "", err
	}
	s.delivered[place] = result.Cluster
	return result.Cluster, nil
}

// Name returns the name that Deliver would return.
func (s *SyncletImage) Name(plan Plan, arch, beside string) (string, error) {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	_, result, err := s.made(plan, arch, beside)
	return result.Cluster, err
}

// made returns the image for an architecture, and its names. s.lock is held.
func (s *SyncletImage) made(plan Plan, arch, beside string) (image v1.Image, result model.ImageResult, err error) {
	if arch == "" {
		arch = runtime.GOARCH
	}
	image, ok := s.images[arch]
	if !ok {
		if image, err = syncletImage(arch); err != nil {
			return nil, result, fmt.Errorf("make the synclet's image: %w", err)
		}
		s.images[arch] = image // the image caches its computed parts
	}
	result, err = syncletResult(image, plan, beside)
	return image, result, err
}

// load loads the image into the engine, if it is not there under this name, which is derived from its content.
func (s *SyncletImage) load(ctx context.Context, image v1.Image, ref string) error {
	_, found, err := s.engine.Inspect(ctx, ref)
	if err != nil || found {
		return err
	}
	archive, err := held{image: image}.Save(ctx, []string{ref})
	if err != nil {
		return err
	}
	defer archive.Close()
	return s.engine.Load(ctx, archive)
}

// syncletResult names the image after its content.
func syncletResult(image v1.Image, plan Plan, beside string) (model.ImageResult, error) {
	config, err := image.ConfigName()
	if err != nil {
		return model.ImageResult{}, err
	}
	result := model.ImageResult{ImageID: config.String()}
	tag, err := ContentTag(result.ImageID)
	if err != nil {
		return result, err
	}
	ref := SyncletName
	if plan.Method == model.DeliverPush && plan.Registry.Empty() {
		if beside == "" {
			return result, errors.New("there is no registry for hone's own image")
		}
		ref, tag = beside, "synclet-"+tag
	}
	if result.Local, err = LocalRef(ref, plan.Registry, tag); err != nil {
		return result, err
	}
	result.Cluster, err = ClusterRef(ref, plan.Registry, tag)
	return result, err
}

// syncletImage builds the image. The same build of hone always makes the same image.
func syncletImage(arch string) (v1.Image, error) {
	prog, err := program.For(arch)
	if err != nil {
		return nil, err
	}
	layer, err := syncletLayer(prog, "/synclet", types.DockerLayer)
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", arch
	config.Config = v1.Config{Entrypoint: []string{"/synclet"}, User: syncletUser, WorkingDir: "/",
		Labels: map[string]string{Label: SyncletName, syncletLabel: program.Build()}}
	return mutate.ConfigFile(image, config)
}
