package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/objects/change"
	"github.com/hone-dev/hone/internal/problem"
)

func newDelete(g *global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var d change.Deletion
	c := &cobra.Command{
		Use:     "delete KIND NAME…",
		Short:   "Delete objects of the running session",
		Long:    "Deletes objects that were made from outside. What the Tiltfile declares is taken out there.",
		Example: "  hone delete cmd lint\n  hone delete -f watches.yaml\n  hone delete filewatches -l tier=web",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o := w.output.Output; o != "" && o != "name" {
				return problem.New(fmt.Sprintf("unknown output %q", o), "choose name, or leave it out")
			}
			writer, err := w.writer(g)
			if err != nil {
				return err
			}
			s, targets, err := f.find(cmd, args)
			if err != nil {
				return err
			}
			if err := f.said(targets); err != nil {
				return err
			}
			writer.Session, d.Short = s, w.output.Output == "name"
			d.IgnoreMissing = d.IgnoreMissing || f.request.All
			return writer.Delete(cmd.Context(), targets, d)
		},
	}
	f.add(c)
	f.addFiles(c)
	f.addSelectors(c)
	w.addDryRun(c)
	w.validate = "strict"
	c.Flags().StringVarP(&w.output.Output, "output", "o", "", "format: name")
	c.Flags().BoolVar(&f.request.All, "all", false, "delete all objects of the kinds")
	c.Flags().BoolVar(&d.IgnoreMissing, "ignore-not-found", false, "take objects that are not there for deleted; so does --all")
	c.Flags().BoolVar(&d.Wait, "wait", true, "wait until the objects are gone")
	c.Flags().DurationVar(&d.Timeout, "timeout", time.Minute, "how long to wait for each")
	alike(c, []string{"all-namespaces", "force", "now"}, []string{"kustomize", "cascade", "grace-period"})
	return c
}
