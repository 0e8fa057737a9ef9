package liveupdate

import (
	"context"
	"io"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// PodExecer runs commands in the containers of pods, as k8s.Client does.
type PodExecer interface {
	// Exec runs a command until it ends. A non-zero exit is an error whose chain holds a *k8s.ExitError or an error with
	// a method ExitCode() int; any other error means that the command may or may not have run. After Exec has returned,
	// nothing writes to the outputs.
	Exec(ctx context.Context, req k8s.ExecRequest) error
}

// ExecUpdater applies plans through Kubernetes exec, with the tar of the image. With sh it needs fewer execs, and learns
// how each ended even over an unreliable connection. It cannot restart containers.
type ExecUpdater struct {
	Pods PodExecer
	// Runs, unless nil, learns of each run that is updated.
	Runs *Runs
}

var _ Updater = ExecUpdater{}

// Update implements Updater: one exec for deletes and copies together, then one for each command, and one for the
// restart of the process.
func (u ExecUpdater) Update(ctx context.Context, c model.ContainerRef, plan Plan, log logstore.Logger) (Report, error) {
	if plan.Restart {
		return Report{}, &FallBackError{Reason: "restart_container() is not possible in Kubernetes"}
	}
	Announce(log, c, plan)
	if err := u.noteRun(ctx, c); err != nil {
		return Report{}, err
	}
	bytes := contents(plan.Copies)
	cmds := &commander{pods: u.Pods, c: c}
	err := attended(copying(c), log, func(h *hearing) error {
		cmds.heard = h
		return cmds.files(ctx, plan)
	})
	if err != nil {
		return Report{}, err
	}
	r := applied(plan, bytes)
	err = r.Run(ctx, c, plan.Runs, log, func(ctx context.Context, cmd model.Cmd) error { return cmds.user(ctx, cmd, log) })
	if err == nil && plan.RestartProcess {
		err = r.restartProcess(ctx, c, log, func(argv []string, said *clip) error {
			return cmds.run(ctx, program{argv: argv, said: said})
		})
	}
	return r, err
}

// Run runs one command in the container, with its output in the log.
func (u ExecUpdater) Run(ctx context.Context, c model.ContainerRef, cmd model.Cmd, log logstore.Logger) error {
	return (&commander{pods: u.Pods, c: c}).user(ctx, cmd, log)
}

// user runs a command of the user at most once.
func (r *commander) user(ctx context.Context, cmd model.Cmd, log logstore.Logger) error {
	return attended(running(r.c, cmd), log, func(log *hearing) error {
		return persist(ctx, undelivered, func() error {
			return r.run(ctx, program{
				argv:   cmd.Argv,
				stdout: logstore.WriterAt(log, logstore.LevelInfo), said: logstore.WriterAt(log, logstore.LevelInfo),
			})
		})
	})
}

// untar unpacks its input at the root; removeAndUntar first removes its arguments.
var untar = []string{"tar", "-C", "/", "-x", "-f", "-"}

const (
	// removeAndUntar surveys the container before it unpacks: the answer determines the content of the archive.
	removeAndUntar = remove + "\nset --\n" + survey + "\ntar -C / -x -f -"
	// codeRemove is the exit code of scripts in which rm failed, not a later command.
	codeRemove     = 90
	codeRemoveText = "90"
)

// files carries out the deletes and the copies.
func (r *commander) files(ctx context.Context, plan Plan) error {
	step, deleting := copying(r.c), "delete files in "+r.c.Name
	p, err := pack(plan.Copies)
	if err != nil {
		return &InfraError{Step: step, Err: err}
	}
	groups := deletions(r.c, plan.Deletes)
	removeAll := func(groups [][]string) error {
		for _, paths := range groups {
			output, err := r.tool(ctx, append([]string{"sh", "-c", remove, "sh"}, paths...), nil)
			if err != nil {
				return stepError(ctx, deleting, map[bool]string{true: "sh", false: "rm"}[r.bare], err, output)
			}
		}
		return nil
	}
	if len(plan.Copies) == 0 {
		return removeAll(groups)
	}
	most := max(0, len(groups)-1) // the last ones travel with the copies
	if err := removeAll(groups[:most]); err != nil {
		return err
	}
	said, output, err := r.removeAndUntar(ctx, slices.Concat(groups[most:]...), plan.Copies)
	if code, exited := failed(err); exited && code == codeRemove {
		return stepError(ctx, deleting, "rm", err, output)
	}
	if !cannotStart(err) || ctx.Err() != nil {
		return copied(ctx, step, err, output)
	}
	// The image has no shell or no tar: a separate command for each of the two shows which.
	r.bare = !said
	if r.bare {
		if err := unsurveyed.refusal(r.c.Syncs, plan.Copies); err != nil {
			return err
		}
	}
	if err := removeAll(groups[most:]); err != nil {
		return err
	}
	output, err = r.tool(ctx, untar, p.send)
	return copied(ctx, step, err, output)
}

// removeAndUntar runs the script of that name, and returns whether the shell reported its end.
func (r *commander) removeAndUntar(ctx context.Context, paths []string, copies []Copy) (said bool, output string, err error) {
	err = persist(ctx, transient, func() error {
		var complaint clip
		defer func() { output = complaint.String() }()
		return converse(r.c.Syncs, copies, func(in io.Reader, out io.Writer) error {
			var err error
			said, err = r.script(ctx, program{
				argv: saying(removeAndUntar, paths...), stdout: out, said: &complaint,
				feed: func(run func(io.Reader) error) error { return run(in) },
			})
			return err
		})
	})
	return said, output, err
}

func copied(ctx context.Context, step string, err error, output string) error {
	if err == nil {
		return nil
	}
	return stepError(ctx, step, "tar", err, output)
}

// failed returns the exit code behind err, if there is one.
func failed(err error) (code int, exited bool) {
	if err == nil {
		return 0, false
	}
	return exitCode(err)
}

// tool runs a program that may be run again, and returns its error output.
func (r *commander) tool(ctx context.Context, argv []string, feed func(func(io.Reader) error) error) (output string, err error) {
	err = persist(ctx, transient, func() error {
		var said clip
		defer func() { output = said.String() }()
		return r.run(ctx, program{argv: argv, said: &said, feed: feed})
	})
	return output, err
}
