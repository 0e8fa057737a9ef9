package session

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/pkg/api"
)

// clickFlags are the flags of hone click.
type clickFlags struct {
	target flags.Session
	inputs []string
}

func newClick(g *command.Global) *cobra.Command {
	var f clickFlags
	c := &cobra.Command{
		Use:   "click BUTTON",
		Short: "Click a button of the running session",
		Long: `Clicks a button that the Tiltfile declares, like its key on the screen. Inputs that are not given keep their default;
boolean inputs take true and false. hone describe uiresource NAME lists the buttons of a resource, hone get uibuttons lists
all of them. hone logs shows the output of what a click runs.`,
		Example: "  hone click seed\n  hone click seed --input SHARD=b --input DRY=false",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), g.Stdout, args[0]) },
	}
	f.target.Add(c)
	c.Flags().StringArrayVar(&f.inputs, "input", nil, "value of an input: NAME=VALUE; may be given more than once")
	c.ValidArgsFunction = f.completeButtons
	_ = c.RegisterFlagCompletionFunc("input", f.completeInputs)
	return c
}

func (f *clickFlags) run(ctx context.Context, out io.Writer, button string) error {
	inputs := map[string]any{}
	for _, text := range f.inputs {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return problem.New(fmt.Sprintf("%q fills no input", text), "write: --input NAME=VALUE")
		}
		if _, twice := inputs[name]; twice {
			return problem.New(fmt.Sprintf("the input %s is given twice", name), "leave out one of them")
		}
		inputs[name] = value
	}
	session, err := f.target.Find(ctx)
	if err != nil {
		return err
	}
	return Click(ctx, session, out, button, inputs)
}

// Click clicks a button, and prints that.
func Click(ctx context.Context, session *client.Client, out io.Writer, button string, inputs map[string]any) error {
	if err := session.Click(ctx, api.ClickRequest{Button: button, Inputs: inputs}); err != nil {
		return err
	}
	fmt.Fprintf(out, "Clicked button %q\n", button)
	return nil
}

// buttons returns the buttons of the chosen session; none if no session answers.
func (f *clickFlags) buttons(cmd *cobra.Command) []api.Button {
	ctx, cancel := flags.CompletionContext(cmd)
	defer cancel()
	f.target.Settle(cmd)
	session, err := f.target.Find(ctx)
	if err != nil {
		return nil
	}
	view, err := session.View(ctx)
	if err != nil {
		return nil
	}
	return view.Buttons
}

func (f *clickFlags) completeButtons(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, b := range f.buttons(cmd) {
			names = append(names, b.Name)
		}
	}
	return flags.Matching(names, "", word, nil), cobra.ShellCompDirectiveNoFileComp
}

// completeInputs completes names of inputs, and the values of those that can have few.
func (f *clickFlags) completeInputs(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	var out []string
	_, _, named := strings.Cut(word, "=")
	for _, b := range f.buttons(cmd) {
		if len(args) > 0 && b.Name != args[0] {
			continue
		}
		for _, in := range b.Inputs {
			switch {
			case !named:
				out = append(out, in.Name+"=")
			case in.Type == "bool":
				out = append(out, in.Name+"=true", in.Name+"=false")
			default:
				for _, choice := range in.Choices {
					out = append(out, in.Name+"="+choice)
				}
			}
		}
	}
	return flags.Matching(out, "", word, nil), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
