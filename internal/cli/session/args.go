package session

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/editor"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
)

func newArgs(g *command.Global) *cobra.Command {
	var f flags.Session
	var clear bool
	c := &cobra.Command{
		Use:   "args [-- ARGS…]",
		Short: "Change the arguments of the running session's Tiltfile",
		Long: `Replaces the arguments of the running session's Tiltfile, and evaluates it: names of resources to enable, and values for
config.parse(). Without arguments, opens the current ones in the editor of TILT_EDITOR, KUBE_EDITOR, VISUAL or EDITOR, or
else in vi. Where there is no terminal, an editor that needs one is refused.`,
		Example: "  hone args frontend backend -- --debug on\n  hone args\n  hone args --clear",
		RunE: func(cmd *cobra.Command, args []string) error {
			if clear && len(args) > 0 {
				return problem.New("--clear cannot be specified with other values", "to replace the args: hone args -- ARGS…; to have none: hone args --clear")
			}
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			present, err := session.Args(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 0 && !clear {
				e := g.Editor(cmd.InOrStdin())
				if args, err = editArgs(cmd.Context(), e, session.Where(), present); err != nil {
					return err
				}
			}
			if slices.Equal(present, args) {
				fmt.Fprintf(g.Stdout, "%s is already running with those args -- no action taken\n", session.Where())
				return nil
			}
			if err := session.SetArgs(cmd.Context(), args); err != nil {
				return err
			}
			if len(args) == 0 {
				fmt.Fprintf(g.Stdout, "Cleared the Tiltfile args of %s\n", session.Where())
				return nil
			}
			fmt.Fprintf(g.Stdout, "Changed the Tiltfile args of %s to: %s\n", session.Where(), shellquote.Join(args...))
			return nil
		},
	}
	f.Add(c)
	c.Flags().BoolVar(&clear, "clear", false, "clear the arguments, as with a plain hone up")
	c.ValidArgsFunction = f.CompleteSwitches
	return c
}

// editArgs lets the user edit arguments, written as on a command line.
func editArgs(ctx context.Context, e editor.Editor, where string, present []string) ([]string, error) {
	text, path, err := e.Edit(ctx, "hone-args-*.sh", argsText(where, present))
	if err != nil {
		if path != "" {
			_ = os.Remove(path)
		}
		return nil, problem.Wrap(err, "the args stay as they are", "set them here: hone args -- ARGS…; or choose another editor: export TILT_EDITOR=PROGRAM")
	}
	args, err := parseArgs(text, len(present) == 0)
	if err != nil {
		return nil, &problem.Problem{Summary: "the args stay as they are", Cause: err, Mend: "write them in one line, quoted as for a shell; to have none: hone args --clear\nwhat you wrote is in " + path}
	}
	_ = os.Remove(path)
	return args, nil
}

// argsText returns the text for the editor.
func argsText(where string, args []string) []byte {
	return fmt.Appendf(nil, "# The Tiltfile args of %s, in one line, quoted as for a shell.\n# Lines that begin with # do not count.\n%s\n", where, shellquote.Join(args...))
}

// parseArgs reads the edited text: one line in addition to comments, which may be missing only if there were no arguments
// before.
func parseArgs(text []byte, mayLack bool) ([]string, error) {
	var found []string
	for line := range bytes.Lines(text) {
		if l := strings.TrimSpace(string(line)); l != "" && l[0] != '#' {
			found = append(found, l)
		}
	}
	switch {
	case len(found) == 0 && mayLack:
		return nil, nil
	case len(found) != 1:
		return nil, fmt.Errorf("there must be exactly one non-comment line, not %d", len(found))
	}
	args, err := shellquote.Split(found[0])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", found[0], err)
	}
	return args, nil
}
