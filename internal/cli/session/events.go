package session

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/waterfall"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// maxEvent bounds a line of the stream of events: an error with all of a command's output.
const maxEvent = 16 << 20

// eventFlags are the flags of hone events.
type eventFlags struct {
	target flags.Session
	output string
	since  string
	types  []string
	follow bool
}

func newEvents(g *command.Global) *cobra.Command {
	var f eventFlags
	c := &cobra.Command{
		Use:   "events [NAME…]",
		Short: "Print the events of the running session",
		Long: `Prints the events of the running session, past ones as far as they are kept and then new ones: changed files, updates with
their stages, pods, servers, port forwards, what resources wait for, and problems with their fixes. With names, prints only
events of these resources.

With -o json every line is an object; hone docs events describes them. A line of type gap reports that events are missing, because
the reader could not keep up, or because --since is too long ago.

With -o waterfall it shows where the time of the start went: a bar for each resource until it was ready first, and the critical path,
which decided the end.`,
		Example: "  hone events\n  hone events -o waterfall\n  hone events api --type update,problem\n  hone events -o json --since 5m --follow=false",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), g, args) },
	}
	f.target.Add(c)
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text, json for one object per line, yaml for one document after the other, or waterfall")
	c.Flags().StringVar(&f.since, "since", "", "start after this event number, at this time, or this long ago, such as 5m (default: the oldest event kept)")
	c.Flags().StringSliceVar(&f.types, "type", nil, "print only events of this type or family, such as pod-ready or pod; may be given more than once")
	c.Flags().BoolVarP(&f.follow, "follow", "f", true, "keep printing until the session ends")
	return c
}

func (f *eventFlags) run(ctx context.Context, g *command.Global, names []string) error {
	print, over := printText, func() error { return nil }
	switch f.output {
	case "text":
	case command.OutputJSON:
		print = printJSON
	case command.OutputYAML:
		print = func(out io.Writer, line []byte) error { return printJSON(&command.YAMLLines{Out: out}, line) }
	case "waterfall":
		print, over = gathered(g.Stdout)
		f.follow = false
	default:
		return command.UnknownStreamFormat(f.output)
	}
	for _, t := range f.types {
		if !events.Known(t) {
			return problem.New(fmt.Sprintf("there are no events of type %q", t), "hone docs events lists the types; a family is for example: --type pod")
		}
	}
	session, err := f.target.Find(ctx)
	if err != nil {
		return err
	}
	if err := heardOf(ctx, session, names); err != nil {
		return err
	}
	query := url.Values{"resource": names, "type": f.types, "follow": {strconv.FormatBool(f.follow)}}
	if f.since != "" {
		query.Set("since", f.since)
	}
	stream, err := session.Events(ctx, query)
	if err != nil {
		return err
	}
	defer stream.Close()
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		if err := print(g.Stdout, lines.Bytes()); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("read an event of the session: %w", err)
	case err != nil:
		return ended(ctx, session, "events", brokenOff{fmt.Errorf("read events: %w", err)})
	}
	return over()
}

// gathered returns functions that take in events, and print the waterfall at their end.
func gathered(out io.Writer) (take func(io.Writer, []byte) error, over func() error) {
	var all []api.Event
	take = func(_ io.Writer, line []byte) error {
		var e api.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("read an event of the session: %w", err)
		}
		all = append(all, e)
		return nil
	}
	return take, func() error { return waterfall.Of(all, time.Now()).Text(out) }
}

// heardOf refuses names that neither a resource nor a kept event of the session has: nothing would ever be printed. While
// the Tiltfile has an error, it accepts all names, since the future resources are unknown.
func heardOf(ctx context.Context, session *client.Client, names []string) error {
	if len(names) == 0 {
		return nil
	}
	view, err := session.View(ctx)
	if err != nil || view.TiltfileError != "" {
		return err
	}
	all := []string{string(model.TiltfileName)}
	for _, r := range view.Resources {
		all = append(all, r.Name)
	}
	for _, name := range names {
		if slices.Contains(all, name) {
			continue
		}
		past, err := session.Events(ctx, url.Values{"resource": {name}, "follow": {"false"}})
		if err != nil {
			return err
		}
		n, err := io.ReadFull(past, make([]byte, 1))
		_ = past.Close()
		if n > 0 {
			continue
		}
		if !errors.Is(err, io.EOF) {
			return fmt.Errorf("read events: %w", err)
		}
		return problem.New(fmt.Sprintf("%s: no resource is called %q", session.Where(), name),
			suggest.Mend(name, all, "there are: "+strings.Join(all, ", ")))
	}
	return nil
}

// printJSON prints an event as it came.
func printJSON(out io.Writer, line []byte) error {
	_, err := fmt.Fprintf(out, "%s\n", line)
	return err
}

func printText(out io.Writer, line []byte) error {
	var e api.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("read an event of the session: %w", err)
	}
	_, err := fmt.Fprintln(out, events.Text(e, time.Local))
	return err
}
