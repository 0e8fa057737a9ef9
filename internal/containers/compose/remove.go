package compose

import (
	"context"
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// Engine is the part of a container engine that lists and removes containers. It finds them by the labels that Compose
// sets, instead of running Compose, because the files may no longer have the service.
type Engine interface {
	ContainerStates(ctx context.Context, labels map[string]string) ([]docker.ContainerState, error)
	RemoveContainer(ctx context.Context, containerID string) error
}

// Containers returns the containers of a service, except the containers of "docker compose run".
func Containers(ctx context.Context, engine interface {
	ContainerStates(ctx context.Context, labels map[string]string) ([]docker.ContainerState, error)
}, project, service string) ([]docker.ContainerState, error) {
	list, err := engine.ContainerStates(ctx, map[string]string{model.ComposeProjectLabel: project, model.ComposeServiceLabel: service})
	return slices.DeleteFunc(list, func(c docker.ContainerState) bool { return c.Labels[model.ComposeOneOffLabel] == "True" }), err
}

// Remove stops and removes the containers of a service. Its networks and volumes stay.
func Remove(ctx context.Context, engine Engine, project, service string, log logstore.Logger) error {
	list, err := Containers(ctx, engine, project, service)
	if err != nil {
		return fmt.Errorf("remove the containers of %s: %w", service, err)
	}
	for _, c := range list {
		logstore.Infof(log, "Removing container %s", c.Name)
		if err := engine.RemoveContainer(ctx, c.ID); err != nil && !docker.IsNotFound(err) {
			return err
		}
	}
	return nil
}
