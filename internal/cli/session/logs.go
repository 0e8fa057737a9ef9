package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/answers"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/pkg/api"
)

// logFlags are the flags of hone logs.
type logFlags struct {
	target flags.Session
	follow bool
	since  string
	tail   int
	json   bool
	saved  bool
	level  string
	source string
	typed  string
}

func newLogs(g *command.Global) *cobra.Command {
	var f logFlags
	c := &cobra.Command{
		Use:   "logs [NAME…]",
		Short: "Print the logs of the running session",
		Long: `Prints the logs of the running session's resources, as far as they are kept, like hone up --stream. With names, prints only
the lines of these resources; (Tiltfile) names the Tiltfile's own log.

The output of a program has the levels that its lines name, in the formats of the usual loggers; a stack trace is an error.
Where a resource has several pods, or a pod has several containers, each line begins with the pod's or the container's name.

With --json every line is an object, with time, resource, span, source, level, pod, container and text. If lines are
missing, because the log is bounded or the reader was too slow, a line reports how many.`,
		Example: "  hone logs\n  hone logs -f api web\n  hone logs --since 5m --level error\n  hone logs --tail 20 --source build api --json\n  hone logs -q '/time(d )?out/ !health status>=500'",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), g, args) },
	}
	f.target.Add(c)
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "keep printing until the session ends")
	c.Flags().StringVar(&f.since, "since", "", "print only lines since this time, such as 2026-01-31T12:00:00Z, or this long ago, such as 5m")
	c.Flags().BoolVar(&f.saved, "since-save", false, "print only lines since the newest save of these resources")
	c.MarkFlagsMutuallyExclusive("since", "since-save")
	c.Flags().IntVar(&f.tail, "tail", -1, "start with this many of the newest lines; -1 starts with the oldest line kept")
	c.Flags().BoolVar(&f.json, "json", false, "print each line as an object")
	c.Flags().StringVar(&f.level, "level", "info", "print only lines of this level and above: debug (with the details of updates), info, warn, error")
	c.Flags().StringVar(&f.source, "source", "all", "print only lines of this source: all, build, runtime")
	c.Flags().StringVarP(&f.typed, "query", "q", "", "print only lines that match, as in the filter of the screen: words, !word, /regex/, pod:x2v1, container:main, status>=500")
	_ = c.RegisterFlagCompletionFunc("level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("source", cobra.FixedCompletions([]string{"all", "build", "runtime"}, cobra.ShellCompDirectiveNoFileComp))
	c.ValidArgsFunction = f.target.CompleteResources
	return c
}

func (f *logFlags) run(ctx context.Context, g *command.Global, names []string) error {
	query, err := f.query(names)
	if err != nil {
		return err
	}
	session, err := f.target.Find(ctx)
	if err != nil {
		return err
	}
	in, err := session.Logs(ctx, query)
	if err != nil {
		return err
	}
	lines := newLogSpool(in, f.follow, maxSpool)
	defer lines.Close()
	if err := printLogs(lines, f.printer(g.Stdout)); err != nil {
		return ended(ctx, session, "logs", err)
	}
	return nil
}

// query returns the query of GET /api/logs for the flags.
func (f *logFlags) query(names []string) (url.Values, error) {
	switch f.level {
	case "", "all", "debug", "info", "warn", "error":
	default:
		return nil, problem.New(fmt.Sprintf("unknown --level %q", f.level), "choose debug, info, warn or error")
	}
	switch f.source {
	case "", "all", "build", "runtime":
	default:
		return nil, problem.New(fmt.Sprintf("unknown --source %q", f.source), "choose all, build or runtime")
	}
	if f.tail < -1 {
		return nil, problem.New(fmt.Sprintf("--tail %d is not a number of lines", f.tail), "for the newest ten: --tail 10")
	}
	q := url.Values{"format": {"json"}, "follow": {strconv.FormatBool(f.follow)}, "level": {f.level}, "source": {f.source}, "tail": {strconv.Itoa(f.tail)}}
	if len(names) > 0 {
		q["resource"] = names
	}
	since := f.since
	if f.saved {
		since = "save"
	}
	for key, value := range map[string]string{"since": since, "query": f.typed} {
		if value != "" {
			q.Set(key, value)
		}
	}
	return q, nil
}

// printer returns a function that prints lines, after a note about lines that are missing before them.
func (f *logFlags) printer(out io.Writer) func(skipped uint64, lines []spooled) error {
	if f.json {
		return func(skipped uint64, lines []spooled) error { return printLogObjects(out, skipped, lines) }
	}
	p := stream.NewPrinter(out, stream.ColorAuto)
	return func(skipped uint64, lines []spooled) error {
		var some []logstore.Line
		for _, l := range lines {
			switch {
			case l.Skipped == 0:
				some = append(some, answers.StoredLine(l.LogLine))
				continue
			case len(some) > 0:
				if err := p.Print(skipped, some...); err != nil {
					return err
				}
				some, skipped = nil, 0
			}
			skipped += l.Skipped
		}
		return p.Print(skipped, some...)
	}
}

func printLogObjects(out io.Writer, skipped uint64, lines []spooled) error {
	var b []byte
	if skipped > 0 {
		gap, err := json.Marshal(api.LogLine{Skipped: skipped})
		if err != nil {
			return fmt.Errorf("write a line: %w", err)
		}
		b = append(b, gap...)
		b = append(b, '\n')
	}
	for _, l := range lines {
		b = append(b, l.raw...)
	}
	_, err := out.Write(b)
	return err
}

// printLogs prints lines as they come, until the last.
func printLogs(lines *logSpool, print func(uint64, []spooled) error) error {
	for {
		some, skipped, err := lines.next()
		if e := print(skipped, some); e != nil {
			return e
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
