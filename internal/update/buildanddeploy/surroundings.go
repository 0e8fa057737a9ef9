package buildanddeploy

import (
	"context"
	"sync"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// Pinger tells what a container engine is.
type Pinger interface {
	Ping(ctx context.Context) (docker.Info, error)
}

// Surroundings are what decides how images are delivered, beside the cluster itself. They are looked at with the first
// image. It is safe for use by several goroutines.
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

// plan says how an image gets to a cluster.
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
