package up

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/cireport"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/loop/state"
)

// ciFlags are the flags of hone ci.
type ciFlags struct {
	session   sessionFlags
	timeout   time.Duration
	output    string
	junit     string
	waterfall bool
}

func newCI(g *command.Global) *cobra.Command {
	var f ciFlags
	c := &cobra.Command{
		Use:   "ci [NAME…] [-- TILTFILE ARGS]",
		Short: "Build and deploy once; succeed when everything is ready",
		Long: fmt.Sprintf(`Builds and deploys once, without watching files, and ends as soon as every resource is updated and ready, or at the first
failure that waiting would not fix. Resources that are disabled, or that wait for a trigger, do not count. A server
without a readiness probe is ready once it has run for a second. ci_settings() in the Tiltfile bounds how long pods may
fail, and how long resources may take to become ready.

With names, it is about those resources, what they depend on and what belongs to no resource. All others stay as they are, also those
that the Tiltfile no longer declares: an operation on all of them deletes those.

A session of hone up that deploys the same project to the same namespace waits meanwhile: it ends the updates that it has begun, and
begins none before ci has ended.

At the end a table shows for each resource how long it took, what it waited for, and why it failed. With -o json standard
output holds an object per line: the session's events as hone events -o json prints them, then one of type summary, all of
which hone docs events describes; everything else goes to standard error. With --junit the results are also written to a file
that CI systems show as tests, even if the session fails, times out or is interrupted.

It exits with %d when everything is ready, %d when something failed, %d when the Tiltfile has an error, %d when the time is up,
and %d when it is interrupted.`, command.ExitOK, command.ExitFailure, command.ExitTiltfile, command.ExitTimeout, command.ExitInterrupted),
		Example: "  hone ci\n  hone ci api --timeout 10m --junit report.xml\n  hone ci -o json 2> log | jq 'select(.type == \"summary\").summary'",
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(g, args)
			if err != nil {
				return err
			}
			return runSession(cmd.Context(), o)
		},
	}
	f.add(c)
	return c
}

func (f *ciFlags) add(c *cobra.Command) {
	f.session.add(c)
	c.Flags().DurationVar(&f.timeout, "timeout", 0, "fail after this time (default: from ci_settings, else 30m)")
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text, json for one object per line, or yaml for one document after the other")
	c.Flags().StringVar(&f.junit, "junit", "", "write the results to this file in JUnit format")
	c.Flags().BoolVar(&f.waterfall, "waterfall", false, "show at the end where the time went, and the critical path")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", command.OutputJSON, command.OutputYAML}, cobra.ShellCompDirectiveNoFileComp))
}

// options checks the flags.
func (f *ciFlags) options(g *command.Global, args []string) (options, error) {
	o, err := f.session.options(g, state.CommandCI, args)
	if err != nil {
		return o, err
	}
	o.stream, o.timeout, o.report.waterfall = true, f.timeout, f.waterfall
	switch f.output {
	case "text":
	case command.OutputJSON:
		o.report.lines = g.Stdout
	case command.OutputYAML:
		o.report.lines = &command.YAMLLines{Out: g.Stdout}
	default:
		return o, command.UnknownStreamFormat(f.output)
	}
	if f.junit != "" {
		o.report.junit, err = cireport.Open(f.junit)
	}
	return o, err
}
