package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/objects"
	"github.com/hone-dev/hone/internal/objects/change"
	"github.com/hone-dev/hone/internal/problem"
)

func newApply(g *global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	c := &cobra.Command{
		Use:   "apply -f PATH",
		Short: "Make objects of the running session as files say",
		Long: `Makes the objects that are not there, and changes those that are. What apply has made once, it also takes fields out of
that are no longer in the file.`,
		Example: "  hone apply -f watches.yaml\n  hone apply -f objects/ -R\n  generate | hone apply -f -",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fromFiles(g, &f, &w, cmd, func(ctx context.Context, c *change.Writer, u *unstructured.Unstructured) error {
				return c.Apply(ctx, u)
			})
		},
	}
	f.add(c)
	c.ValidArgsFunction = cobra.NoFileCompletions
	f.addFiles(c)
	c.Flags().StringVarP(&f.request.Labels, "selector", "l", "", "take only the objects with these labels: app=web,tier!=db")
	w.add(c)
	alike(c, []string{"all", "force", "overwrite", "openapi-patch", "server-side", "force-conflicts", "wait"}, []string{"kustomize", "field-manager", "cascade", "grace-period", "timeout"})
	return c
}

// fromFiles does something to each object of files.
func fromFiles(g *global, f *objectFlags, w *writeFlags, cmd *cobra.Command, do func(context.Context, *change.Writer, *unstructured.Unstructured) error) error {
	if len(f.request.Files) == 0 {
		return problem.New("it is not said what to "+cmd.Name(), "name a file: hone "+cmd.Name()+" -f PATH")
	}
	writer, targets, err := w.find(g, f, cmd, nil)
	if err != nil {
		return err
	}
	return each(cmd.Context(), targets, func(t objects.Target) error {
		var errs []error
		for _, u := range t.Files {
			errs = append(errs, do(cmd.Context(), writer, u))
		}
		return errors.Join(errs...)
	})
}
