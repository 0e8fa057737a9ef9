package object

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/objects/change"
	"github.com/hone-dev/hone/internal/client/objects/output"
)

// writeFlags are the flags of verbs that change objects.
type writeFlags struct {
	dryRun   string
	validate string
	output   output.Flags
}

func (f *writeFlags) add(c *cobra.Command) {
	f.output.Add(c.Flags())
	f.addDryRun(c)
	f.addValidate(c)
}

func (f *writeFlags) addValidate(c *cobra.Command) {
	c.Flags().StringVar(&f.validate, "validate", "strict", "what to do about unknown fields: strict refuses them, warn prints a warning, ignore drops them silently")
	c.Flags().Lookup("validate").NoOptDefVal = "strict"
}

func (f *writeFlags) addDryRun(c *cobra.Command) {
	c.Flags().StringVar(&f.dryRun, "dry-run", string(change.DryRunNone), "none; client: send nothing; server: let the session check it without applying it")
	c.Flags().Lookup("dry-run").NoOptDefVal = string(change.DryRunClient)
	_ = c.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions([]string{"none", "client", "server"}, cobra.ShellCompDirectiveNoFileComp))
}

// writer returns the writer of a session's objects.
func (f *writeFlags) writer(g *command.Global) (*change.Writer, error) {
	w := &change.Writer{Out: g.Stdout, Output: &f.output}
	var err error
	if w.DryRun, err = change.ParseDryRun(f.dryRun); err != nil {
		return nil, err
	}
	if w.Validation, err = change.ParseValidation(f.validate); err != nil {
		return nil, err
	}
	return w, w.Check()
}

// find returns the writer and the chosen objects, which must be named.
func (f *writeFlags) find(g *command.Global, of *objectFlags, cmd *cobra.Command, args []string) (*change.Writer, []objects.Target, error) {
	w, err := f.writer(g)
	if err != nil {
		return nil, nil, err
	}
	s, targets, err := of.find(cmd, args)
	if err != nil {
		return nil, nil, err
	}
	w.Client = s
	return w, targets, wantsNames(targets, cmd.Name())
}
