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
	"github.com/hone-dev/hone/internal/cli/resourcegraph"
	"github.com/hone-dev/hone/internal/cli/tiltfiles"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/tiltfile"
)

func newGraphResources(g *command.Global) *cobra.Command {
	var f tiltfiles.Flags
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
	f.Project.Add(c)
	c.ValidArgsFunction = f.Project.CompleteDeclared
	c.Flags().StringVarP(&output, "output", "o", "dot", "format: dot, mermaid, svg")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"dot", "mermaid", "svg"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func graphResources(ctx context.Context, g *command.Global, f tiltfiles.Flags, output string, args []string) error {
	write, ok := map[string]func(resourcegraph.Graph, io.Writer) error{"dot": resourcegraph.Graph.Dot, "mermaid": resourcegraph.Graph.Mermaid,
		"svg": resourcegraph.Graph.SVG}[output]
	if !ok {
		return problem.New(fmt.Sprintf("unknown output %q", output), "choose dot, mermaid or svg: hone graph resources -o svg")
	}
	o, err := tiltfiles.Evaluation(g, f, args)
	if err != nil {
		return err
	}
	said := o.Logger.(*command.Printer)
	r := tiltfile.Load(ctx, o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.Err != nil {
		said.Fail(problem.Text(r.Err))
		return command.AlreadyPrinted(r.Err, command.ExitTiltfile)
	}
	graph := resourcegraph.Of(r.Tiltfile)
	cluster, err := o.Cluster()
	if err != nil {
		return err
	}
	showSession(ctx, graph, f, o.Path, cluster.Context, said)
	var doc bytes.Buffer
	if err := write(graph, &doc); err != nil {
		return fmt.Errorf("draw the resources: %w", err)
	}
	_, err = io.WriteString(g.Stdout, g.Secrets.Text(doc.String()))
	return err
}

// showSession adds the states of the project's running session, of the one that the flags name if there are several. A session that does
// not answer is said, and the graph is without states.
func showSession(ctx context.Context, graph resourcegraph.Graph, f tiltfiles.Flags, path, kubeContext string, log logstore.Logger) {
	living, err := flags.Registry().Of(ctx, path, kubeContext)
	if named := f.Project.Session; named != "" {
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
