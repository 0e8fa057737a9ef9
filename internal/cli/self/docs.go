package self

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/editor"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/web/docs"
)

// paperWidth is the width of a page, in cells, that does not go to a terminal.
const paperWidth = 80

func newDocs(g *command.Global) *cobra.Command {
	var find, site string
	c := &cobra.Command{
		Use:   "docs [TOPIC]",
		Short: "Show the documentation",
		Long: `Shows a page of the documentation, or without a topic the list of all pages. It is part of hone and needs no network. In a
terminal, a page that is longer than the screen opens in the pager (PAGER, or less).

The web page of a session has the same pages, under "Docs".`,
		Example: "  hone docs\n  hone docs live-update\n  hone docs go\n  hone docs --find 'port in use'\n  hone docs --site public",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case site != "":
				if err := docs.WriteSite(site); err != nil {
					return err
				}
				fmt.Fprintf(g.Stdout, "Wrote %s\n", filepath.Join(site, docs.Index+".html"))
				return nil
			case find != "":
				return findDocs(g, find)
			}
			if len(args) == 0 {
				return show(cmd, g, docs.Contents)
			}
			p, ok := docs.Find(args[0])
			if !ok {
				return noTopic(args[0])
			}
			return show(cmd, g, p.Terminal)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) (out []string, _ cobra.ShellCompDirective) {
			for _, p := range docs.Pages() {
				out = append(out, p.Topic+"\t"+p.Summary)
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringVar(&find, "find", "", "list the pages that contain these words")
	c.Flags().StringVar(&site, "site", "", "write all pages as a web site into this folder")
	c.MarkFlagsMutuallyExclusive("find", "site")
	return c
}

// noTopic returns the problem of an unknown topic. It names similar ones.
func noTopic(topic string) error {
	var all []string
	for _, p := range docs.Pages() {
		all = append(all, p.Topic)
	}
	mend := "hone docs lists all pages; hone docs --find WORDS searches them"
	if near := suggest.Nearest(topic, all); near != "" {
		mend = "did you mean: hone docs " + near + "\n" + mend
	}
	return problem.New(fmt.Sprintf("the documentation has no page %q", topic), mend)
}

func findDocs(g *command.Global, words string) error {
	found := docs.Search(strings.Fields(words)...)
	if len(found) == 0 {
		return problem.New(fmt.Sprintf("no page contains %q", words), "try fewer words; hone docs lists all pages")
	}
	for _, m := range found {
		fmt.Fprintf(g.Stdout, "%-24s %s\n", m.Page.Topic, ansi.Truncate(m.Line, paperWidth, "…"))
	}
	return nil
}

// show prints a text, or opens the pager for one that is longer than the terminal.
func show(cmd *cobra.Command, g *command.Global, page func(width int, styled bool) string) error {
	out, isFile := text.Beneath(g.Stdout).(*os.File)
	if !isFile || !term.IsTerminal(int(out.Fd())) {
		_, err := fmt.Fprint(g.Stdout, page(paperWidth, false))
		return err
	}
	width, height, err := term.GetSize(int(out.Fd()))
	if err != nil {
		width, height = paperWidth, 0
	}
	shown := page(width, os.Getenv("NO_COLOR") == "")
	if height == 0 || strings.Count(shown, "\n") < height || !term.IsTerminal(int(os.Stdin.Fd())) {
		_, err := fmt.Fprint(out, shown)
		return err
	}
	file, err := os.CreateTemp("", "hone-docs-*.txt")
	if err != nil {
		return fmt.Errorf("make a file for the pager: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if _, err := file.WriteString(shown); err != nil {
		return fmt.Errorf("write the file for the pager: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write the file for the pager: %w", err)
	}
	pager := editor.PagerFromEnvironment(os.Stdin, out, os.Stderr)
	pager.FromStart = true
	return pager.Show(cmd.Context(), file.Name())
}
