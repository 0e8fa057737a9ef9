package object

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/objects"
)

// objectFlags are the flags of verbs for objects of a session: which session, and which of its objects.
type objectFlags struct {
	target  flags.Session
	request objects.Request
	session *client.Client // once open has been called
}

// add adds the flags of all verbs.
func (f *objectFlags) add(c *cobra.Command) {
	f.target.Add(c)
	f.request.Verb = c.Name()
	c.ValidArgsFunction = f.complete
}

// addFiles adds the flags of verbs that take files.
func (f *objectFlags) addFiles(c *cobra.Command) {
	c.Flags().StringSliceVarP(&f.request.Files, "filename", "f", nil, "file or folder with the objects, or - for standard input; may be given more than once")
	c.Flags().BoolVarP(&f.request.Recursive, "recursive", "R", false, "with -f, include subfolders")
}

// addSelectors adds the flags of verbs that take selectors.
func (f *objectFlags) addSelectors(c *cobra.Command) {
	c.Flags().StringVarP(&f.request.Labels, "selector", "l", "", "select objects by labels: app=web,tier!=db")
	c.Flags().StringVar(&f.request.Fields, "field-selector", "", "select objects by fields: metadata.name=web")
}

// open connects to the chosen session.
func (f *objectFlags) open(cmd *cobra.Command) (*objects.Client, error) {
	c, err := f.target.Find(cmd.Context())
	if err != nil {
		return nil, err
	}
	f.session = c
	return objects.Open(cmd.Context(), c.RESTConfig(), cmd.ErrOrStderr())
}

// find returns the chosen session and objects.
func (f *objectFlags) find(cmd *cobra.Command, args []string) (*objects.Client, []objects.Target, error) {
	s, err := f.open(cmd)
	if err != nil {
		return nil, nil, err
	}
	f.request.Args, f.request.In = args, cmd.InOrStdin()
	targets, err := s.Targets(f.request)
	return s, targets, err
}

// wantsNames refuses targets that are not named, so that a typo changes nothing.
func wantsNames(targets []objects.Target, verb string) error {
	for _, t := range targets {
		if !t.Named() {
			return problem.New("no "+t.Kind.GVR.Resource+" are named",
				fmt.Sprintf("name them: hone %s %s NAME…", verb, t.Kind.GVR.Resource))
		}
	}
	return nil
}

// each calls do for each target, and continues after errors that are not the end of the session.
func each(ctx context.Context, targets []objects.Target, do func(objects.Target) error) error {
	var errs []error
	for _, t := range targets {
		if err := do(t); err != nil {
			errs = append(errs, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}
