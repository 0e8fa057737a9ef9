package object

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects/change"
)

func newDelete(g *command.Global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var d change.Deletion
	var ask bool
	var raw string
	c := &cobra.Command{
		Use:     "delete KIND NAME…",
		Short:   "Delete objects of the running session",
		Long:    "Deletes objects that were created through the session's API. To delete an object of the Tiltfile, remove it from the Tiltfile.",
		Example: "  hone delete cmd lint\n  hone delete -f watches.yaml\n  hone delete filewatches -l tier=web\n  hone delete cmds --all --interactive",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o := w.output.Output; !slices.Contains([]string{"", "name", command.OutputJSON, command.OutputYAML}, o) {
				return problem.New(fmt.Sprintf("unknown output %q", o), "choose name, json or yaml, or leave it out")
			}
			writer, err := w.writer(g)
			if err != nil {
				return err
			}
			if raw != "" {
				return deleteRaw(cmd, &f, writer, args, raw)
			}
			if ask {
				d.Confirm = func(refs []string) (bool, error) { return confirmDeletion(cmd.Context(), g.Stdout, refs) }
			}
			s, targets, err := f.find(cmd, args)
			if err != nil {
				return err
			}
			if err := f.said(targets); err != nil {
				return err
			}
			writer.Client, d.Short = s, w.output.Output == "name"
			d.IgnoreMissing = d.IgnoreMissing || f.request.All
			return writer.Delete(cmd.Context(), targets, d)
		},
	}
	f.add(c)
	f.addFiles(c)
	f.addSelectors(c)
	w.addDryRun(c)
	w.validate = "strict"
	c.Flags().StringVarP(&w.output.Output, "output", "o", "", "print what was deleted, in this format: name, json, yaml")
	c.Flags().BoolVar(&f.request.All, "all", false, "delete all objects of the kinds")
	c.Flags().BoolVar(&d.IgnoreMissing, "ignore-not-found", false, "treat missing objects as deleted; also the effect of --all")
	c.Flags().BoolVar(&d.Wait, "wait", true, "wait until the objects are gone")
	c.Flags().DurationVar(&d.Timeout, "timeout", time.Minute, "how long to wait for each")
	c.Flags().BoolVarP(&ask, "interactive", "i", false, "ask before anything is deleted")
	c.Flags().StringVar(&raw, "raw", "", "delete the object at this API path: /apis/tilt.dev/v1alpha1/cmds/lint")
	command.IgnoredFlags(c, []string{"all-namespaces", "force", "now"}, []string{"kustomize", "cascade", "grace-period"})
	return c
}

// deleteRaw deletes the object at a path.
func deleteRaw(cmd *cobra.Command, f *objectFlags, w *change.Writer, args []string, path string) (err error) {
	if len(args) > 0 || len(f.request.Files) > 0 {
		return problem.New("objects are named in addition to --raw", "leave out either --raw or the names")
	}
	if w.Client, err = f.open(cmd); err != nil {
		return err
	}
	return w.DeleteAt(cmd.Context(), path)
}

// confirmDeletion asks whether to delete objects.
func confirmDeletion(ctx context.Context, out io.Writer, refs []string) (bool, error) {
	yes, err := command.Confirm(ctx, out, fmt.Sprintf("You are about to delete:\n  %s\nDelete them?", strings.Join(refs, "\n  ")))
	if err == nil && !yes {
		fmt.Fprintln(out, "Nothing was deleted.")
	}
	return yes, err
}
