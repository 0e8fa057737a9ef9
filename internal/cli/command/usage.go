package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
)

// Group makes a command a group that only holds subcommands: alone it prints its help, and an unknown subcommand is an
// error.
func Group(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.DisableFlagsInUseLine = true
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var names []string
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		return problem.New(fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0]),
			suggest.Mend(args[0], names, "there are: "+strings.Join(names, ", ")))
	}
	return c
}

// ExplainUsage adds the usage of the command to errors of flags and of the number of arguments.
func ExplainUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(misused)
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error { return misused(cmd, check(cmd, args)) }
	}
	for _, sub := range c.Commands() {
		ExplainUsage(sub)
	}
}

func misused(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return &problem.Problem{Summary: err.Error(), Mend: fmt.Sprintf("usage: %s\n%s --help shows more", c.UseLine(), c.CommandPath())}
}

// shorthands are the short forms of ignored flags.
var shorthands = map[string]string{"all-namespaces": "A"}

// IgnoredFlags adds flags of Tilt that request hone's default behaviour, or that have no meaning for a session.
func IgnoredFlags(c *cobra.Command, bools, strings []string) {
	for _, name := range bools {
		c.Flags().BoolP(name, shorthands[name], false, "")
		_ = c.Flags().MarkHidden(name)
	}
	for _, name := range strings {
		c.Flags().String(name, "", "")
		_ = c.Flags().MarkHidden(name)
	}
}
