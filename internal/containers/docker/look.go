package docker

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
)

// lookLabel marks the containers that are created to inspect the files of images. They are never started.
const lookLabel = "dev.hone.look"

// lookLimit is the age after which such a container is considered abandoned.
const lookLimit = time.Minute

// Programs implements Client.
func (e *Engine) Programs(ctx context.Context, ref string, paths []string) ([]string, error) {
	e.looks.Do(func() { e.removeLooks(ctx) })
	made, err := e.api.ContainerCreate(ctx, &container.Config{Image: ref, Entrypoint: []string{"/"}, Labels: map[string]string{lookLabel: ""}},
		&container.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		return nil, e.wrap("look into image "+ref, err)
	}
	defer func() {
		_ = e.api.ContainerRemove(context.WithoutCancel(ctx), made.ID, container.RemoveOptions{Force: true, RemoveVolumes: true})
	}()
	var found []string
	for _, p := range paths {
		ok, err := e.isProgram(ctx, made.ID, p)
		if err != nil {
			return nil, e.wrap(fmt.Sprintf("look for %s in image %s", p, ref), err)
		}
		if ok {
			found = append(found, p)
		}
	}
	return found, nil
}

// isProgram follows a link once: the engine resolves it to its end.
func (e *Engine) isProgram(ctx context.Context, id, name string) (bool, error) {
	stat, err := e.api.ContainerStatPath(ctx, id, name)
	if err == nil && stat.Mode&fs.ModeSymlink != 0 {
		target := stat.LinkTarget
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(name), target)
		}
		stat, err = e.api.ContainerStatPath(ctx, id, target)
	}
	if IsNotFound(err) {
		return false, nil
	}
	return err == nil && stat.Mode.IsRegular() && stat.Mode&0o111 != 0, err
}

// removeLooks removes the containers that killed sessions left behind.
func (e *Engine) removeLooks(ctx context.Context) {
	if e.agree(ctx) != nil {
		return
	}
	list, err := e.api.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", lookLabel))})
	if err != nil {
		return
	}
	for _, c := range list {
		if c.State == "created" && time.Since(time.Unix(c.Created, 0)) > lookLimit {
			_ = e.api.ContainerRemove(ctx, c.ID, container.RemoveOptions{RemoveVolumes: true})
		}
	}
}
