package cli

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/web/docs"
)

var (
	fence     = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```")
	codeSpan  = regexp.MustCompile("`([^`]+)`")
	separator = regexp.MustCompile(`\n|\|\|?|&&?|;`)
	longFlag  = regexp.MustCompile(`^--([a-z][a-z0-9-]*)(=.*)?$`)
	word      = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
)

// othersFlags are flags of other programs that pages name by themselves.
var othersFlags = []string{"chown", "continue", "inspect-brk", "wait-for-client"}

// TestPagesNameCommands checks that each command and flag of hone exists that the documentation names in code. The pages of reference are
// generated from the commands.
func TestPagesNameCommands(t *testing.T) {
	root := newRoot(&command.Global{Stdout: io.Discard, Stderr: io.Discard})
	root.InitDefaultHelpCmd()
	named := 0
	for _, p := range docs.Pages() {
		if strings.HasPrefix(p.Topic, "reference/") {
			continue
		}
		var code []string
		for _, b := range p.Blocks() {
			if b.Lang == "sh" {
				code = append(code, strings.ReplaceAll(b.Text, "\\\n", " "))
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(fence.ReplaceAllString(string(p.Text), ""), -1) {
			code = append(code, strings.ReplaceAll(m[1], "\n", " "))
		}
		for _, c := range code {
			for _, line := range separator.Split(c, -1) {
				words := strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(line))
				words = words[max(0, slices.IndexFunc(words, func(w string) bool { return w != "$" && !strings.Contains(w, "=") })):]
				switch {
				case len(words) == 0:
				case words[0] == "hone":
					named++
					if wrong := checkCommand(root, words[1:]); wrong != "" {
						t.Errorf("%s: `%s`: %s", p.Topic, strings.TrimSpace(line), wrong)
					}
				case longFlag.MatchString(words[0]):
					named++
					if name := longFlag.FindStringSubmatch(words[0])[1]; !slices.Contains(othersFlags, name) && !anyHas(root, name) {
						t.Errorf("%s: no command has the flag `%s`", p.Topic, words[0])
					}
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("the pages name only %d commands and flags", named)
	}
}

// checkCommand returns the error in the arguments of hone, or "". Placeholders, NAME or …, may stand for anything.
func checkCommand(c *cobra.Command, args []string) string {
	at := true // whether the next word may be a command
	for _, arg := range args {
		switch {
		case arg == "--" || c.DisableFlagParsing:
			return ""
		case strings.HasPrefix(arg, "#"):
			return ""
		case longFlag.MatchString(arg):
			c.InitDefaultHelpFlag()
			c.InitDefaultVersionFlag()
			if name := longFlag.FindStringSubmatch(arg)[1]; c.Flag(name) == nil {
				return c.CommandPath() + " has no flag --" + name
			}
		case at:
			i := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == arg || sub.HasAlias(arg) })
			if i >= 0 {
				c = c.Commands()[i]
				continue
			}
			if !c.Runnable() && word.MatchString(arg) {
				return c.CommandPath() + " has no command " + arg
			}
			at = false
		}
	}
	return ""
}

// anyHas reports whether a command or one below it has a flag.
func anyHas(c *cobra.Command, flag string) bool {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	return c.Flag(flag) != nil || slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return anyHas(sub, flag) })
}
