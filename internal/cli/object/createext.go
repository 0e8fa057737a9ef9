package object

import (
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
)

func newCreateRepo(g *command.Global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var ref string
	c := &cobra.Command{
		Use:     "repo NAME URL",
		Short:   "Register an extension repository with the session",
		Example: "  hone create repo dev https://git.example.com/shop/extensions --ref=v2\n  hone create repo here file:///home/me/extensions",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec := map[string]any{"url": args[1]}
			if ref != "" {
				spec["ref"] = ref
			}
			return createOne(g, &f, &w, cmd, "ExtensionRepo", args[0], spec)
		},
	}
	f.add(c)
	c.ValidArgsFunction = cobra.NoFileCompletions
	w.add(c)
	c.Flags().StringVar(&ref, "ref", "", "branch, tag or commit")
	return c
}

func newCreateExt(g *command.Global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var repo, path string
	c := &cobra.Command{
		Use:     "ext NAME [ARG…]",
		Short:   "Load an extension into the session",
		Example: "  hone create ext cancel\n  hone create ext fwd --repo=dev --path=./kubefwd -- --namespaces=default",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec := map[string]any{"repoName": repo, "repoPath": args[0]}
			if path != "" {
				spec["repoPath"] = path
			}
			if len(args) > 1 {
				spec["args"] = list(args[1:])
			}
			return createOne(g, &f, &w, cmd, "Extension", args[0], spec)
		},
	}
	f.add(c)
	c.ValidArgsFunction = cobra.NoFileCompletions
	w.add(c)
	c.Flags().StringVar(&repo, "repo", "default", "repository of the extension: hone get extensionrepos lists them")
	c.Flags().StringVar(&path, "path", "", "path in the repository, instead of the name")
	_ = c.RegisterFlagCompletionFunc("repo", f.completeNames("extensionrepos"))
	return c
}
