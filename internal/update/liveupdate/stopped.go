package liveupdate

import (
	"archive/tar"
	"context"
	"fmt"
	"path"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// A container of Compose that has crashed keeps its files: it would start again with the mistake. The engine puts the mend into it
// while it stands, and then starts it. No program can run in it meanwhile, so there is no way to delete a file or to run a step. A link
// that a copy would go through refuses it: only a program could tell where it leads.

// intoStopped applies a plan to a container that stands, and starts it.
func (u ContainerUpdater) intoStopped(ctx context.Context, c model.ContainerRef, plan Plan, log logstore.Logger) (Report, error) {
	if len(plan.Runs) > 0 {
		return Report{}, &FallBackError{Reason: fmt.Sprintf("container %s has crashed, and no command runs in it", c.Pod)}
	}
	bytes, found := contents(plan.Copies), entries{u.Engine, c.ID, map[string]*tar.Header{}}
	err := attended(copying(c), log, func(h *hearing) error {
		for _, p := range plan.Deletes {
			if there, err := found.at(ctx, p); err != nil {
				return stepError(ctx, copying(c), "copy", err, "")
			} else if there != nil {
				return &FallBackError{Reason: fmt.Sprintf("container %s has crashed, and no command deletes %s in it", c.Pod, p)}
			}
		}
		known, err := found.survey(ctx, c.Syncs, plan.Copies)
		if err != nil {
			return stepError(ctx, copying(c), "copy", err, "")
		}
		return u.unpack(ctx, c, known, plan.Copies, h)
	})
	if err != nil {
		return Report{}, err
	}
	r := applied(plan, bytes)
	err = u.restart(ctx, c, &r, log)
	return r, err
}

// entries looks at paths in a container that stands.
type entries struct {
	engine Engine
	id     string
	known  map[string]*tar.Header
}

// at returns the header of a path, nil if there is none.
func (e entries) at(ctx context.Context, p string) (*tar.Header, error) {
	if h, ok := e.known[p]; ok {
		return h, nil
	}
	h, err := e.engine.Entry(ctx, e.id, p)
	if err == nil {
		e.known[p] = h
	}
	return h, err
}

// survey returns the owners of the copies' paths, and the links on the way to them.
func (e entries) survey(ctx context.Context, syncs []model.Sync, copies []Copy) (surveyed, error) {
	s := surveyed{owners: owners{uid: 0, of: map[string]model.Owner{}}, leads: map[string]string{}, full: map[string]bool{}}
	for _, c := range copies {
		to := destination(syncs, c.Remote)
		for p := c.Remote; p != "/"; p = path.Dir(p) {
			h, err := e.at(ctx, p)
			if err != nil {
				return s, err
			}
			if h == nil {
				continue
			}
			s.of[p] = model.Owner{UID: uint32(h.Uid), GID: uint32(h.Gid), Set: true} //nolint:gosec // ids of Linux
			if p == c.Remote {
				s.full[p] = h.Typeflag == tar.TypeDir && !c.IsDir
				continue
			}
			if h.Typeflag == tar.TypeSymlink {
				s.leads[p] = ""
			}
			if p == to || !inside(to, p) {
				break
			}
		}
	}
	return s, nil
}

// restart kills the processes of a container, if it has any, and starts it.
func (u ContainerUpdater) restart(ctx context.Context, c model.ContainerRef, r *Report, log logstore.Logger) error {
	logstore.Debugf(log, "Restarting container: [%s]", c.Name)
	step := "restart " + c.Name
	if err := Attended(step, log, func() error { return u.Engine.RestartContainer(ctx, c.ID, false) }); err != nil {
		return stepError(ctx, step, "restart", err, "")
	}
	r.Restarted = time.Now()
	return nil
}
