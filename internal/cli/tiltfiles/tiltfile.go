package tiltfiles

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// tiltfileSubcommand is the value of config.tilt_subcommand while a Tiltfile is only examined, as in Tilt: code that is
// only for up or ci does not run then.
const tiltfileSubcommand = "alpha tiltfile-result"

// Flags are the flags of tiltfile and of alpha tiltfile-result.
type Flags struct {
	Project   flags.Project
	output    string
	profile   bool
	threshold time.Duration
	// showSecrets prints objects with the values of Secrets in them.
	showSecrets bool
}

func newTiltfile(g *command.Global) *cobra.Command {
	var f Flags
	var reference bool
	c := &cobra.Command{
		Use:   "tiltfile [NAME…] [-- TILTFILE ARGS]",
		Short: "Evaluate the Tiltfile and print what it declares",
		Long: `Evaluates the Tiltfile and prints the resources that it declares: a table for people, JSON for programs. Nothing is
built or deployed, and neither the cluster nor the container engine is contacted; only the kubeconfig is read. Commands of the Tiltfile itself, such as local(), do run; config.tilt_subcommand is "` + tiltfileSubcommand + `".

With -o yaml, it prints the objects of the resources instead, in a stream that kubectl apply -f - takes: for a review, or for a repository
that another program deploys from. With names, it prints only those resources and what they depend on. The objects have none of hone's
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
	var f Flags
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

func (f *Flags) add(c *cobra.Command, output string) {
	f.Project.Add(c)
	c.ValidArgsFunction = f.Project.CompleteDeclared
	c.Flags().StringVarP(&f.output, "output", "o", output, "format: table, json, or yaml for the objects")
	c.Flags().DurationVar(&f.threshold, "dur-threshold", 0, "print only times of at least this length, such as 10ms")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{command.OutputTable, command.OutputJSON, command.OutputYAML}, cobra.ShellCompDirectiveNoFileComp))
}

// evaluate evaluates the Tiltfile and prints the result.
func evaluate(ctx context.Context, g *command.Global, f Flags, args []string) error {
	write, err := f.writer(g)
	if err != nil {
		return err
	}
	o, err := Evaluation(g, f, args)
	if err != nil {
		return err
	}
	r := tiltfile.Load(ctx, o)
	if ctx.Err() != nil {
		return r.Err
	}
	said := o.Logger.(*command.Printer)
	var doc bytes.Buffer
	err = write(&doc, evaluated{r, o.Namespace})
	if err == nil {
		_, err = io.WriteString(g.Stdout, f.printable(g, doc.String()))
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	if r.Err != nil {
		said.Fail(problem.Text(r.Err))
		return command.AlreadyPrinted(r.Err, command.ExitTiltfile)
	}
	return nil
}

// Evaluation returns the options of an evaluation as in hone up, but with all output on standard error.
func Evaluation(g *command.Global, f Flags, args []string) (tiltfile.Options, error) {
	var o tiltfile.Options
	path, err := f.Project.Resolve()
	if err != nil {
		return o, err
	}
	kc, err := k8s.Load(k8s.Config{Context: f.Project.Context, Namespace: f.Project.Namespace})
	if err != nil {
		return o, err
	}
	port := flags.EnvPort()
	if err := port.Check(); err != nil {
		return o, err
	}
	env, err := command.Environment(kc, path)
	if err != nil {
		return o, err
	}
	known := kc.Cluster()
	namespace := known.Namespace
	if f.Project.Namespace != "" {
		namespace = f.Project.Namespace
	}
	said := g.Printer(g.Stderr, g.Stderr)
	f.Project.Say(known, said)
	return tiltfile.Options{
		Path: path, Args: args, Subcommand: tiltfileSubcommand, Namespace: namespace, Env: append(os.Environ(), env...),
		Cluster: func() (model.Cluster, error) { return known, nil }, Capabilities: kc.Capabilities,
		Logger: said, Await: said.Await, OnSecrets: g.Secrets.Learn,
		Debug: g.Debug, Profile: f.profile,
		TiltHost: flags.EnvOr("TILT_HOST", flags.DefaultHost), TiltPort: port.Text(),
	}, nil
}

// evaluated is an evaluation to print, and the namespace of objects that name none.
type evaluated struct {
	result    tiltfile.Result
	namespace string
}

func (e evaluated) failed() bool { return e.result.Err != nil }

// writer returns a function that prints an evaluation in the requested format.
func (f Flags) writer(g *command.Global) (func(io.Writer, evaluated) error, error) {
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
		stream := &objectStream{namespace: f.Project.Namespace, secrets: &g.Secrets, log: g.Printer(g.Stderr, g.Stderr)}
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
func (f Flags) printable(g *command.Global, doc string) string {
	if f.showSecrets {
		return doc
	}
	return g.Secrets.Text(doc)
}
