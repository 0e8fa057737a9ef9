// Package reference writes the reference pages of the command line and of the objects of the session's API. The pages are
// generated from the program itself, so they cannot disagree with it.
package reference

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Entry is a name with its documentation.
type Entry struct{ Name, Doc string }

// CLI is the content of the page of the command line.
type CLI struct {
	Root *cobra.Command
	// Environment lists the environment variables, and ExitCodes the exit codes of commands.
	Environment, ExitCodes []Entry
}

// Write writes the whole page.
func (p CLI) Write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# The command line\n\n<!-- Generated from the commands themselves: edit those, then run make generate. -->\n\n")
	fmt.Fprintf(&b, "%s. Global flags:\n", p.Root.Short)
	flags(&b, p.Root.PersistentFlags())
	all := p.Commands()
	b.WriteString("\n| command | description |\n|---|---|\n")
	for _, c := range all {
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", code(c.CommandPath()), anchor(c), cell(c.Short))
	}
	for _, c := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s", c.CommandPath(), Command(c))
	}
	section(&b, "Environment", "variable", p.Environment)
	section(&b, "Exit codes", "code", p.ExitCodes)
	_, err := b.WriteTo(w)
	return err
}

// Commands returns the public commands, each before its subcommands.
func (p CLI) Commands() (out []*cobra.Command) {
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() && sub.Name() != "help" {
				out = append(out, sub)
				add(sub)
			}
		}
	}
	add(p.Root)
	return out
}

// Command describes one command.
func Command(c *cobra.Command) string {
	var b bytes.Buffer
	c.InitDefaultHelpFlag()
	doc := c.Long
	if doc == "" {
		doc = c.Short + "."
	}
	b.WriteString(indented(doc))
	if c.Runnable() {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", c.UseLine())
	}
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAlso: %s\n", code(strings.Join(c.Aliases, ", ")))
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\n```sh\n%s\n```\n", unindented(c.Example))
	}
	flags(&b, c.LocalNonPersistentFlags())
	return b.String()
}

// flags writes a table of flags.
func flags(b *bytes.Buffer, set *pflag.FlagSet) {
	headed := false
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if !headed {
			b.WriteString("\n| flag | |\n|---|---|\n")
			headed = true
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		kind, doc := pflag.UnquoteUsage(f)
		if kind != "" {
			name += " " + kind
		}
		if v := f.DefValue; v != "" && v != "false" && v != "[]" {
			doc += " (" + v + ")"
		}
		fmt.Fprintf(b, "| %s | %s |\n", code(name), cell(doc))
	})
}

// section writes a table of entries under a heading.
func section(b *bytes.Buffer, title, column string, all []Entry) {
	fmt.Fprintf(b, "\n## %s\n\n| %s | |\n|---|---|\n", title, column)
	for _, e := range all {
		fmt.Fprintf(b, "| %s | %s |\n", code(e.Name), cell(e.Doc))
	}
}

func code(s string) string { return "`" + s + "`" }

// cell escapes a text for a table.
func cell(s string) string { return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s) }

// anchor returns the link anchor of a command's heading on the usual forges.
func anchor(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// indented formats a text as Markdown, with its indented lines as code.
func indented(s string) string {
	var b strings.Builder
	kept := false
	for _, line := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		if now := strings.HasPrefix(line, "  "); now != kept {
			b.WriteString("```\n")
			kept = now
		}
		b.WriteString(line + "\n")
	}
	if kept {
		b.WriteString("```\n")
	}
	return b.String()
}

// unindented removes the indentation of the first line from all lines of a text.
func unindented(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	margin := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], margin)
	}
	return strings.Join(lines, "\n")
}
