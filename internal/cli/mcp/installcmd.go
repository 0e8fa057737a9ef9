package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/mcp/install"
)

// installFlags are the flags of hone mcp install and uninstall.
type installFlags struct {
	agents, yes, start, exec bool
}

func newInstall(g *command.Global) *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "install [CLIENT…]",
		Short: "Add hone mcp to the configuration of coding agents",
		Long: fmt.Sprintf(`Adds hone mcp to the configuration of coding agents: %s. Without names, of those that this folder, or the
home folder, has a configuration of. It shows each change and asks. Everything else in the files stays, comments included; a file that it
cannot edit, or whose entry it has not written, stays as it is.

With --agents, it also adds a short section about hone to AGENTS.md. hone mcp uninstall takes all of it back.`, clientFiles()),
		Example: "  hone mcp install\n  hone mcp install claude vscode --start --agents",
		RunE: func(cmd *cobra.Command, args []string) error {
			var options []string
			if f.start {
				options = append(options, "--start")
			}
			if f.exec {
				options = append(options, "--allow-exec")
			}
			return f.run(cmd, g, args, func(p install.Places, c install.Client) (install.Change, error) { return p.Install(c, options) }, install.Places.Advise)
		},
	}
	f.add(c, "add the section about hone to AGENTS.md, too")
	c.Flags().BoolVar(&f.start, "start", false, "let hone mcp start a session if there is none")
	c.Flags().BoolVar(&f.exec, "allow-exec", false, "let hone mcp run commands in containers")
	return c
}

func newUninstall(g *command.Global) *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "uninstall [CLIENT…]",
		Short: "Remove hone mcp from the configuration of coding agents",
		Long:  "Takes back what hone mcp install has written. It shows each change and asks.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, g, args, install.Places.Uninstall, install.Places.Unadvise)
		},
	}
	f.add(c, "remove the section about hone from AGENTS.md, too")
	return c
}

func (f *installFlags) add(c *cobra.Command, agents string) {
	c.Flags().BoolVar(&f.agents, "agents", false, agents)
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		return flags.Matching(install.Names(), "", word, args), cobra.ShellCompDirectiveNoFileComp
	}
}

// clientFiles lists the clients and their files.
func clientFiles() string {
	var out []string
	for _, c := range install.Clients {
		out = append(out, c.String())
	}
	return strings.Join(out, ", ")
}

// run shows the changes of all chosen clients, asks once, and makes them.
func (f *installFlags) run(cmd *cobra.Command, g *command.Global, names []string, edit func(install.Places, install.Client) (install.Change, error), agents func(install.Places) (install.Change, error)) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working folder: %w", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return fmt.Errorf("find the home folder: %w", err)
	}
	p := install.Places{Project: filepath.Clean(here), Home: home}
	var changes []install.Change
	take := func(c install.Change, err error) error {
		if err == nil && !c.Empty() {
			changes = append(changes, c)
		}
		return err
	}
	clients, err := p.Choose(names)
	if only := f.agents && len(names) == 0; err != nil && !only {
		return err
	}
	for _, c := range clients {
		if err := take(edit(p, c)); err != nil {
			return err
		}
	}
	if f.agents {
		if err := take(agents(p)); err != nil {
			return err
		}
	}
	if len(changes) == 0 {
		fmt.Fprintln(g.Stdout, "Nothing has to change.")
		return nil
	}
	for _, c := range changes {
		fmt.Fprintln(g.Stdout, c.Diff())
	}
	if !f.yes {
		if !command.Interactive() {
			return problem.New("cannot ask before it writes: this is not a terminal", "add --yes")
		}
		if yes, err := command.Confirm(cmd.Context(), g.Stdout, "Write this?"); err != nil || !yes {
			return err
		}
	}
	for _, c := range changes {
		if err := c.Make(); err != nil {
			return err
		}
		fmt.Fprintf(g.Stdout, "Wrote %s\n", c.Path)
	}
	return nil
}
