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

// Environment determines, in addition to the cluster itself, how images are delivered. It is probed for the first
// image. Environment is safe for concurrent use.
type Environment struct {
	engine Pinger

	mu    sync.Mutex
	known *environment // nil until the engine has answered; guarded by mu
}

type environment struct {
	engine  docker.Info
	machine imagebuild.Delivery
}

// NewEnvironment returns the environment of this machine and the engine.
func NewEnvironment(engine Pinger) *Environment { return &Environment{engine: engine} }

// plan returns how an image gets to a cluster. An image that needs no engine has a plan also while the engine does not answer.
func (s *Environment) plan(ctx context.Context, cluster model.Cluster, registry model.Registry, im model.ImageTarget) (imagebuild.Plan, error) {
	here, err := s.look(ctx)
	if docker.IsUnreachable(err) && needsNoEngine(im) {
		here, err = environment{machine: imagebuild.Probe(ctx)}, nil
	}
	if err != nil {
		return imagebuild.Plan{}, err
	}
	return here.machine.Choose(cluster, here.engine, registry, im), nil
}

// needsNoEngine reports whether an image gets to the cluster without an engine: a command delivers it, or hone itself.
func needsNoEngine(im model.ImageTarget) bool {
	return im.Ref == model.SyncletName || im.Custom != nil && im.Custom.SkipsLocalDocker
}

func (s *Environment) look(ctx context.Context) (environment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		info, err := s.engine.Ping(ctx)
		if err != nil {
			return environment{}, err
		}
		s.known = &environment{info, imagebuild.Probe(ctx)}
	}
	return *s.known, nil
}
