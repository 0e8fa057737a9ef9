package session

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
)

func newDump(g *command.Global) *cobra.Command {
	c := &cobra.Command{
		Use:   "dump",
		Short: "Print the internal state of hone or of a running session",
	}
	c.AddCommand(newDumpOf(g, "engine", client.DumpEngine, "Print the whole store of the running session, as JSON",
		"Prints every table of the store with its metadata, and the health of the loop and of hone's own parts. hone get TABLE shows one table."),
		newDumpOf(g, "webview", client.DumpView, "Print what the running session shows, as JSON", "Prints what GET /api/view serves."),
		newDumpOf(g, "logstore", client.DumpLogstore, "Print all logs of the running session, as JSON",
			"Prints all lines that are kept, with their resources, spans and levels. hone logs prints them for people."))
	return command.Group(c)
}

// newDumpOf prints a document of the session.
func newDumpOf(g *command.Global, name, document, short, long string) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:   name,
		Short: short,
		Long:  long + "\n\nSecrets that the session knows are removed.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return copyDump(cmd.Context(), &f, document, g.Stdout)
		},
	}
	f.Add(c)
	return c
}

// copyDump writes a document of the chosen session.
func copyDump(ctx context.Context, f *flags.Session, document string, out io.Writer) error {
	session, err := f.Find(ctx)
	if err != nil {
		return err
	}
	return copyDocument(ctx, session, document, out)
}

// copyDocument writes a document of a session.
func copyDocument(ctx context.Context, session *client.Client, document string, out io.Writer) error {
	body, err := session.Dump(ctx, document)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(out, body)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return problem.New("the session ended before it had written the whole document", "hone sessions shows what still runs")
	case err != nil:
		return fmt.Errorf("copy the session's document: %w", err)
	}
	return nil
}
