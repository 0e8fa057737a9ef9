// Package shell holds hone shell, which opens a shell where a resource runs: in a container of the cluster or of the engine, or in
// a folder of this machine.
package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/pkg/api"
)

// options are the flags of hone shell.
type options struct {
	target         flags.Session
	pod, container string
	// resource is the resource where a program names it.
	resource string
}

// New returns the command.
func New(g *command.Global) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "shell [RESOURCE] [-- COMMAND ARGS…]",
		Short: "Open a shell where a resource runs",
		Long: `Opens a shell in a container of a resource: bash if the container has it, else sh. For a resource that runs on this machine, it is
the shell of SHELL, in the folder and with the environment of the resource. RESOURCE may be left out if only one has a container.

Of several pods, hone takes the newest that is ready; of several containers, the one that live updates go to, then the one that
the pod's annotation kubectl.kubernetes.io/default-container names, then the first that is neither a sidecar nor an init
container.

With COMMAND, hone runs that instead of a shell, without interpreting it. Input is passed on, also from a pipe, and hone exits
with the exit code of the command. The command has a terminal if hone's input and output are one.`,
		Example: "  hone shell api\n  hone shell api -c proxy\n  hone shell api -- ls -l /app\n  hone shell db -- psql -U app < schema.sql",
		Args:    cobra.ArbitraryArgs, // RunE checks them
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return err
			}
			resource, argv := split(cmd, args)
			return o.run(cmd.Context(), g, cmp.Or(resource, o.resource), argv)
		},
	}
	o.target.Add(c)
	c.Flags().StringVarP(&o.container, "container", "c", "", "container to use")
	c.Flags().StringVar(&o.pod, "pod", "", "pod to use")
	c.Flags().StringVar(&o.resource, "resource", "", "")
	_ = c.Flags().MarkHidden("resource") // for names that look like a flag
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return o.target.CompleteResources(cmd, args, word)
	}
	_ = c.RegisterFlagCompletionFunc("container", o.completing(func(c api.ShellContainer) string { return c.Container }))
	_ = c.RegisterFlagCompletionFunc("pod", o.completing(func(c api.ShellContainer) string { return c.Pod }))
	return c
}

// check checks that there is at most one resource before "--".
func check(cmd *cobra.Command, args []string) error {
	before := args
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		if before = args[:at]; at == len(args) {
			return problem.New("there is no command after --", "write: hone shell RESOURCE -- COMMAND, or leave out the --")
		}
	}
	if len(before) > 1 {
		return problem.New("a shell runs in one resource", fmt.Sprintf("to run a command there, write: hone shell %s -- %s", before[0], strings.Join(args[1:], " ")))
	}
	return nil
}

// split returns the resource and the command.
func split(cmd *cobra.Command, args []string) (resource string, argv []string) {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		args, argv = args[:at], args[at:]
	}
	return strings.Join(args, ""), argv
}

func (o *options) run(ctx context.Context, g *command.Global, resource string, argv []string) error {
	session, err := o.target.Find(ctx)
	if err != nil {
		return err
	}
	at, err := session.Shell(ctx, url.Values{"resource": {resource}, "pod": {o.pod}, "container": {o.container}})
	if err != nil {
		return err
	}
	w := work{global: g, at: at, argv: argv, here: session.Session.Socket != ""}
	switch {
	case at.Folder != nil:
		return w.inFolder(ctx, *at.Folder)
	case len(at.Containers) == 0:
		return fmt.Errorf("%s names no container of %s", session.Where(), at.Resource)
	case at.Cluster != nil:
		return w.inPod(ctx, at.Containers[0], *at.Cluster)
	}
	return w.inEngine(ctx, at.Containers[0])
}

// completing completes the names of containers or of pods.
func (o *options) completing(name func(api.ShellContainer) string) flags.Completion {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := flags.CompletionContext(cmd)
		defer cancel()
		o.target.Settle(cmd)
		session, err := o.target.Find(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		at, err := session.Shell(ctx, url.Values{"resource": {strings.Join(args[:min(1, len(args))], "")}})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		seen := map[string]bool{}
		for _, c := range at.Containers {
			if n := name(c); !seen[n] {
				seen[n] = true
				names = append(names, n)
			}
		}
		return flags.Matching(names, "", word, nil), cobra.ShellCompDirectiveNoFileComp
	}
}

// work is one shell or command.
type work struct {
	global *command.Global
	at     api.Shell
	// argv is the command; none means a shell.
	argv []string
	// here is set if the session runs on this machine.
	here bool
}

// title names a container in messages.
func title(c api.ShellContainer) string {
	if c.Namespace == "" {
		return "container " + c.Pod
	}
	return fmt.Sprintf("container %s of pod %s", c.Container, c.Pod)
}

// greet tells the user where a shell is.
func (w *work) greet(s *streams, where string) {
	if s.tty && len(w.argv) == 0 {
		_, _ = fmt.Fprintf(command.ForTerminal(s.out), "Shell of %s in %s. Exit or Ctrl-D ends it.\n", w.at.Resource, where)
	}
}

// exited returns the error for the end of a shell or a command with an exit code. Unless it was killed, the user's program has
// reported the reason itself.
func (w *work) exited(code int, where string) error {
	err := fmt.Errorf("exit code %d", code)
	if code == killed && len(w.argv) == 0 {
		return command.WithCode(problem.New(fmt.Sprintf("the shell in %s was killed", where),
			fmt.Sprintf("the container has probably ended; hone shell %s opens a new one", w.at.Resource)), code)
	}
	return command.AlreadyPrinted(err, code)
}

// killed is the exit code of a process that SIGKILL has ended.
const killed = 137

// missing returns the problem of a container that does not have the command, or no shell.
func (w *work) missing(where, debug string, code int) error {
	if len(w.argv) > 0 {
		p := problem.New(fmt.Sprintf("%s has no command %q", where, w.argv[0]), "write the command as it is called there; shell syntax needs a shell: -- sh -c 'COMMAND'")
		if code == notExecutable {
			p = problem.New(fmt.Sprintf("%s cannot execute %q", where, w.argv[0]), "choose a program that is executable there")
		}
		return command.WithCode(p, code)
	}
	return command.WithCode(problem.New(where+" has no shell: neither bash nor sh is in its image", debug).See("live-update/distroless"), code)
}

// notExecutable is the exit code for a file that cannot be executed.
const notExecutable = 126

// lost returns the problem of a connection that was lost.
func (w *work) lost(err error, where string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := problem.Of(err); ok {
		return err
	}
	return problem.Wrap(err, "lost the connection to "+where, fmt.Sprintf("hone describe uiresource %s shows its state; hone shell %s connects again", w.at.Resource, w.at.Resource))
}

// shellScript starts the best shell that a container has.
const shellScript = `command -v bash >/dev/null 2>&1 && exec bash; exec sh`

// or returns the command, or the given one in place of a shell.
func (w *work) or(shell ...string) []string {
	if len(w.argv) > 0 {
		return w.argv
	}
	return shell
}
