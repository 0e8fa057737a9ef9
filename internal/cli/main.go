// Package cli is hone's command line: a file per command, the wiring of a session, and the one place where errors are
// printed.
//
// # Concurrency
//
// Main owns the signal handler. The first interrupt asks the running command to stop, the second ends the process at
// once.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
)

// oneSignal is the time within which signals count as one: a shell and make both pass the same interrupt on.
const oneSignal = 500 * time.Millisecond

// Main runs the command line and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	if process.GuardMain(args) {
		return exitOK
	}
	guard := newTerminalGuard()
	ctx, stop := interruptible(context.Background(), guard.restore) // the root of all contexts
	defer stop()
	g := &global{args: args, stdout: stdout, stderr: stderr, terminal: guard}
	root := newRoot(g)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	code := exitCode(ctx, err)
	if code != exitOK && code != exitInterrupted && !wasPrinted(err) {
		newNarration(stdout, stderr).fail(problem.Text(err))
	}
	return code
}

// interruptible returns a context that the first interrupt, termination or loss of the terminal cancels; the second exits at once, after last.
func interruptible(parent context.Context, last func()) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup asks to live on
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		var first time.Time
		for {
			select {
			case <-done:
				return
			case <-signals:
				if first.IsZero() {
					first = time.Now()
				}
				if time.Since(first) > oneSignal {
					last()
					os.Exit(exitInterrupted)
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

func newRoot(g *global) *cobra.Command {
	root := &cobra.Command{
		Use:           "hone",
		Short:         "Keeps a Kubernetes cluster in step with your source tree, in milliseconds",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       Version,
	}
	root.SetVersionTemplate(versionText() + "\n")
	root.PersistentFlags().BoolVarP(&g.debug, "debug", "d", false, "log what hone itself does to a file, and show the call stack of Tiltfile errors")
	root.PersistentFlags().BoolVarP(&g.verbose, "verbose", "v", false, "the same, with more detail")
	root.PersistentFlags().Int("klog", 0, "") // of Tilt, which shows what its client of Kubernetes says; hone's debug log has that
	_ = root.PersistentFlags().MarkHidden("klog")
	for _, commands := range []func(*global) []*cobra.Command{upCommands, sessionCommands, objectCommands, tiltfileCommands, selfCommands} {
		root.AddCommand(commands(g)...)
	}
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			group(c)
		case "dump":
			c.AddCommand(referenceCommands(g)...)
		}
	}
	explainUsage(root)
	return root
}
