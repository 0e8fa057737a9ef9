package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// tiltfileSubcommand is what config.tilt_subcommand says while a Tiltfile is only looked at, as in Tilt: what a Tiltfile
// does for up or ci alone, it does not do then.
const tiltfileSubcommand = "alpha tiltfile-result"

// tiltfileFlags are those of tiltfile and of alpha tiltfile-result.
type tiltfileFlags struct {
	project   projectFlags
	output    string
	profile   bool
	threshold time.Duration
}

func newTiltfile(g *global) *cobra.Command {
	var f tiltfileFlags
	var reference bool
	c := &cobra.Command{
		Use:   "tiltfile [NAME…] [-- TILTFILE ARGS]",
		Short: "Evaluate the Tiltfile and print what it declares",
		Long: `Evaluates the Tiltfile and prints the resources that it declares: a table for people, JSON or YAML for programs. Nothing is
built or deployed, and neither the cluster nor the container engine is contacted; only the kubeconfig is read. Commands of the Tiltfile itself, such as local(), do run; config.tilt_subcommand is "` + tiltfileSubcommand + `".

Only the result goes to standard output. What the Tiltfile prints, warnings and errors go to standard error, without the
values of Secrets and without control characters other than colours.

Exits with 0 if the Tiltfile is fine, with 5 if it has an error, and with 1 if it could not be evaluated at all.`,
		Example: "  hone tiltfile\n  hone tiltfile -o json | jq '.resources[].name'\n  hone tiltfile --profile\n  hone tiltfile -f deploy/Tiltfile -- --profile=dev",
		RunE: func(cmd *cobra.Command, args []string) error {
			if reference {
				return printBuiltins(g.stdout)
			}
			return evaluate(cmd.Context(), g, f, args)
		},
	}
	f.add(c, outputTable)
	c.Flags().BoolVar(&f.profile, "profile", false, "print where the time of the evaluation went, instead of a table of the resources")
	c.Flags().BoolVar(&reference, "builtins", false, "print the reference of the Tiltfile language, in Markdown, and evaluate nothing")
	return c
}

// newTiltfileResult is the same command under the name, and with the flags, that it has in Tilt.
func newTiltfileResult(g *global) *cobra.Command {
	var f tiltfileFlags
	c := &cobra.Command{
		Use:   "tiltfile-result [NAME…] [-- TILTFILE ARGS]",
		Short: "Evaluate the Tiltfile and print what it declares as JSON",
		Long:  `The same as "hone tiltfile -o json".`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.profile && !cmd.Flags().Changed("output") {
				f.output = outputTable
			}
			return evaluate(cmd.Context(), g, f, args)
		},
	}
	f.add(c, outputJSON)
	c.Flags().BoolVarP(&f.profile, "builtin-timings", "b", false, "print where the time of the evaluation went, instead of the result")
	return c
}

func (f *tiltfileFlags) add(c *cobra.Command, output string) {
	f.project.add(c)
	c.ValidArgsFunction = f.project.completeDeclared
	c.Flags().StringVarP(&f.output, "output", "o", output, "format: table, json, yaml")
	c.Flags().DurationVar(&f.threshold, "dur-threshold", 0, "print only times of at least this length, such as 10ms")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{outputTable, outputJSON, outputYAML}, cobra.ShellCompDirectiveNoFileComp))
}

// evaluate evaluates the Tiltfile and prints the result.
func evaluate(ctx context.Context, g *global, f tiltfileFlags, args []string) error {
	write, err := resultWriter(f)
	if err != nil {
		return err
	}
	o, err := evaluation(g, f, args)
	if err != nil {
		return err
	}
	r := tiltfile.Load(ctx, o)
	if ctx.Err() != nil {
		return r.Err
	}
	said := o.Logger.(*narration)
	d := describe(r, o.Namespace, f.threshold)
	d.Errors, d.Warnings = said.scrubbed(d.Errors), said.scrubbed(d.Warnings)
	if err := write(g.stdout, d); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	if r.Err != nil {
		said.fail(problem.Text(r.Err))
		return alreadyPrinted(r.Err, exitTiltfile)
	}
	return nil
}

// evaluation is what to evaluate, as up would, but with all that is printed on standard error.
func evaluation(g *global, f tiltfileFlags, args []string) (tiltfile.Options, error) {
	var o tiltfile.Options
	path, err := f.project.resolve()
	if err != nil {
		return o, err
	}
	kc, err := k8s.Load(k8s.Config{Context: f.project.context, Namespace: f.project.namespace})
	if err != nil {
		return o, err
	}
	port := envPort()
	if err := port.check(); err != nil {
		return o, err
	}
	env := os.Environ()
	overlay, err := kc.Overlay(filepath.Join(stateDir(), "kubeconfig"))
	if err != nil {
		return o, err
	}
	if overlay != "" {
		env = append(env, "KUBECONFIG="+overlay)
	}
	known := kc.Cluster()
	namespace := known.Namespace
	if f.project.namespace != "" {
		namespace = f.project.namespace
	}
	said := newNarration(g.stderr, g.stderr)
	return tiltfile.Options{
		Path: path, Args: args, Subcommand: tiltfileSubcommand, Namespace: namespace, Env: env,
		Cluster: func() (model.Cluster, error) { return known, nil },
		Logger:  said, OnSecrets: said.learn,
		Debug: g.debug, Profile: f.profile,
		TiltHost: envOr("TILT_HOST", defaultHost), TiltPort: port.text(),
	}, nil
}

// resultWriter returns what prints a result in the format that was asked for.
func resultWriter(f tiltfileFlags) (func(io.Writer, api.TiltfileResult) error, error) {
	switch f.output {
	case outputJSON:
		return func(w io.Writer, r api.TiltfileResult) error { return writeJSON(w, r) }, nil
	case outputYAML:
		return func(w io.Writer, r api.TiltfileResult) error { return writeYAML(w, r) }, nil
	case outputTable:
		return writeTable, nil
	}
	return nil, problem.New(fmt.Sprintf("unknown output %q", f.output), "choose table, json or yaml: hone tiltfile -o json")
}
