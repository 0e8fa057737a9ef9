package tiltfiles

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/pkg/api"
)

// tiltfileFlags are the flags of tiltfile and of alpha tiltfile-result.
type tiltfileFlags struct {
	project   flags.Project
	output    string
	profile   bool
	threshold time.Duration
	// showSecrets prints objects with the values of Secrets in them.
	showSecrets bool
}

func newTiltfile(g *command.Global) *cobra.Command {
	var f tiltfileFlags
	var reference bool
	c := &cobra.Command{
		Use:   "tiltfile [NAME…] [-- TILTFILE ARGS]",
		Short: "Evaluate the Tiltfile and print what it declares",
		Long: `Evaluates the Tiltfile and prints the resources that it declares: a table for people, JSON for programs. Nothing is
built or deployed, and the cluster is only asked for its version and its kinds, if a chart depends on them. Commands of the Tiltfile itself, such as local(), do run; config.tilt_subcommand is "` + opened.Examined + `".

With -o yaml, it prints the objects of the resources instead, in a stream that kubectl apply -f - takes: for a review, or for a repository
that another program deploys from. With names, it prints only those resources and what they depend on. The objects lack hone's
labels. Their order is always the same, and each has its namespace from the YAML; --namespace fills it in where there is none. An image
that hone builds has the reference of its last build on this machine, and its declared name before the first one. An object with values of
Secrets is left out, and a comment takes its place; --show-secrets prints it.

Only the result goes to standard output. What the Tiltfile prints, warnings and errors go to standard error, without the
values of Secrets and without control characters other than colours.

Exits with 0 if the Tiltfile is fine, with 5 if it has an error, and with 1 if it could not be evaluated at all.`,
		Example: "  hone tiltfile\n  hone tiltfile -o json | jq '.resources[].name'\n  hone tiltfile api -o yaml > api.yaml\n  hone tiltfile --profile\n  hone tiltfile -f deploy/Tiltfile -- --profile=dev",
		RunE: func(cmd *cobra.Command, args []string) error {
			if reference {
				return printBuiltins(g.Stdout)
			}
			return evaluate(cmd.Context(), g, f, args)
		},
	}
	f.add(c, command.OutputTable)
	c.Flags().BoolVar(&f.profile, "profile", false, "print where the time of the evaluation went, instead of a table of the resources")
	c.Flags().BoolVar(&f.showSecrets, "show-secrets", false, "with -o yaml, print Secrets and other objects with their values, too")
	c.Flags().BoolVar(&reference, "builtins", false, "print the reference of the Tiltfile language, in Markdown, and evaluate nothing")
	return c
}

// newTiltfileResult returns the same command with its name and flags in Tilt.
func newTiltfileResult(g *command.Global) *cobra.Command {
	var f tiltfileFlags
	c := &cobra.Command{
		Use:   "tiltfile-result [NAME…] [-- TILTFILE ARGS]",
		Short: "Evaluate the Tiltfile and print what it declares as JSON",
		Long:  `The same as "hone tiltfile -o json".`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.profile && !cmd.Flags().Changed("output") {
				f.output = command.OutputTable
			}
			return evaluate(cmd.Context(), g, f, args)
		},
	}
	f.add(c, command.OutputJSON)
	c.Flags().BoolVarP(&f.profile, "builtin-timings", "b", false, "print where the time of the evaluation went, instead of the result")
	return c
}

func (f *tiltfileFlags) add(c *cobra.Command, output string) {
	f.project.Add(c)
	c.ValidArgsFunction = f.project.CompleteDeclared
	c.Flags().StringVarP(&f.output, "output", "o", output, "format: table, json, or yaml for the objects")
	c.Flags().DurationVar(&f.threshold, "dur-threshold", 0, "print only times of at least this length, such as 10ms")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{command.OutputTable, command.OutputJSON, command.OutputYAML}, cobra.ShellCompDirectiveNoFileComp))
}

// evaluate evaluates the Tiltfile and prints the result.
func evaluate(ctx context.Context, g *command.Global, f tiltfileFlags, args []string) error {
	write, err := f.writer(g)
	if err != nil {
		return err
	}
	p, err := opened.Open(g, opened.Choice{Flags: &f.project, Find: f.project.Resolve, Args: args, Subcommand: opened.Examined}, g.Printer(g.Stderr, g.Stderr))
	if err != nil {
		return err
	}
	defer p.Close()
	o := p.Evaluation()
	o.Profile = f.profile
	r := tiltfile.Load(ctx, o)
	if ctx.Err() != nil {
		return r.Err
	}
	var doc bytes.Buffer
	err = write(&doc, evaluated{r, p.Namespace})
	if err == nil {
		_, err = io.WriteString(g.Stdout, f.printable(g, doc.String()))
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return command.WithCode(r.Err, command.ExitTiltfile)
}

// evaluated is an evaluation to print, and the namespace of objects that name none.
type evaluated struct {
	result    tiltfile.Result
	namespace string
}

func (e evaluated) failed() bool { return e.result.Err != nil }

// writer returns a function that prints an evaluation in the requested format.
func (f tiltfileFlags) writer(g *command.Global) (func(io.Writer, evaluated) error, error) {
	if f.showSecrets && f.output != command.OutputYAML {
		return nil, problem.New("--show-secrets is for -o yaml: other formats print no values", "print the objects: hone tiltfile -o yaml --show-secrets")
	}
	described := func(write func(io.Writer, api.TiltfileResult) error) func(io.Writer, evaluated) error {
		return func(w io.Writer, e evaluated) error { return write(w, describe(e.result, e.namespace, f.threshold)) }
	}
	switch f.output {
	case command.OutputJSON:
		return described(func(w io.Writer, r api.TiltfileResult) error { return command.WriteJSON(w, r) }), nil
	case command.OutputYAML:
		stream := &objectStream{namespace: f.project.Namespace, secrets: &g.Secrets, log: g.Printer(g.Stderr, g.Stderr)}
		if f.showSecrets {
			stream.secrets = nil
		}
		return stream.write, nil
	case command.OutputTable:
		return described(writeTable), nil
	}
	return nil, problem.New(fmt.Sprintf("unknown output %q", f.output), "choose table, json or yaml: hone tiltfile -o json")
}

// printable returns a result without the values of Secrets, unless the user has asked for them.
func (f tiltfileFlags) printable(g *command.Global, doc string) string {
	if f.showSecrets {
		return doc
	}
	return g.Secrets.Text(doc)
}
