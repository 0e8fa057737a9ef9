package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/editor"
	"github.com/hone-dev/hone/internal/objects"
	"github.com/hone-dev/hone/internal/objects/change"
	"github.com/hone-dev/hone/internal/problem"
)

func newEdit(g *global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var format string
	var patch bool
	c := &cobra.Command{
		Use:   "edit KIND NAME…",
		Short: "Change objects of the running session in an editor",
		Long: `Opens each object in an editor, and writes what was changed when it ends. The editor is that of TILT_EDITOR, KUBE_EDITOR,
VISUAL or EDITOR, or else vi. What the session refuses is opened again, with the reason.`,
		Example: "  hone edit cmd lint\n  TILT_EDITOR='code --wait' hone edit configmap/web-disable",
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "yaml" && format != "json" {
				return problem.New(fmt.Sprintf("unknown output %q", format), "choose yaml or json")
			}
			writer, targets, err := w.find(g, &f, cmd, args)
			if err != nil {
				return err
			}
			e := change.Edit{Editor: editor.FromEnvironment(cmd.InOrStdin(), g.stdout, g.stderr), JSON: format == "json", PrintPatch: patch}
			return each(cmd.Context(), targets, func(t objects.Target) error { return writer.Edit(cmd.Context(), t, e) })
		},
	}
	f.add(c)
	f.addFiles(c)
	w.dryRun, w.validate = string(change.DryRunNone), "strict"
	c.Flags().StringVarP(&format, "output", "o", "yaml", "format in which objects are edited: yaml, json")
	c.Flags().BoolVar(&patch, "output-patch", false, "print the patch that comes of it")
	alike(c, []string{"save-config", "validate", "windows-line-endings"}, []string{"kustomize", "field-manager"})
	return c
}
