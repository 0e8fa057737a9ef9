package liveupdate

import (
	"context"
	"io"
	"slices"

	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// PodExecer runs commands in the containers of pods.
type PodExecer interface {
	// Exec runs argv to its end. A nil stdin is empty. A non-zero exit is an error whose chain holds a *k8s.ExitError or
	// something with a method ExitCode() int; any other error means that the command may or may not have run. Once it
	// has returned nothing writes to stdout and stderr any more.
	Exec(ctx context.Context, namespace, pod, container string, argv []string, stdin io.Reader, stdout, stderr io.Writer) error
}

// ExecUpdater applies plans through Kubernetes exec, with the tar of the image. It needs sh only where it saves an
// exec, and cannot restart containers.
type ExecUpdater struct{ Pods PodExecer }

var _ Updater = ExecUpdater{}

// Update implements Updater: one exec for deletes and copies together, then one for each command, and one for the
// restart of the process.
func (u ExecUpdater) Update(ctx context.Context, c Container, plan Plan, log logstore.Logger) (Report, error) {
	if plan.Restart {
		return Report{}, &FallBackError{Reason: "restart_container() is not possible in Kubernetes"}
	}
	Announce(log, c, plan)
	bytes := contents(plan.Copies)
	if err := u.files(ctx, c, plan); err != nil {
		return Report{}, err
	}
	r := applied(plan, bytes)
	err := r.Run(ctx, c, plan.Runs, log, func(ctx context.Context, cmd model.Cmd) error { return u.Run(ctx, c, cmd, log) })
	if err == nil && plan.RestartProcess {
		err = r.restartProcess(ctx, c, log, func(argv []string, said *clip) error {
			return u.Pods.Exec(ctx, c.Namespace, c.Pod, c.Name, argv, nil, io.Discard, said)
		})
	}
	return r, err
}

// Run runs one command in the container, with its output in the log.
func (u ExecUpdater) Run(ctx context.Context, c Container, cmd model.Cmd, log logstore.Logger) error {
	return retry(ctx, undelivered, func() error {
		return u.Pods.Exec(ctx, c.Namespace, c.Pod, c.Name, cmd.Argv, nil,
			logstore.WriterAt(log, logstore.LevelInfo), logstore.WriterAt(log, logstore.LevelInfo))
	})
}

// untar unpacks what comes in at the root; removeAndUntar first removes its arguments.
var untar = []string{"tar", "-C", "/", "-x", "-f", "-"}

const (
	// deliver says who owns what before it unpacks, so that the archive can tell who is to own what is in it, and how tar has
	// ended after that.
	deliver        = listOwners + "\ntar -C / -x -f -\nc=$?\necho \"tar $c\"\nexit $c"
	removeAndUntar = `[ $# = 0 ] || rm -rf -- "$@" || exit ` + codeRemoveText + "\nset --\n" + deliver
	// codeRemove is the exit code by which removeAndUntar tells that rm failed, not tar.
	codeRemove     = 90
	codeRemoveText = "90"
)

// files carries out the deletes and the copies.
func (u ExecUpdater) files(ctx context.Context, c Container, plan Plan) error {
	step := "copy files to " + c.Name
	p, err := pack(plan.Copies)
	if err != nil {
		return &InfraError{Step: step, Err: err}
	}
	groups := chunks(plan.Deletes)
	if len(groups) <= 1 && len(plan.Copies) > 0 {
		argv := append([]string{"sh", "-c", removeAndUntar, "sh"}, slices.Concat(groups...)...)
		output, err := u.converse(ctx, c, argv, plan.Copies)
		if code, exited := failed(err); exited && code == codeRemove {
			return stepError(ctx, "delete files in "+c.Name, "rm", err, output)
		}
		if !cannotStart(err) || ctx.Err() != nil {
			return u.copied(ctx, step, err, output)
		}
		// No shell in the image, or no tar: one exec for each of the two will tell.
	}
	for _, paths := range groups {
		output, err := u.tool(ctx, c, append([]string{"rm", "-rf", "--"}, paths...), nil)
		if err != nil {
			return stepError(ctx, "delete files in "+c.Name, "rm", err, output)
		}
	}
	if len(plan.Copies) == 0 {
		return nil
	}
	output, err := u.send(ctx, c, untar, p)
	return u.copied(ctx, step, err, output)
}

// converse runs removeAndUntar.
func (u ExecUpdater) converse(ctx context.Context, c Container, argv []string, copies []Copy) (output string, err error) {
	err = retry(ctx, transient, func() error {
		var said clip
		defer func() { output = said.String() }()
		return converse(copies, func(in io.Reader, out io.Writer) error {
			return u.Pods.Exec(ctx, c.Namespace, c.Pod, c.Name, argv, in, out, &said)
		})
	})
	return output, err
}

func (u ExecUpdater) copied(ctx context.Context, step string, err error, output string) error {
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

// send runs argv with the archive as its input.
func (u ExecUpdater) send(ctx context.Context, c Container, argv []string, p parcel) (output string, err error) {
	return u.tool(ctx, c, argv, &p)
}

// tool runs a program that may be run again, and returns what it said.
func (u ExecUpdater) tool(ctx context.Context, c Container, argv []string, p *parcel) (output string, err error) {
	err = retry(ctx, transient, func() error {
		var said clip
		defer func() { output = said.String() }()
		run := func(stdin io.Reader) error {
			return u.Pods.Exec(ctx, c.Namespace, c.Pod, c.Name, argv, stdin, io.Discard, &said)
		}
		if p == nil {
			return run(nil)
		}
		return p.send(run)
	})
	return output, err
}
