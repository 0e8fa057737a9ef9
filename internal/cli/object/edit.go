package object

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/objects/change"
)

// statusOnly reads the value of --subresource.
func statusOnly(subresource string) (bool, error) {
	if subresource != "" && subresource != "status" {
		return false, problem.New(fmt.Sprintf("unknown --subresource %q", subresource), "choose status, or leave it out")
	}
	return subresource != "", nil
}

func newEdit(g *command.Global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var format, subresource string
	var e change.Edit
	c := &cobra.Command{
		Use:   "edit KIND NAME…",
		Short: "Edit objects of the running session",
		Long: `Opens each object in an editor, and writes the changes when the editor exits. The editor is set by TILT_EDITOR,
KUBE_EDITOR, VISUAL or EDITOR, or else vi. A change that the session refuses is opened again, with the reason.`,
		Example: "  hone edit cmd lint\n  TILT_EDITOR='code --wait' hone edit configmap/web-disable",
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "yaml" && format != "json" {
				return problem.New(fmt.Sprintf("unknown output %q", format), "choose yaml or json")
			}
			writer, targets, err := w.find(g, &f, cmd, args)
			if err != nil {
				return err
			}
			if e.Status, err = statusOnly(subresource); err != nil {
				return err
			}
			e.Editor, e.JSON = g.Editor(cmd.InOrStdin()), format == "json"
			return each(cmd.Context(), targets, func(t objects.Target) error { return writer.Edit(cmd.Context(), t, e) })
		},
	}
	f.add(c)
	f.addFiles(c)
	w.dryRun = string(change.DryRunNone)
	w.addValidate(c)
	c.Flags().StringVarP(&format, "output", "o", "yaml", "format in which objects are edited: yaml, json")
	c.Flags().BoolVar(&e.PrintPatch, "output-patch", false, "print the resulting patch")
	c.Flags().StringVar(&subresource, "subresource", "", "edit only this subresource: status")
	c.Flags().BoolVar(&e.ManagedFields, "show-managed-fields", false, "also show metadata.managedFields")
	c.Flags().BoolVar(&e.Remember, "save-config", false, "record the configuration in the object, as hone apply does")
	c.Flags().BoolVar(&e.Windows, "windows-line-endings", runtime.GOOS == "windows", "use Windows line endings in the editor")
	command.IgnoredFlags(c, nil, []string{"kustomize", "field-manager"})
	return c
}
