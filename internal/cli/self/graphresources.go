package self

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cli/resourcegraph"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/tiltfile"
)

func newGraphResources(g *command.Global) *cobra.Command {
	var f flags.Project
	var output string
	c := &cobra.Command{
		Use:   "resources [NAME…] [-- TILTFILE ARGS]",
		Short: "Draw the resources of the Tiltfile and what they depend on",
		Long: `Draws the resources of the Tiltfile: which waits for which, the images that hone builds for them, and their addresses. While a
session of the Tiltfile runs, each resource has its state. With names, draws only those resources and what they depend on.

A solid line leads from a resource to the one that waits for it (resource_deps); a dashed line from an image to what is made of it.
-o svg is a picture for browsers and pages; no other program is needed.`,
		Example: "  hone graph resources -o svg > shop.svg\n  hone graph resources api -o mermaid\n  hone graph resources | dot -Tpdf > shop.pdf",
		RunE: func(cmd *cobra.Command, args []string) error {
			return graphResources(cmd.Context(), g, f, output, args)
		},
	}
	f.Add(c)
	c.ValidArgsFunction = f.CompleteDeclared
	c.Flags().StringVarP(&output, "output", "o", "dot", "format: dot, mermaid, svg")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"dot", "mermaid", "svg"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func graphResources(ctx context.Context, g *command.Global, f flags.Project, output string, args []string) error {
	write, ok := map[string]func(resourcegraph.Graph, io.Writer) error{"dot": resourcegraph.Graph.Dot, "mermaid": resourcegraph.Graph.Mermaid,
		"svg": resourcegraph.Graph.SVG}[output]
	if !ok {
		return problem.New(fmt.Sprintf("unknown output %q", output), "choose dot, mermaid or svg: hone graph resources -o svg")
	}
	log := g.Printer(g.Stderr, g.Stderr)
	p, err := opened.Open(g, opened.Choice{Flags: &f, Find: f.Resolve, Args: args, Subcommand: opened.Examined}, log)
	if err != nil {
		return err
	}
	defer p.Close()
	r := tiltfile.Load(ctx, p.Evaluation())
	if r.Err != nil {
		return command.WithCode(r.Err, command.ExitTiltfile)
	}
	graph := resourcegraph.Of(r.Tiltfile)
	showSession(ctx, graph, p, log)
	var doc bytes.Buffer
	if err := write(graph, &doc); err != nil {
		return fmt.Errorf("draw the resources: %w", err)
	}
	_, err = io.WriteString(g.Stdout, g.Secrets.Text(doc.String()))
	return err
}

// showSession adds the states of the project's running session, of the one that the flags name if there are several. A session that does
// not answer is said, and the graph is without states.
func showSession(ctx context.Context, graph resourcegraph.Graph, p *opened.Project, log logstore.Logger) {
	living, err := flags.Registry().Of(ctx, p.Path, p.Known.Context)
	if named := p.Flags.Session; named != "" {
		living = slices.DeleteFunc(living, func(s sessions.Info) bool { return s.Name != named })
	}
	if err != nil || len(living) == 0 || living[0].Socket == "" {
		return
	}
	v, err := client.Over(living[0]).View(ctx)
	if err != nil {
		logstore.Warnf(log, "WARNING: the states are missing: %v", err)
		return
	}
	graph.Show(v)
}
