package session

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/answers"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/pkg/api"
)

func newStatus(g *command.Global) *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:   "status",
		Short: "Show whether the running session is well, and what is wrong with it",
		Long: fmt.Sprintf(`Counts the resources of the running session, and shows what is not simply well: problems of the session itself, failures with their
cause, place and mend, and resources that wait, are being updated or give warnings. hone why NAME tells more about one of them.

It exits with %d, or with %d if something fails.`, command.ExitOK, command.ExitFailure),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var status answers.Status
			err := q.ask(cmd.Context(), g, func(c *client.Client) (_ any, err error) {
				status, err = answers.AskStatus(cmd.Context(), c)
				return status, err
			}, func(out io.Writer) {
				fmt.Fprintln(out, status.Head())
				for _, f := range status.Findings {
					fmt.Fprintln(out, answers.Finding(f))
				}
			})
			if err == nil && status.Broken() {
				return command.AlreadyPrinted(fmt.Errorf("something fails"), command.ExitFailure)
			}
			return err
		},
	}
	q.add(c, api.Status{})
	return c
}

func newWhy(g *command.Global) *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:   "why NAME",
		Short: "Show why a resource of the running session fails or waits",
		Long: `Shows why a resource is as it is: the things that it waits for, down to the resource at the root of the wait, and the failures that
concern it, each with its cause, its place in the source, the lines of its output that matter, and its mend.`,
		Example: "  hone why api",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var reasons []answers.Reason
			return q.ask(cmd.Context(), g, func(c *client.Client) (_ any, err error) {
				reasons, err = answers.AskWhy(cmd.Context(), c, args[0])
				return reasons, err
			}, func(out io.Writer) {
				for _, r := range reasons {
					fmt.Fprintln(out, r)
				}
			})
		},
	}
	q.add(c, []api.Reason{})
	c.ValidArgsFunction = q.target.CompleteResources
	return c
}

func newDiff(g *command.Global) *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:   "diff [NAME…]",
		Short: "Show the newest save, and where it runs",
		Long: `Shows the files of the newest save for each resource that they belong to: whether the change is live, and how it got there, or why it
is not, and the containers that have it or lack it. With names, only of these resources.`,
		Example: "  hone diff\n  hone diff api",
		RunE: func(cmd *cobra.Command, args []string) error {
			var changes []answers.Change
			return q.askState(cmd.Context(), g, func(s *answers.Session) (_ any, err error) {
				changes, err = s.Changes(args)
				return changes, err
			}, func(out io.Writer) {
				for _, c := range changes {
					fmt.Fprintln(out, c)
				}
			})
		},
	}
	q.add(c, []answers.Change{})
	c.ValidArgsFunction = q.target.CompleteResources
	return c
}

// question are the flags of commands that ask about a session.
type question struct {
	target flags.Session
	output string
	// of is the name of the command.
	of string
}

// add adds the flags. document is a value of the type of the answer.
func (q *question) add(c *cobra.Command, document any) {
	q.of = c.Name()
	q.target.Add(c)
	command.AddDocumentFlag(c, &q.output, document)
}

// ask asks the chosen session, and prints the answer: as a document if the user has chosen a format, else with text.
func (q *question) ask(ctx context.Context, g *command.Global, get func(*client.Client) (any, error), text func(io.Writer)) error {
	write, err := command.DocumentWriter(q.output, q.of)
	if err != nil {
		return err
	}
	session, err := q.target.Find(ctx)
	if err != nil {
		return err
	}
	doc, err := get(session)
	if err != nil {
		return err
	}
	if write != nil {
		return write(g.Stdout, doc)
	}
	text(g.Stdout)
	return nil
}

// askState is ask for a question about the whole state of the session.
func (q *question) askState(ctx context.Context, g *command.Global, get func(*answers.Session) (any, error), text func(io.Writer)) error {
	return q.ask(ctx, g, func(c *client.Client) (any, error) {
		s, err := answers.Of(ctx, c)
		if err != nil {
			return nil, err
		}
		return get(s)
	}, text)
}
