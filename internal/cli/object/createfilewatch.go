package object

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
)

func newCreateFileWatch(g *command.Global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var ignores []string
	c := &cobra.Command{
		Use:     "filewatch NAME PATH…",
		Aliases: []string{"fw"},
		Short:   "Create a file watch, which reruns commands when files change",
		Long:    "Creates a file watch for files and for folders with everything in them. Its status shows the latest changes.",
		Example: "  hone create filewatch src-and-web src web --ignore=web/node_modules",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			here, err := filepath.Abs(".")
			if err != nil {
				return fmt.Errorf("find the folder: %w", err)
			}
			paths := make([]string, len(args)-1)
			for i, p := range args[1:] {
				if paths[i] = p; !filepath.IsAbs(p) {
					paths[i] = filepath.Join(here, p)
				}
			}
			spec := map[string]any{"watchedPaths": list(paths)}
			if len(ignores) > 0 {
				spec["ignores"] = []any{map[string]any{"basePath": here, "patterns": list(ignores)}}
			}
			return createOne(g, &f, &w, cmd, "FileWatch", args[0], spec)
		},
	}
	f.add(c)
	c.ValidArgsFunction = nil
	w.add(c)
	c.Flags().StringSliceVar(&ignores, "ignore", nil, "patterns of files to ignore, as in .dockerignore, relative to the current folder")
	return c
}
