package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/objects/description"
)

func newDescribe(g *global) *cobra.Command {
	var f objectFlags
	var events bool
	c := &cobra.Command{
		Use:   "describe KIND [NAME…]",
		Short: "Tell all about objects of the running session",
		Long: `Tells all about objects: every field, the conditions, and what has happened to the resource that they belong to. A name
that is none is taken for the beginning of names.`,
		Example: "  hone describe uiresource web\n  hone describe uiresource/web cmd/web:serve\n  hone describe updates",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, targets, err := f.find(cmd, args)
			if err != nil {
				return err
			}
			d := &description.Describer{Session: s, Out: g.stdout, Events: events, Now: time.Now()}
			err = each(cmd.Context(), targets, func(t objects.Target) error { return d.Describe(cmd.Context(), t) })
			if err == nil && !d.Any() {
				fmt.Fprintln(g.stderr, "No resources found")
			}
			return err
		},
	}
	f.add(c)
	f.addFiles(c)
	f.addSelectors(c)
	c.Flags().BoolVar(&events, "show-events", true, "show what has happened to the resource that an object belongs to")
	alike(c, []string{"all-namespaces"}, []string{"chunk-size", "kustomize"})
	return c
}
