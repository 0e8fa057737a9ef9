package object

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/objects/change"
)

func newCreate(g *command.Global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var edited, remember, windows bool
	c := &cobra.Command{
		Use:     "create -f PATH",
		Short:   "Create objects in the running session",
		Example: "  hone create -f watches.yaml\n  hone create cmd lint golangci-lint run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			create := func(ctx context.Context, c *change.Writer, u *unstructured.Unstructured) error {
				if remember {
					if err := change.Remember(u); err != nil {
						return err
					}
				}
				return c.Create(ctx, u)
			}
			if edited {
				e := change.Edit{Editor: g.Editor(cmd.InOrStdin()), Remember: remember, Windows: windows}
				create = func(ctx context.Context, c *change.Writer, u *unstructured.Unstructured) error {
					return c.CreateEdited(ctx, u, e)
				}
			}
			return fromFiles(g, &f, &w, cmd, create)
		},
	}
	f.add(c)
	c.ValidArgsFunction = nil
	f.addFiles(c)
	c.Flags().StringVarP(&f.request.Labels, "selector", "l", "", "use only objects with these labels: app=web,tier!=db")
	c.Flags().BoolVar(&edited, "edit", false, "edit each object before it is created")
	w.add(c)
	c.Flags().BoolVar(&remember, "save-config", false, "record the configuration in each object, as hone apply does")
	c.Flags().BoolVar(&windows, "windows-line-endings", runtime.GOOS == "windows", "use Windows line endings in the editor")
	command.IgnoredFlags(c, nil, []string{"kustomize", "field-manager"})
	c.AddCommand(newCreateCmd(g), newCreateFileWatch(g), newCreateRepo(g), newCreateExt(g))
	return c
}

// createOne creates one object.
func createOne(g *command.Global, f *objectFlags, w *writeFlags, cmd *cobra.Command, kind, name string, spec map[string]any) error {
	writer, err := w.writer(g)
	if err != nil {
		return err
	}
	if writer.Client, err = f.open(cmd); err != nil {
		return err
	}
	return writer.Create(cmd.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": objects.TiltVersion, "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec}})
}

// list converts texts to the type that objects hold.
func list(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}
