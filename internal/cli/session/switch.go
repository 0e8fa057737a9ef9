package session

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/pkg/api"
)

// switchFlags are the flags of hone enable and hone disable.
type switchFlags struct {
	target  flags.Session
	request api.SwitchRequest
}

func (f *switchFlags) add(c *cobra.Command) {
	f.target.Add(c)
	c.Flags().BoolVar(&f.request.All, "all", false, c.Name()+" all resources")
	c.Flags().StringSliceVarP(&f.request.Labels, "labels", "l", nil, c.Name()+" resources with any of these labels, besides those named")
	c.ValidArgsFunction = f.target.CompleteSwitches
	_ = c.RegisterFlagCompletionFunc("labels", f.target.CompleteLabels)
}

// run switches all resources by one request.
func (f *switchFlags) run(ctx context.Context, out io.Writer, names []string) error {
	f.request.ManifestNames = names
	if err := f.check(); err != nil {
		return err
	}
	session, err := f.target.Find(ctx)
	if err != nil {
		return err
	}
	return Switch(ctx, session, out, f.request)
}

// Switch enables or disables resources, and prints the result.
func Switch(ctx context.Context, session *client.Client, out io.Writer, request api.SwitchRequest) error {
	result, err := session.Switch(ctx, request)
	if err != nil {
		return err
	}
	if request.All && len(result.Enabled)+len(result.Disabled)+len(result.Unchanged) == 0 {
		fmt.Fprintf(out, "%s has no resources\n", session.Where())
	}
	for _, list := range []struct {
		names []string
		text  string
	}{{result.Enabled, "enabled"}, {result.Disabled, "disabled"}, {result.Unchanged, "is " + request.State + " already"}} {
		for _, name := range list.names {
			fmt.Fprintf(out, "%s %s\n", name, list.text)
		}
	}
	return nil
}

func (f *switchFlags) check() error {
	r := f.request
	switch chosen := len(r.ManifestNames)+len(r.Labels) > 0; {
	case r.All && r.Only:
		return errors.New("cannot use --all with --only")
	case r.All && len(r.ManifestNames) > 0:
		return errors.New("cannot use --all with resource names")
	case r.All && chosen:
		return errors.New("cannot use --all with --labels")
	case !r.All && !chosen:
		return problem.New("must specify at least one resource", "name them, select them by --labels, or use --all")
	}
	return nil
}
