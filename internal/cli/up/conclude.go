package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/outputfile"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/cireport"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/loop/waterfall"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// lastLines is the number of lines of a resource's log that the report shows with its failure, and lastSaid is the number of lines
// of a container's log that the final error shows. Each line is at most lastWidth columns wide.
const (
	lastLines = 50
	lastSaid  = 15
	lastWidth = 300
)

// reportOptions are the outputs of ci in addition to the table.
type reportOptions struct {
	// lines receives the events and the summary as JSON; nil for none.
	lines io.Writer
	// junit receives a report in JUnit's format; nil for none.
	junit *outputfile.File
	// waterfall is set if the report shows where the time went.
	waterfall bool
}

// wanted reports whether there is any such output.
func (r reportOptions) wanted() bool { return r.lines != nil || r.junit != nil || r.waterfall }

// conclusion is the data that ci's report is made from.
type conclusion struct {
	reporter *cireport.Reporter
	// end is the state before anything was stopped, now is the newest state. at is the time at which the session ended.
	end, now store.View
	at       time.Time
	logs     *logstore.Store
}

// notBegun reports that a session of ci could not begin, and returns why.
func (o options) notBegun(err error) error {
	if o.command != state.CommandCI {
		return err
	}
	v := engine.BeforeSession(state.Session{Command: o.command, Tiltfile: o.tiltfile, Args: o.choice.Args}, o.evaluated)
	return o.conclude(conclusion{reporter: cireport.New(o.report.lines), end: v, now: v, at: time.Now()}, err, nil)
}

// conclude reports the result of a session of ci. It returns the error of the command, given the session's error and the
// cause of an end from outside, if any.
func (o options) conclude(c conclusion, err, cause error) error {
	withLastLines(err, c)
	outcome, err := outcomeOf(c.end, err, cause)
	outcome.At, outcome.Tiltfile, outcome.Failure = c.at, o.tiltfile, o.global.Secrets.Text(outcome.Failure)
	s, failed := c.reporter.Summarize(c.end, c.now, outcome)
	if o.report.junit != nil {
		failed = errors.Join(failed, o.writeJUnit(s, c.logs))
	}
	failed = errors.Join(failed, cireport.Text(o.human(), o.called, s), o.writeWaterfall(c))
	if err == nil {
		fmt.Fprintln(o.human(), "SUCCESS. All workloads are healthy.")
	}
	if failed != nil {
		o.global.Printer(o.global.Stdout, o.global.Stderr).Fail(problem.Text(failed))
		if err == nil {
			return command.AlreadyPrinted(failed, command.ExitFailure)
		}
	}
	return err
}

// withLastLines adds the last log lines of the failed container to the failure of a session.
func withLastLines(err error, c conclusion) {
	var f *engine.Failure
	ended := state.TheSession(c.now).Ended
	if !errors.As(err, &f) || c.logs == nil {
		return
	}
	if ended == nil || ended.Span == "" {
		return
	}
	lines := newestOf(c.logs.Tail(logstore.Filter{Resources: []model.ManifestName{ended.Resource}, Span: ended.Span}, lastSaid))
	if len(lines) == 0 {
		return
	}
	f.Text = strings.TrimRight(f.Text, "\n") + "\n  the last lines of its log:"
	for _, l := range lines {
		f.Text += "\n  │ " + text.Cut(text.CleanTabs(l), lastWidth)
	}
}

// writeWaterfall shows where the time went, if the user wants to know.
func (o options) writeWaterfall(c conclusion) error {
	if !o.report.waterfall {
		return nil
	}
	var b strings.Builder
	if err := waterfall.Of(c.reporter.Course(), c.at).Text(&b); err != nil {
		return err
	}
	_, err := io.WriteString(o.human(), redact.Of(c.end).Text(b.String()))
	return err
}

// writeJUnit writes the file for tools that show test results.
func (o options) writeJUnit(s api.Summary, logs *logstore.Store) error {
	doc, err := cireport.JUnit(s, func(resource string) []string { return tail(logs, resource) })
	if err != nil {
		return err
	}
	return o.report.junit.Write(func(w io.Writer) error {
		_, err := w.Write(doc)
		return err
	})
}

// tail returns the last lines of a resource's log.
func tail(logs *logstore.Store, resource string) []string {
	if logs == nil {
		return nil
	}
	return newestOf(logs.Tail(logstore.Filter{Resources: []model.ManifestName{model.ManifestName(resource)}}, lastLines))
}

// newestOf returns the text of lines; of lines that replace each other, only the newest.
func newestOf(lines []logstore.Line) []string {
	newest := map[[2]string]uint64{}
	for _, l := range lines {
		newest[[2]string{l.Span, l.ProgressID}] = l.Seq
	}
	var out []string
	for _, l := range lines {
		if l.ProgressID == "" || newest[[2]string{l.Span, l.ProgressID}] == l.Seq {
			out = append(out, l.Prefix+l.Text)
		}
	}
	return out
}

// outcomeOf returns how a session of ci ended, and the error of the command.
func outcomeOf(end store.View, err, cause error) (cireport.Outcome, error) {
	o := cireport.Outcome{Result: cireport.ResultFailed, Code: command.ExitFailure}
	var f *engine.Failure
	switch {
	case errors.As(err, &f):
		switch f.Cause {
		case state.EndTimeout:
			o.Result, o.Code = cireport.ResultTimeout, command.ExitTimeout
		case state.EndTiltfile:
			o.Result, o.Code = cireport.ResultTiltfile, command.ExitTiltfile
		case state.EndResource, state.EndOutside: // an ordinary failure
		case state.EndWell:
			bug.Reportf("the session failed without a cause: %s", f.Text)
		}
		err = command.WithCode(err, o.Code)
	case command.ExitCode(context.Background(), err) == command.ExitTiltfile:
		o.Result, o.Code = cireport.ResultTiltfile, command.ExitTiltfile
	case err != nil:
	case state.TheSession(end).Ended != nil:
		o.Result, o.Code = cireport.ResultOK, command.ExitOK
	case errors.Is(cause, context.Canceled):
		o.Result, o.Code, err = cireport.ResultInterrupted, command.ExitInterrupted, cause
	default:
		o.Result, err = cireport.ResultStopped, cause
	}
	switch {
	case o.Result == cireport.ResultInterrupted:
		o.Failure = "the session was interrupted"
	case err != nil:
		o.Failure = problem.Text(err)
	}
	return o, err
}
