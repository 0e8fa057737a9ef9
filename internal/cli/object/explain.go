package object

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects/description"
)

func newExplain(g *command.Global) *cobra.Command {
	var f objectFlags
	var e description.Explanation
	c := &cobra.Command{
		Use:     "explain KIND[.FIELD…]",
		Short:   "Describe the fields of a kind of object",
		Example: "  hone explain uiresources\n  hone explain cmds.spec.args\n  hone explain cmds --recursive\n  hone explain sessions.hone.dev.entry",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch e.Format {
			case "plaintext", command.OutputJSON, command.OutputYAML:
			default:
				return problem.New(fmt.Sprintf("unknown output %q", e.Format), "choose plaintext, json or yaml")
			}
			s, err := f.open(cmd)
			if err != nil {
				return err
			}
			e.Of = args[0]
			if e.Format == command.OutputYAML {
				e.Format = command.OutputJSON
				return command.InYAML(g.Stdout, func(w io.Writer) error { return description.Explain(s, e, w) })
			}
			return description.Explain(s, e, g.Stdout)
		},
	}
	f.add(c)
	c.ValidArgsFunction = f.completeKind
	c.Flags().BoolVar(&e.Recursive, "recursive", false, "also list nested fields")
	c.Flags().StringVar(&e.APIVersion, "api-version", "", "group and version of the kind: tilt.dev/v1alpha1")
	c.Flags().StringVarP(&e.Format, "output", "o", "plaintext", "format: plaintext; json and yaml print the schema")
	return c
}
