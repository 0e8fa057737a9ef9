package tiltfiles

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

func newExtensions(g *command.Global) *cobra.Command {
	c := &cobra.Command{
		Use:   "extensions",
		Short: "List the built-in extensions and the copies of extension repositories",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return listExtensions(g.Stdout, extensionStore(g.Stdout)) },
	}
	c.AddCommand(&cobra.Command{
		Use:   "update",
		Short: "Update the copies of extension repositories; running sessions use them at once",
		Long: `Updates the copies of all extension repositories that were fetched before.

A repository is fetched when a Tiltfile loads one of its extensions, and the copy stays unchanged until this command
updates it. The copy of a repository that is pinned to a commit or a tag does not change.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return updateExtensions(cmd.Context(), g.Stdout, extensionStore(g.Stdout))
		},
	})
	return c
}

func extensionStore(w io.Writer) *extension.Store {
	return &extension.Store{Dir: extension.DefaultDir(), Log: logstore.Func(func(_ logstore.Level, text string) { _, _ = io.WriteString(w, text) })}
}

func listExtensions(w io.Writer, s *extension.Store) error {
	fmt.Fprintf(w, "part of hone: %s\n", strings.Join(extension.Embedded(), ", "))
	list, err := s.List()
	if err != nil {
		return fmt.Errorf("list copies of extension repositories: %w", err)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range list {
		fmt.Fprintf(t, "%s\tcommit %.12s\tfetched %s\n", c.Repo, c.Commit, c.Fetched.Local().Format("2006-01-02 15:04"))
	}
	return t.Flush()
}

func updateExtensions(ctx context.Context, w io.Writer, s *extension.Store) error {
	list, err := s.List()
	if err != nil {
		return fmt.Errorf("list copies of extension repositories: %w", err)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "there are no copies to update: repositories are fetched when a Tiltfile loads their extensions")
		return err
	}
	for _, c := range list {
		now, changed, err := s.Refresh(ctx, c.Repo)
		if err != nil {
			return err
		}
		what := "has nothing new"
		if changed {
			what = fmt.Sprintf("is now at commit %.12s, was at %.12s", now.Commit, c.Commit)
		}
		fmt.Fprintf(w, "%s %s\n", c.Repo, what)
	}
	return nil
}
