package object

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
)

func newCreateCmd(g *command.Global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var env, watches []string
	var dir string
	c := &cobra.Command{
		Use:   "cmd NAME COMMAND [ARG…]",
		Short: "Create a command that runs on this machine",
		Long: `Creates a command that the session runs at once, and again whenever one of its file watches sees a change. It does not run
in a shell; name one to run a script, as in the example. Flags come before the name: everything after it is the command.`,
		Example: "  hone create cmd --filewatch src lint golangci-lint run\n  hone create cmd hello sh -c 'echo hi && echo bye'",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := filepath.Abs(dir)
			if err != nil {
				return fmt.Errorf("find the folder: %w", err)
			}
			spec := map[string]any{"args": list(args[1:]), "dir": folder}
			for _, e := range env {
				if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
					return problem.New(fmt.Sprintf("%q sets no variable", e), "write: --env NAME=VALUE")
				}
			}
			if len(env) > 0 {
				spec["env"] = list(env)
			}
			if len(watches) > 0 {
				spec["restartOn"] = map[string]any{"fileWatches": list(watches)}
			}
			return createOne(g, &f, &w, cmd, "Cmd", args[0], spec)
		},
	}
	f.add(c)
	c.ValidArgsFunction = nil
	w.add(c)
	c.Flags().StringArrayVarP(&env, "env", "e", nil, "environment variable NAME=VALUE; may be given more than once")
	c.Flags().StringVarP(&dir, "workdir", "w", "", "folder to run in, instead of the current one")
	c.Flags().StringSliceVar(&watches, "filewatch", nil, "file watches that rerun it: hone create filewatch creates them")
	_ = c.RegisterFlagCompletionFunc("filewatch", f.completeNames("filewatches"))
	c.Flags().SetInterspersed(false)
	return c
}
