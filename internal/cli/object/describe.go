package object

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/objects/description"
)

func newDescribe(g *command.Global) *cobra.Command {
	var f objectFlags
	var events bool
	c := &cobra.Command{
		Use:   "describe KIND [NAME…]",
		Short: "Show the details of objects of the running session",
		Long: `Shows every field of objects, their conditions, and the events of the resource that they belong to. A name that does not
exist is taken as a prefix.`,
		Example: "  hone describe uiresource web\n  hone describe uiresource/web cmd/web:serve\n  hone describe updates",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, targets, err := f.find(cmd, args)
			if err != nil {
				return err
			}
			d := &description.Describer{Client: s, Out: g.Stdout, Events: events, Now: time.Now()}
			err = each(cmd.Context(), targets, func(t objects.Target) error { return d.Describe(cmd.Context(), t) })
			if err == nil && !d.Any() {
				fmt.Fprintln(g.Stderr, "No resources found")
			}
			return err
		},
	}
	f.add(c)
	f.addFiles(c)
	f.addSelectors(c)
	c.Flags().BoolVar(&events, "show-events", true, "show the events of the resource that an object belongs to")
	command.IgnoredFlags(c, []string{"all-namespaces"}, []string{"chunk-size", "kustomize"})
	return c
}
