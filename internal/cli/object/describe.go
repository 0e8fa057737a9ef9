package object

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client"
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
			return describe(cmd.Context(), s, targets, g.Stdout, g.Stderr, events)
		},
	}
	f.add(c)
	f.addFiles(c)
	f.addSelectors(c)
	c.Flags().BoolVar(&events, "show-events", true, "show the events of the resource that an object belongs to")
	command.IgnoredFlags(c, []string{"all-namespaces"}, []string{"chunk-size", "kustomize"})
	return c
}

// Describe prints the details of objects of a session, which args name as on the command line, with the events of the resource that an
// object belongs to.
func Describe(ctx context.Context, session *client.Client, out io.Writer, args []string) error {
	s, err := objects.Open(ctx, session.RESTConfig(), io.Discard)
	if err != nil {
		return err
	}
	targets, err := s.Targets(objects.Request{Verb: "describe", Args: args})
	if err != nil {
		return err
	}
	return describe(ctx, s, targets, out, out, true)
}

func describe(ctx context.Context, s *objects.Client, targets []objects.Target, out, notes io.Writer, events bool) error {
	d := &description.Describer{Client: s, Out: out, Events: events, Now: time.Now()}
	err := each(ctx, targets, func(t objects.Target) error { return d.Describe(ctx, t) })
	if err == nil && !d.Any() {
		fmt.Fprintln(notes, "No resources found")
	}
	return err
}
