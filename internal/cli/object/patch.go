package object

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/objects/change"
)

func newPatch(g *command.Global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var text, file, kind, subresource string
	c := &cobra.Command{
		Use:   "patch KIND NAME… -p PATCH",
		Short: "Change fields of objects of the running session",
		Example: `  hone patch uiresource web -p '{"status": {"triggerMode": 1}}'
  hone patch configmap web-disable --type merge -p '{"data": {"isDisabled": "true"}}'
  hone patch cmd/lint --type json -p '[{"op": "replace", "path": "/spec/dir", "value": "/tmp"}]'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if file != "" && text != "" {
				return problem.New("both --patch and --patch-file are given", "leave out either --patch or --patch-file")
			}
			if file != "" {
				content, err := os.ReadFile(file)
				if err != nil {
					return fmt.Errorf("read the patch: %w", err)
				}
				text = string(content)
			}
			p, err := change.ParsePatch(kind, text, subresource)
			if err != nil {
				return err
			}
			writer, targets, err := w.find(g, &f, cmd, args)
			if err != nil {
				return err
			}
			return each(cmd.Context(), targets, func(t objects.Target) error { return writer.Patch(cmd.Context(), t, p) })
		},
	}
	f.add(c)
	f.addFiles(c)
	w.add(c)
	c.Flags().StringVarP(&text, "patch", "p", "", "the patch, in JSON or YAML")
	c.Flags().StringVar(&file, "patch-file", "", "file that holds the patch")
	c.Flags().StringVar(&kind, "type", "strategic", "kind of patch: json, merge, or strategic, which does the same as merge")
	c.Flags().StringVar(&subresource, "subresource", "", "edit only this subresource: status")
	_ = c.RegisterFlagCompletionFunc("type", cobra.FixedCompletions([]string{"json", "merge", "strategic"}, cobra.ShellCompDirectiveNoFileComp))
	command.IgnoredFlags(c, []string{"local", "record"}, []string{"kustomize", "field-manager"})
	return c
}
