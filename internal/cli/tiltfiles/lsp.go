package tiltfiles

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/lsp"
)

func newLSP(g *command.Global) *cobra.Command {
	serve := func(cmd *cobra.Command, _ []string) error {
		in, err := command.OpenInput(cmd.InOrStdin())
		if err != nil {
			return err
		}
		return serveEditor(cmd.Context(), g, in)
	}
	c := &cobra.Command{
		Use:   "lsp",
		Short: "Run the language server for Tiltfiles: completion, documentation, diagnostics, formatting",
		Long: `Speaks the language server protocol on standard input and output; an editor starts it. It knows every name of the
Tiltfile language, and what the Tiltfile and the files that it loads define. It formats Tiltfiles as buildifier formats
Starlark. Nothing is evaluated: editing a Tiltfile runs none of its commands.`,
		Example: `  Neovim: vim.lsp.start({ name = "hone", cmd = { "hone", "lsp" } })
  Helix:  [language-server.hone]
          command = "hone"
          args = ["lsp"]`,
		Args: cobra.NoArgs,
		RunE: serve,
	}
	c.AddCommand(newLSPStart(serve))
	return c
}

// newLSPStart returns the same command under its name in Tilt, which editor extensions call.
func newLSPStart(serve func(*cobra.Command, []string) error) *cobra.Command {
	c := &cobra.Command{Use: "start", Short: `The same as "hone lsp"`, Args: cobra.NoArgs, RunE: serve}
	c.Flags().StringArray("builtin-paths", nil, "") // where Tilt finds the names of the language, all of which hone knows
	_ = c.Flags().MarkHidden("builtin-paths")
	return c
}

func serveEditor(ctx context.Context, g *command.Global, in io.ReadCloser) error {
	return lsp.Serve(ctx, in, text.Beneath(g.Stdout), lsp.Options{
		Version: command.Version, Extensions: extension.Catalog{Store: &extension.Store{Dir: extension.DefaultDir()}},
		Fault: func(text string) { fmt.Fprintln(g.Stderr, text) },
	})
}
