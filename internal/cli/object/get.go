package object

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/heap"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects/output"
)

func newGet(g *command.Global) *cobra.Command {
	var f objectFlags
	var out output.Flags
	look := output.Look{Out: g.Stdout, Notes: g.Stderr}
	var raw string
	c := &cobra.Command{
		Use:   "get KIND [NAME…]",
		Short: "Show objects of the running session",
		Long: `Shows objects of the running session: those of Tilt's API, and every table of hone's store. hone api-resources
lists the kinds. One kind needs no session: hone get records shows what hone has applied for the project.`,
		Example: `  hone get uiresources
  hone get uiresource/web -o yaml
  hone get uiresource web -o jsonpath='{.status.updateStatus}'
  hone get cmds,filewatches -l tier=web
  hone get updates --watch
  hone get controllers --sort-by={.status.busy}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if raw != "" {
				return getRaw(g, &f, cmd, raw)
			}
			if !look.Watch && !look.Only {
				heap.CollectLate()
			}
			s, targets, err := f.find(cmd, args)
			if err != nil {
				return err
			}
			return out.Show(cmd.Context(), s, targets, look)
		},
	}
	f.add(c)
	f.addFiles(c)
	f.addSelectors(c)
	out.AddTable(c.Flags())
	c.Flags().BoolVarP(&look.Watch, "watch", "w", false, "after listing, show each change until the session ends")
	c.Flags().BoolVar(&look.Only, "watch-only", false, "show only changes from now on")
	c.Flags().BoolVar(&look.IgnoreMissing, "ignore-not-found", false, "ignore missing objects, and exit with 0")
	c.Flags().StringVar(&raw, "raw", "", "print the response at this API path: /apis/tilt.dev/v1alpha1")
	c.AddCommand(newGetRecords(g))
	command.IgnoredFlags(c, []string{"all-namespaces", "server-print"}, []string{"chunk-size", "kustomize"})
	return c
}

func getRaw(g *command.Global, f *objectFlags, cmd *cobra.Command, path string) error {
	s, err := f.open(cmd)
	if err != nil {
		return err
	}
	doc, err := s.Raw(cmd.Context(), path)
	if err != nil {
		return err
	}
	_, err = g.Stdout.Write(doc)
	return err
}
