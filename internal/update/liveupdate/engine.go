package liveupdate

import (
	"archive/tar"
	"context"
	"io"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// Engine is a container engine that can change its running containers.
type Engine interface {
	// ContainerExec runs argv until it ends and writes all output to out. A nil stdin is empty. A non-zero exit is an
	// error with a method ExitCode() int somewhere in its chain.
	ContainerExec(ctx context.Context, containerID string, argv []string, stdin io.Reader, out io.Writer) error
	// Entry returns the header of a path in a container, which need not run; nil if there is no such path.
	Entry(ctx context.Context, containerID, path string) (*tar.Header, error)
	// CopyTo unpacks a tar stream below a folder of the container, without a program in it. It returns once nothing
	// reads the stream.
	CopyTo(ctx context.Context, containerID, dir string, tar io.Reader) error
	// RestartContainer stops and starts the container.
	RestartContainer(ctx context.Context, containerID string, gently bool) error
}

// ContainerUpdater applies plans through a container engine's API. Files need no program in the image; deletions need
// sh and rm.
type ContainerUpdater struct {
	Engine Engine
	// Runs, unless nil, learns of each container of a pod that is updated, and Running reports whether one still runs. Each run of such a
	// container has an id of its own.
	Runs    *Runs
	Running func(ctx context.Context, id string) bool
}

var _ Updater = ContainerUpdater{}

// Update implements Updater.
func (u ContainerUpdater) Update(ctx context.Context, c model.ContainerRef, plan Plan, log logstore.Logger) (Report, error) {
	Announce(log, c, plan)
	if u.Runs != nil && c.Namespace != "" {
		u.Runs.note(c.ID, func(ctx context.Context) bool { return u.Running(ctx, c.ID) })
	}
	if c.Stopped {
		return u.intoStopped(ctx, c, plan, log)
	}
	bytes := contents(plan.Copies)
	err := attended(copying(c), log, func(h *hearing) error {
		if err := u.remove(ctx, c, plan.Deletes); err != nil {
			return err
		}
		return u.copy(ctx, c, plan.Copies, h)
	})
	if err != nil {
		return Report{}, err
	}
	r := applied(plan, bytes)
	err = r.Run(ctx, c, plan.Runs, log, func(ctx context.Context, cmd model.Cmd) error {
		return attended(running(c, cmd), log, func(log *hearing) error {
			return persist(ctx, undelivered, func() error {
				return u.Engine.ContainerExec(ctx, c.ID, cmd.Argv, nil, logstore.WriterAt(log, logstore.LevelInfo))
			})
		})
	})
	if err == nil && plan.RestartProcess {
		err = r.restartProcess(ctx, c, log, func(argv []string, said *clip) error {
			return u.Engine.ContainerExec(ctx, c.ID, argv, nil, said)
		})
	}
	if err != nil || !plan.Restart {
		return r, err
	}
	err = u.restart(ctx, c, &r, log)
	return r, err
}

func (u ContainerUpdater) remove(ctx context.Context, c model.ContainerRef, paths []string) error {
	for _, group := range deletions(c, paths) {
		var said clip
		err := persist(ctx, transient, func() error {
			said = clip{}
			return u.Engine.ContainerExec(ctx, c.ID, append([]string{"sh", "-c", remove, "sh"}, group...), nil, &said)
		})
		if err != nil {
			return stepError(ctx, "delete files in "+c.Name, "rm", err, said.String())
		}
	}
	return nil
}

func (u ContainerUpdater) copy(ctx context.Context, c model.ContainerRef, copies []Copy, h *hearing) error {
	if len(copies) == 0 {
		return nil
	}
	known := ask(ctx, c.Syncs, copies, func(ctx context.Context, argv []string, in io.Reader, out io.Writer) error {
		return u.Engine.ContainerExec(ctx, c.ID, argv, in, out)
	})
	return u.unpack(ctx, c, known, copies, h)
}

// unpack sends copies to a container about which some facts are known.
func (u ContainerUpdater) unpack(ctx context.Context, c model.ContainerRef, known surveyed, copies []Copy, h *hearing) error {
	if len(copies) == 0 {
		return nil
	}
	step := copying(c)
	if err := known.refusal(c.Syncs, copies); err != nil {
		return err
	}
	owned, err := known.give(copies)
	if err != nil {
		return &InfraError{Step: step, Err: err}
	}
	p, err := pack(owned)
	if err != nil {
		return &InfraError{Step: step, Err: err}
	}
	err = persist(ctx, transient, func() error {
		return p.send(func(archive io.Reader) error { return u.Engine.CopyTo(ctx, c.ID, "/", h.through(archive)) })
	})
	if err != nil {
		return stepError(ctx, step, "copy", err, "")
	}
	return nil
}
