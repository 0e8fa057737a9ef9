package composetest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// Fake is a Runner in memory. Its containers are containers of a fake engine. It reads the Compose files, and has one
// container for each service. Construct it with New.
type Fake struct {
	engine *dockertest.Fake

	mu     sync.Mutex
	ups    []compose.Up     // guarded by mu
	builds []compose.Build  // guarded by mu
	made   map[string]maker // by container id; guarded by mu
}

// maker is the configuration of a container. A container is recreated if it differs.
type maker struct{ hash string }

// New returns a Fake that creates its containers in the engine.
func New(engine *dockertest.Fake) *Fake { return &Fake{engine: engine, made: map[string]maker{}} }

var _ compose.Runner = (*Fake)(nil)

// Ups returns the calls of Up so far, in order.
func (f *Fake) Ups() []compose.Up {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ups)
}

// Builds returns the calls of Build so far, in order.
func (f *Fake) Builds() []compose.Build {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.builds)
}

func (f *Fake) service(ctx context.Context, p model.ComposeProject, name string) (compose.Service, error) {
	s, err := compose.Open(compose.Options{Files: p.Files, Base: p.Dir, EnvFiles: p.EnvFiles, Name: p.Name, Profiles: p.Profiles, Read: os.ReadFile})
	if err != nil {
		return compose.Service{}, err
	}
	loaded, err := s.Load(ctx)
	if err != nil {
		return compose.Service{}, err
	}
	i := slices.IndexFunc(loaded.Services, func(s compose.Service) bool { return s.Name == name })
	if i < 0 {
		return compose.Service{}, fmt.Errorf("docker compose could not find it: no such service: %s", name)
	}
	return loaded.Services[i], nil
}

// Build implements Runner.
func (f *Fake) Build(ctx context.Context, p model.ComposeProject, b compose.Build, _ logstore.Logger) error {
	s, err := f.service(ctx, p, b.Service)
	if err != nil {
		return err
	}
	f.engine.AddImage(s.Image)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.builds = append(f.builds, b)
	return nil
}

// Up implements Runner.
func (f *Fake) Up(ctx context.Context, p model.ComposeProject, u compose.Up, log logstore.Logger) error {
	s, err := f.service(ctx, p, u.Service)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ups = append(f.ups, u)
	image, entrypoint := s.Image, s.Entrypoint
	if u.Image != "" {
		image = u.Image
	}
	if u.Entrypoint != nil {
		entrypoint = u.Entrypoint
	}
	switch _, found, err := f.engine.Inspect(ctx, image); {
	case err != nil:
		return fmt.Errorf("docker compose could not start %s: look for image %s: %w", u.Service, image, err)
	case !found:
		return fmt.Errorf("docker compose could not start %s: no such image: %s", u.Service, image)
	}
	want := maker{fmt.Sprintf("%s %q %q %q", s.Hash, image, entrypoint, u.Command)}
	list, err := compose.Containers(ctx, f.engine, p.Name, u.Service)
	if err != nil {
		return err
	}
	for _, c := range list {
		if f.made[c.ID] != want || u.Recreate {
			f.engine.DropContainer(c.ID)
			delete(f.made, c.ID)
		}
	}
	if list, err = compose.Containers(ctx, f.engine, p.Name, u.Service); err != nil {
		return err
	}
	if len(list) == 0 {
		id := uuid.NewString()
		f.made[id] = want
		logstore.Infof(log, "Container %s Created", u.Service)
		f.engine.AddContainer(id, dockertest.Container{Name: p.Name + "-" + u.Service + "-1", Image: image,
			Labels: map[string]string{model.ComposeProjectLabel: p.Name, model.ComposeServiceLabel: u.Service},
			State:  docker.ContainerState{Status: "created", Entrypoint: entrypoint}})
		list = []docker.ContainerState{{ID: id}}
	}
	if !u.NoStart {
		for _, c := range list {
			f.engine.ChangeContainer(c.ID, func(c *dockertest.Container) { c.State.Status = "running" })
		}
	}
	return nil
}

// Down implements Runner.
func (f *Fake) Down(ctx context.Context, p model.ComposeProject, _ bool, _ logstore.Logger) error {
	list, err := f.engine.ContainerStates(ctx, map[string]string{model.ComposeProjectLabel: p.Name})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range list {
		f.engine.DropContainer(c.ID)
	}
	maps.DeleteFunc(f.made, func(id string, _ maker) bool {
		return slices.ContainsFunc(list, func(c docker.ContainerState) bool { return c.ID == id })
	})
	return nil
}
