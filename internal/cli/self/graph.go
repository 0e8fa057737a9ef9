package self

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/hud"
)

func newGraph(g *command.Global) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "graph",
		Short: "Print hone's own architecture: subscribers, tables and actions",
		Long: `Prints the contracts of the subscribers: which tables each reads, which actions it emits, and which outside systems it
talks to. It needs no cluster and no Tiltfile.

hone graph resources draws the resources of your Tiltfile.`,
		Example: "  hone graph -o dot | dot -Tsvg > hone.svg\n  hone graph resources -o svg > shop.svg",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			graph := engine.Graph(hud.New(hud.Options{}))
			switch output {
			case "dot":
				return graph.Dot(g.Stdout)
			case "mermaid":
				return graph.Mermaid(g.Stdout)
			case command.OutputJSON:
				return graph.JSON(g.Stdout)
			case command.OutputYAML:
				return command.InYAML(g.Stdout, graph.JSON)
			}
			return problem.New(fmt.Sprintf("unknown output %q", output), "choose dot, mermaid, json or yaml: hone graph -o mermaid")
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "dot", "format: dot, mermaid, json, yaml")
	c.AddCommand(newGraphResources(g))
	return c
}
