package liveupdate

import (
	"context"
	"fmt"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// Updater applies a plan to one container.
type Updater interface {
	// Update deletes, copies, runs and restarts the process or the container, in this order, and logs each step; the
	// output of the user's commands goes to the log too. It stops at the first failure; the report shows how far it got.
	// Applying a plan twice does no harm beyond running its commands twice. For the errors see Classify.
	Update(ctx context.Context, c model.ContainerRef, plan Plan, log logstore.Logger) (Report, error)
}

// shown bounds how many paths of an update the log lists.
const shown = 50

// Announce logs the changes that a plan will make to a container\'s files, as details.
func Announce(log logstore.Logger, c model.ContainerRef, plan Plan) {
	if n := len(plan.Copies); n > 0 {
		logstore.Debugf(log, "Will copy %d file(s) to container: [%s]", n, c.Name)
		for _, cp := range plan.Copies[:min(n, shown)] {
			logstore.Debugf(log, "- '%s' --> '%s'", cp.Local, cp.Remote)
		}
		more(log, n)
	}
	if n := len(plan.Deletes); n > 0 {
		logstore.Debugf(log, "Will delete %d file(s) from container: [%s]", n, c.Name)
		for _, d := range plan.Deletes[:min(n, shown)] {
			logstore.Debugf(log, "- '%s'", d)
		}
		more(log, n)
	}
}

func more(log logstore.Logger, n int) {
	if n > shown {
		logstore.Debugf(log, "  … and %d more", n-shown)
	}
}

// RunAll runs the commands one after the other. Each gets the container's own working folder.
func RunAll(
	ctx context.Context, c model.ContainerRef, runs []model.Run, log logstore.Logger,
	exec func(context.Context, model.Cmd) error,
) error {
	for _, run := range runs {
		if !run.Cmd.EchoOff {
			logstore.Infof(log, "Running cmd: %s", run.Cmd)
		}
		if err := exec(ctx, run.Cmd); err != nil {
			return runError(ctx, c, run.Cmd, err)
		}
	}
	return nil
}

// copying and running are the names of steps.
func copying(c model.ContainerRef) string { return "copy files to " + c.Name }

func running(c model.ContainerRef, cmd model.Cmd) string {
	return fmt.Sprintf("run %s in %s", cmd.Quoted(), c.Name)
}

// runError distinguishes a failing command of the user from a container that disappeared while it ran.
func runError(ctx context.Context, c model.ContainerRef, cmd model.Cmd, err error) error {
	step := running(c, cmd)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", step, ctx.Err())
	}
	code, exited := exitCode(err)
	if !exited {
		return &InfraError{Step: step, Err: transportProblem(err)}
	}
	if code == codeKilled {
		return &InfraError{Step: step, Err: fmt.Errorf("the container or the command was killed: %w", err)}
	}
	return &RunStepError{Cmd: cmd, Code: code, Container: c}
}
