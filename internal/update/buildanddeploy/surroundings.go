package buildanddeploy

import (
	"context"
	"sync"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// Pinger identifies a container engine.
type Pinger interface {
	Ping(ctx context.Context) (docker.Info, error)
}

// Surroundings determine, in addition to the cluster itself, how images are delivered. They are probed for the first
// image. Surroundings is safe for concurrent use.
type Surroundings struct {
	engine Pinger

	mu    sync.Mutex
	known *surroundings // guarded by mu
}

// NewSurroundings returns the surroundings of this machine and the engine.
func NewSurroundings(engine Pinger) *Surroundings { return &Surroundings{engine: engine} }

type surroundings struct {
	engine  docker.Info
	machine imagebuild.Delivery
}

// plan returns how an image gets to a cluster.
func (s *Surroundings) plan(ctx context.Context, cluster model.Cluster, registry model.Registry, im model.ImageTarget) (imagebuild.Plan, error) {
	here, err := s.look(ctx)
	if err != nil {
		return imagebuild.Plan{}, err
	}
	return here.machine.Choose(cluster, here.engine, registry, im), nil
}

func (s *Surroundings) look(ctx context.Context) (surroundings, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		info, err := s.engine.Ping(ctx)
		if err != nil {
			return surroundings{}, err
		}
		s.known = &surroundings{info, imagebuild.Probe(ctx)}
	}
	return *s.known, nil
}
