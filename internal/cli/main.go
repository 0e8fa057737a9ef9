// Package cli is hone's command line: it gathers the commands, runs the requested one, and is the only place where errors
// are printed.
//
// # Concurrency
//
// Main owns the signal handler. The first interrupt asks the running command to stop, the second ends the process at once.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/editor"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/crash"
	"github.com/hone-dev/hone/internal/cli/mcp"
	"github.com/hone-dev/hone/internal/cli/object"
	"github.com/hone-dev/hone/internal/cli/self"
	"github.com/hone-dev/hone/internal/cli/session"
	"github.com/hone-dev/hone/internal/cli/tiltfiles"
	"github.com/hone-dev/hone/internal/cli/up"
	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// oneSignal is the time within which signals count as one: a shell and make both pass on the same interrupt.
const oneSignal = 500 * time.Millisecond

// Main runs the command line and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	if code, attended := k8s.PluginMain(args); attended {
		return code
	}
	if crash.Main(args) || process.GuardMain(args) {
		return command.ExitOK
	}
	defer crash.Watch()()
	stdout, stderr = command.ForTerminal(stdout), command.ForTerminal(stderr)
	guard := command.NewTerminalGuard()
	defer guard.End()
	g := &command.Global{Args: args, Stdout: stdout, Stderr: stderr, Terminal: guard}
	last := g.Printer(stdout, stderr)
	defer bug.Take(func(r *bug.Report) { last.Fail(r.Error() + "\n\n" + r.Stack) })()
	if guard.Repaired != "" {
		last.Write(logstore.LevelWarn, guard.Said())
	}
	ctx, stop := interruptible(context.Background(), guard) // the root of all contexts
	defer stop()
	root := newRoot(g)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := execute(ctx, root)
	code := command.ExitCode(ctx, err)
	if code != command.ExitOK && code != command.ExitInterrupted && !command.WasPrinted(err) {
		last.Fail(problem.Text(err))
	}
	return code
}

// execute runs the requested command. A panic of the command is reported, and is an error that was printed.
func execute(ctx context.Context, root *cobra.Command) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = command.AlreadyPrinted(bug.Caught("run the command", p), command.ExitFailure)
		}
	}()
	return root.ExecuteContext(ctx)
}

// interruptible returns a context that the first interrupt, termination or loss of the terminal cancels; the second restores
// the terminal and exits at once. Interrupts that are meant for the user's editor do not count, and neither does the loss of the
// terminal if the command continues without it.
func interruptible(parent context.Context, guard *command.TerminalGuard) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it, so that the process keeps running
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		var first time.Time
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				switch {
				case s == os.Interrupt && editor.TakesInterrupts():
					continue
				case s == syscall.SIGHUP && guard.OutlivesHangup():
					continue
				}
				if first.IsZero() {
					first = time.Now()
				}
				if time.Since(first) > oneSignal {
					guard.Restore()
					os.Exit(command.ExitInterrupted)
				}
				cancel()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

func newRoot(g *command.Global) *cobra.Command {
	root := &cobra.Command{
		Use:           "hone",
		Short:         "Keeps a Kubernetes cluster in step with your source tree, in milliseconds",
		SilenceUsage:  true,
		SilenceErrors: true,
		// Not by a template: they keep every method of every type in the program.
		Version: strings.TrimPrefix(command.VersionText(), "hone "),
	}
	root.PersistentFlags().BoolVarP(&g.Debug, "debug", "d", false, "log hone's own work to a file, and show the call stack of Tiltfile errors")
	root.PersistentFlags().BoolVarP(&g.Verbose, "verbose", "v", false, "like --debug, with more detail")
	root.PersistentFlags().Int("klog", 0, "") // a flag of Tilt, which shows the messages of its Kubernetes client; hone's debug log has them
	_ = root.PersistentFlags().MarkHidden("klog")
	for _, commands := range []func(*command.Global) []*cobra.Command{up.Commands, session.Commands, object.Commands, mcp.Commands, tiltfiles.Commands, self.Commands} {
		root.AddCommand(commands(g)...)
	}
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			command.Group(c)
		case "dump":
			c.AddCommand(self.ReferenceCommands(g)...)
		}
	}
	command.ExplainUsage(root)
	return root
}
