package buildanddeploy

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/synclet"
	"github.com/hone-dev/hone/pkg/model"
)

// ComposeEngine is the part of a container engine that Compose services need in addition to Compose itself.
type ComposeEngine interface {
	Ping(ctx context.Context) (docker.Info, error)
	Tag(ctx context.Context, src, dst string) error
	Inspect(ctx context.Context, ref string) (image docker.Image, found bool, err error)
	compose.Engine
	ContainerChanges(ctx context.Context, containerID string) ([]string, error)
	CopyTo(ctx context.Context, containerID, dir string, tar io.Reader) error
}

// Compose builds the images of a Compose service and runs its containers with Compose.
type Compose struct {
	images *Image
	runner compose.Runner
	engine ComposeEngine
}

// NewCompose returns the builder. Images are built in the engine that runs the containers, and stay there.
func NewCompose(runner compose.Runner, builder ImageBuilder, engine ComposeEngine) *Compose {
	return &Compose{images: &Image{builder: builder}, runner: runner, engine: engine}
}

var _ BuildAndDeployer = (*Compose)(nil)

// Name implements BuildAndDeployer.
func (*Compose) Name() string { return "compose" }

// BuildAndDeploy implements BuildAndDeployer. hone builds and names the images that the Tiltfile builds; Compose builds
// those with a build section in the Compose files. Then Compose updates the containers of this one service: unchanged
// containers stay as they are.
func (b *Compose) BuildAndDeploy(ctx context.Context, req Request) (result Result, err error) {
	t := req.Manifest.Compose
	if t == nil {
		return Result{}, &Declined{}
	}
	work, err := b.images.plan(ctx, req)
	if err != nil {
		return Result{}, err
	}
	st := &steps{log: req.Log, progress: req.Progress, mode: b.Name(), total: work.steps() + 1, images: work.images(), began: time.Now()}
	if t.Build != nil {
		st.total++
	}
	defer func() { result.Steps = st.ended() }()
	result.Images = map[string]model.ImageResult{}
	images, err := b.images.images(ctx, req, work, st, &result)
	if err != nil {
		return result, err
	}
	log := logstore.Indent(req.Log, "  ")
	if t.Build != nil {
		st.next(model.StepBuild, t.Service, "Building with Compose: ["+t.Service+"]")
		if err := b.build(ctx, req, log); err != nil {
			return result, err
		}
	}
	up := compose.Up{Service: t.Service, Recreate: req.again() != nil}
	if t.ImageTarget != "" {
		if up.Image, err = b.name(ctx, t, images[t.ImageTarget]); err != nil {
			return result, err
		}
		if len(req.Results) == 0 && b.stale(ctx, req) {
			up.Recreate = true
		}
	}
	req.Commit()
	st.next(model.StepStart, "", "Starting with Compose: ["+t.Service+"]")
	op, err := operation.New(ServiceNodes(b.engine, []Service{{Resource: req.Manifest.Name, Target: t, Log: log, Start: func(ctx context.Context) error { return b.up(ctx, req, up, log) }}}))
	if err != nil {
		return result, err
	}
	errs, err := op.Apply(ctx, 1)
	if err := cmp.Or(err, cmp.Or(errs...)); err != nil {
		return result, err
	}
	containers, err := compose.Containers(ctx, b.engine, t.Project.Name, t.Service)
	if err != nil {
		return result, err
	}
	for _, c := range containers {
		result.Applied = append(result.Applied, model.AppliedObject{ObjectID: model.ObjectID{Kind: "Container", Name: c.Name}, UID: c.ID, TemplateHash: c.ID,
			StartedAt: c.StartedAt})
	}
	result.Deployed = true
	st.done()
	return result, nil
}

// name tags an image that hone has built with the name in the service, for users who start the service without hone, and
// returns the name that its containers run.
func (b *Compose) name(ctx context.Context, t *model.ComposeTarget, im model.ImageResult) (string, error) {
	if t.Image != "" && t.Image != im.Local {
		if err := b.engine.Tag(ctx, im.Local, t.Image); err != nil {
			return "", err
		}
	}
	return im.Local, nil
}

// stale reports whether a container of the service has files from live updates of an earlier session, which its image
// does not show. Only the first update of a session calls it; later ones know the updates of their own session.
func (b *Compose) stale(ctx context.Context, req Request) bool {
	steps, _, ok := req.Manifest.LiveUpdateOf(req.Manifest.Compose.ImageTarget)
	if !ok {
		return false
	}
	containers, err := compose.Containers(ctx, b.engine, req.Manifest.Compose.Project.Name, req.Manifest.Compose.Service)
	if err != nil {
		return false // starting the service will hit the same error
	}
	for _, c := range containers {
		changes, err := b.engine.ContainerChanges(ctx, c.ID)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(changes, func(file string) bool { return synced(steps.Syncs, file) }) {
			logstore.Infof(req.Log, "Recreating container %s, which has files from an earlier session", c.Name)
			return true
		}
	}
	return false
}

// synced reports whether live updates write to a path in a container.
func synced(syncs []model.Sync, file string) bool {
	below := func(dir string) bool { return file == dir || strings.HasPrefix(file, strings.TrimSuffix(dir, "/")+"/") }
	return !below(path.Dir(protocol.Path)) && slices.ContainsFunc(syncs, func(s model.Sync) bool { return below(path.Clean(s.RemotePath)) })
}

// up starts the containers, with their process under the synclet if live updates restart it.
func (b *Compose) up(ctx context.Context, req Request, up compose.Up, log logstore.Logger) error {
	t := req.Manifest.Compose
	if !req.Manifest.Supervised() {
		return b.runner.Up(ctx, t.Project, up, log)
	}
	supervised, why := b.supervised(ctx, t, up)
	if why == nil {
		why = b.install(ctx, t, supervised, log)
		if why == nil {
			supervised.NoStart, supervised.Recreate = false, false // install did that
			return b.runner.Up(ctx, t.Project, supervised, log)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	logstore.Warnf(req.Log, "WARNING: restart_container() will restart the whole container of %s, not only its process: %s", t.Service, problem.Text(why))
	return b.runner.Up(ctx, t.Project, up, log)
}

// supervised returns how to start a service so that its process runs under the synclet: the synclet's command, followed
// by the service's own.
func (b *Compose) supervised(ctx context.Context, t *model.ComposeTarget, up compose.Up) (compose.Up, error) {
	im, found, err := b.engine.Inspect(ctx, up.Image)
	if err != nil {
		return up, err
	}
	if !found {
		return up, fmt.Errorf("the engine does not have image %s", up.Image)
	}
	entrypoint, command := commandOfService(t, im)
	if len(entrypoint)+len(command) == 0 {
		return up, problem.New(fmt.Sprintf("neither service %s nor its image defines a command", t.Service), "")
	}
	up.Entrypoint = slices.Concat([]string{protocol.Path, "run", "--"}, entrypoint)
	up.Command = command
	return up, nil
}

// commandOfService returns the command of a service's containers as the engine composes it: an entrypoint in the service
// drops the image's command.
func commandOfService(t *model.ComposeTarget, im docker.Image) (entrypoint, command []string) {
	entrypoint, command = t.Entrypoint, t.Command
	if len(entrypoint) > 0 {
		return entrypoint, command
	}
	if len(command) == 0 {
		command = im.Cmd
	}
	if entrypoint == nil {
		entrypoint = im.Entrypoint
	}
	return entrypoint, command
}

// install creates the containers without starting them, and puts the program into those that do not run: that works with
// any image and any user. Running containers have it already.
func (b *Compose) install(ctx context.Context, t *model.ComposeTarget, up compose.Up, log logstore.Logger) error {
	info, err := b.engine.Ping(ctx)
	if err != nil {
		return err
	}
	archive, err := synclet.Archive(info.Arch)
	if err != nil {
		return err
	}
	up.NoStart = true
	if err := b.runner.Up(ctx, t.Project, up, log); err != nil {
		return err
	}
	containers, err := compose.Containers(ctx, b.engine, t.Project.Name, t.Service)
	if err != nil {
		return err
	}
	for _, c := range containers {
		if c.Running() || c.Status == "restarting" {
			continue
		}
		if err := b.engine.CopyTo(ctx, c.ID, "/", archive()); err != nil {
			return fmt.Errorf("put the synclet into container %s: %w", c.Name, err)
		}
	}
	return nil
}
