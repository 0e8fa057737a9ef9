package object

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects/output"
)

func newAPIResources(g *command.Global) *cobra.Command {
	var f objectFlags
	var k output.Kinds
	namespaced := true
	c := &cobra.Command{
		Use:     "api-resources",
		Short:   "List the kinds of objects that the running session serves",
		Example: "  hone api-resources\n  hone api-resources --api-group hone.dev -o wide\n  hone api-resources --verbs patch -o name",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.open(cmd)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("namespaced") {
				k.Namespaced = &namespaced
			}
			shown, err := k.Print(s.Kinds(), g.Stdout)
			if err == nil && shown == 0 {
				fmt.Fprintln(g.Stderr, "No resources found")
			}
			return err
		},
	}
	f.add(c)
	c.ValidArgsFunction = cobra.NoFileCompletions
	k.Add(c.Flags())
	c.Flags().BoolVar(&namespaced, "namespaced", true, "list only kinds with namespaces (sessions have none); =false lists all others")
	command.IgnoredFlags(c, []string{"cached"}, nil)
	return c
}
