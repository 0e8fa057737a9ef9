package synclet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// tries is the number of attempts after which an update counts as failed: a stream may break at any time.
const tries = 3

var _ liveupdate.Updater = (*Pool)(nil)

// Update implements liveupdate.Updater: it sends all deletes and copies as one request, with the commands and the restart behind
// them, and then reads the answers. A conversation that breaks off is resumed: only the files that still differ are sent again, and
// the synclet carries out only the steps that it has not carried out yet.
func (p *Pool) Update(ctx context.Context, c model.ContainerRef, plan liveupdate.Plan, log logstore.Logger) (liveupdate.Report, error) {
	liveupdate.Announce(log, c, plan)
	t := &delivery{pool: p, container: c, plan: plan, log: log}
	defer t.finish()
	if err := t.begin(ctx); err != nil {
		return t.report, p.failed(ctx, "copy files to "+c.Name, err)
	}
	next := 0
	err := t.report.Run(ctx, c, plan.Runs, log, func(ctx context.Context, cmd model.Cmd) error {
		if t.talk.besides {
			return liveupdate.ExecUpdater{Pods: p.pods}.Run(ctx, c, cmd, log)
		}
		next++
		out := logstore.WriterAt(log, logstore.LevelInfo)
		return t.answer(ctx, func() error { return t.sent.runs[next-1].await(ctx, t.talk, out) })
	})
	if err != nil {
		return t.report, err
	}
	t.report.Restarted, err = p.restart(ctx, t, log)
	return t.report, err
}

// toRestart reports whether a plan requires a new process: the process has ended, or the plan restarts it. In a container that is
// updated for the first time, the restart also requires that files have changed: the process began with the files that were there.
func (p *Pool) toRestart(s *Conversation, plan liveupdate.Plan, changed bool) bool {
	process := s.Process()
	ended := process.Starts > 0 && !process.Running
	return ended && (plan.RestartProcess || plan.Revive) || plan.RestartProcess && (!plan.Fresh || changed)
}

// persist calls do with the conversation. If do fails with the error again, persist calls it once more with the next conversation:
// again is ErrClosed for actions that may be done twice, errUnsent for others. After the synclet was killed once, it tries only
// once more. It does not use the conversation ended, which may be nil.
func (p *Pool) persist(
	ctx context.Context, c model.ContainerRef, ended *Conversation, log logstore.Logger, again error, do func(*Conversation) error,
) error {
	s := ended
	var err error
	killed := false
	for range tries {
		if s, err = p.reach(ctx, c, s, log); err != nil {
			return err
		}
		if err = do(s); !errors.Is(err, again) || killed || ctx.Err() != nil {
			return err
		}
		killed = errors.Is(err, ErrKilled)
		<-s.Done()
	}
	return err
}

// reach is after for an update: the user is told if it takes long.
func (p *Pool) reach(ctx context.Context, c model.ContainerRef, ended *Conversation, log logstore.Logger) (s *Conversation, err error) {
	err = liveupdate.Attended("connect to "+c.Name, log, func() (err error) {
		s, err = p.after(ctx, c, ended)
		return err
	})
	return s, err
}

// failed classifies an error for the chain of updaters, and adds advice for the user.
func (p *Pool) failed(ctx context.Context, step string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", step, context.Cause(ctx))
	}
	if why := refused(err); why != nil {
		return fmt.Errorf("%s: %w", step, why)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		// The other ways write to the same disk, and a tar that runs out of room leaves torn files. A new image needs more
		// room on the node, and puts nothing into a volume.
		return &liveupdate.BlockedError{Step: step, Err: problem.Wrap(err, "the disk is full in the container",
			"Make room there, or give the volume a larger sizeLimit (the container a larger ephemeral-storage limit). The next "+
				"change tries again.")}
	case errors.Is(err, syscall.EROFS):
		err = problem.Wrap(err, "the container's files cannot be changed", "Remove readOnlyRootFilesystem from the container's "+
			"securityContext while you develop, or mount an emptyDir volume where the files go.").See("live-update/distroless")
	case cannotGive(err) != nil:
		err = cannotGive(err)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		err = problem.Wrap(err, whose(err)+" may not change its files", "Give the files to that user in the Dockerfile "+
			"(COPY --chown=…), or run the container as another user while you develop.").See("live-update")
	case errors.Is(err, ErrKilled):
		err = problem.Wrap(err, "the container could not receive the files",
			"If the container was not restarted, raise its memory limit (resources.limits.memory) while you develop.").See("live-update")
	case k8s.IsForbidden(err):
		err = forbidden(err)
	}
	return &liveupdate.InfraError{Step: step, Err: err}
}

// refused returns the reason why only a new image can bring the files, nil if another way may bring them: no other way may do a
// thing that the synclet refuses.
func refused(err error) error {
	var faults *FaultError
	if !errors.As(err, &faults) {
		return nil
	}
	for _, f := range faults.Faults {
		switch {
		case f.Text == protocol.FaultEscapes, f.Text == protocol.FaultOutside:
			return liveupdate.Escapes(f.Path)
		case f.Errno == uint64(syscall.ENOTEMPTY):
			return liveupdate.Occupied(f.Path)
		}
	}
	return nil
}

// cannotGive returns the problem of a file whose owner cannot be changed, nil for any other err.
func cannotGive(err error) error {
	var faults *FaultError
	if !errors.As(err, &faults) {
		return nil
	}
	for _, f := range faults.Faults {
		if f.Errno == uint64(syscall.EPERM) && strings.Contains(f.Text, "chown") {
			return liveupdate.CannotGive(f.Path, err)
		}
	}
	return nil
}

// whose names the user that a synclet runs as.
func whose(err error) string {
	var f *FaultError
	if !errors.As(err, &f) {
		return "the container's user"
	}
	return fmt.Sprintf("the container's user (id %d)", f.UID)
}

// forbidden adds advice for a user who may not run commands in pods.
func forbidden(err error) error {
	if _, ok := problem.Of(err); ok {
		return err
	}
	return problem.Wrap(err, "not allowed to run commands in the pod",
		`Let your user "create" the resource "pods/exec" in this namespace, or use --update-mode=image.`)
}

// restart waits for the restart that was sent with the files or, if there was none, restarts the process if the plan requires it by
// now. It returns the time at which that was done, or the zero time if there was nothing to do.
func (p *Pool) restart(ctx context.Context, t *delivery, log logstore.Logger) (done time.Time, err error) {
	c, plan := t.container, t.plan
	if plan.Restart {
		return done, &liveupdate.FallBackError{Reason: "restart_container() is not possible in Kubernetes"}
	}
	if !plan.RestartProcess && !plan.Revive {
		return done, nil
	}
	if t.sent.restart == nil {
		s, err := p.reach(ctx, c, nil, log)
		if err != nil {
			return done, p.failed(ctx, "restart the process in "+c.Name, err)
		}
		if !p.toRestart(s, plan, p.isStale(c.ID)) {
			return done, nil
		}
	}
	if err := p.restartProcess(ctx, c, t, log); errors.Is(err, errUnneeded) {
		return done, nil
	} else if err != nil {
		return done, err
	}
	return time.Now(), nil
}

// errUnneeded means that an update that was resumed no longer requires a new process.
var errUnneeded = errors.New("the process need not be restarted")

// Restart restarts the process that runs under the synclet in a container, and returns once the new one has been started.
func (p *Pool) Restart(ctx context.Context, c model.ContainerRef, log logstore.Logger) error {
	return p.restartProcess(ctx, c, nil, log)
}

// restartProcess waits for the restart that was sent with an update, if there was one, and otherwise requests it. It resumes a
// conversation that breaks off; even then the process is restarted only once.
func (p *Pool) restartProcess(ctx context.Context, c model.ContainerRef, t *delivery, log logstore.Logger) error {
	began := time.Now()
	err := ErrClosed
	step := protocol.Step{Sequence: newSequence()}
	if t != nil && t.sent.restart != nil {
		err = t.answer(ctx, func() error {
			if t.sent.restart == nil {
				return errUnneeded
			}
			return t.sent.restart.await(ctx, t.talk)
		})
		step = protocol.Step{Sequence: t.key, Number: uint64(len(t.sent.runs))}
	}
	if errors.Is(err, ErrClosed) && ctx.Err() == nil {
		err = p.persist(ctx, c, nil, log, ErrClosed, func(s *Conversation) error {
			over := s.attend(c.Name, log)
			err := s.Restart(ctx, step, liveupdate.RestartGrace)
			over(!errors.Is(err, ErrClosed))
			return err
		})
	}
	var notStarted *NotStartedError
	switch {
	case errors.Is(err, errUnneeded):
		return err
	case errors.Is(err, ErrNoSupervisor):
		return liveupdate.Unsupervised(c)
	case errors.As(err, &notStarted):
		return &liveupdate.StartError{Container: c, Reason: notStarted.Reason}
	case err != nil:
		return p.failed(ctx, "restart the process in "+c.Name, err)
	}
	p.setStale(c.ID, false)
	logstore.Debugf(log, "Restarted the process in %s in %s", c.Name, round(time.Since(began)))
	return nil
}

func round(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(10 * time.Microsecond)
}
