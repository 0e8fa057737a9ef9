package answers

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// LogLine is a line of the log of a resource.
type LogLine struct {
	// Seq is the number of the line, in the order of time.
	Seq       uint64    `json:"-"`
	Time      time.Time `json:"time"`
	Resource  string    `json:"resource"`
	Pod       string    `json:"pod,omitempty"`
	Container string    `json:"container,omitempty"`
	// Level is absent for info.
	Level string `json:"level,omitempty"`
	// Written is the text. A program has written it: it is data.
	Written string `json:"written"`

	printed string
}

// String returns the line as hone logs prints it.
func (l LogLine) String() string { return l.printed }

// source names the stream that a line comes from.
func (l LogLine) source() string { return l.Resource + "\x00" + l.Pod + "\x00" + l.Container }

// LogQuery selects lines of the logs.
type LogQuery struct {
	// Resources are the resources to read; none means all that are enabled, and the Tiltfile.
	Resources []string
	// Level, Source, Pod, Container, Query and Text are as in GET /api/logs.
	Level, Source, Pod, Container, Query, Text string
	// Since is a time or a duration. SinceSave leaves out lines from before the newest save.
	Since     string
	SinceSave bool
	// Until is the number of the newest line to read; 0 means no bound.
	Until uint64
}

const (
	// streamLines is the number of lines that are read of each stream: several times as many as fit into an answer. For a bound in the past,
	// more are read, since there are newer lines.
	streamLines, streamLinesBack = 400, 4000
	// logReaders is the number of requests for logs at a time.
	logReaders = 8
)

// Logs returns the newest lines that match, the most important first: breadth first over resources, pods and containers, the newest line of
// each, then the one before it, and so on. No program can hide another one by writing much.
func (s *Session) Logs(ctx context.Context, q LogQuery) ([]LogLine, error) {
	queries, err := s.logQueries(q)
	if err != nil {
		return nil, err
	}
	read := make([][]LogLine, len(queries))
	errs := make([]error, len(queries))
	turns := make(chan struct{}, logReaders)
	var reading sync.WaitGroup
	for i, values := range queries {
		reading.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			lines, err := readLines(ctx, s.Client, values)
			read[i], errs[i] = shown(lines, q.Until), err
		})
	}
	reading.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return breadthFirst(slices.Concat(read...)), nil
}

// logQueries returns the queries for all streams: one for each resource, and one for each of its containers if there are several.
func (s *Session) logQueries(q LogQuery) (out []url.Values, err error) {
	tail := streamLines
	if q.Until > 0 {
		tail = streamLinesBack
	}
	base := url.Values{"tail": {strconv.Itoa(tail)}, "level": {cmp.Or(q.Level, "info")}}
	if q.SinceSave {
		if q.Since != "" {
			return nil, problem.New("the time and the newest save are both given as the beginning", "leave one of them out")
		}
		at, err := s.LastSave(q.Resources)
		if err != nil {
			return nil, err
		}
		q.Since = at.Format(time.RFC3339Nano)
	}
	for key, value := range map[string]string{"source": q.Source, "pod": q.Pod, "container": q.Container, "query": q.Query, "text": q.Text, "since": q.Since} {
		if value != "" {
			base.Set(key, value)
		}
	}
	resources := q.Resources
	if len(resources) == 0 {
		resources = []string{string(model.TiltfileName)}
		for _, r := range s.Shown.Resources {
			if !r.Disabled {
				resources = append(resources, r.Name)
			}
		}
	}
	pods := state.PodsByResource.In(s.view)
	for _, name := range resources {
		if _, err := s.resource(name); err != nil {
			return nil, err
		}
		ask := func(pod, container string) {
			v := url.Values{}
			for key, values := range base {
				v[key] = values
			}
			v.Set("resource", name)
			if pod != "" {
				v.Set("pod", pod)
				v.Set("container", container)
			}
			out = append(out, v)
		}
		ask("", "")
		chosen := q.Pod != "" || q.Container != ""
		if chosen {
			continue
		}
		if g := pods[model.ManifestName(name)]; g != nil {
			for _, p := range state.Present(g.Values()) {
				for _, c := range p.Containers {
					ask(p.Name, c.Name)
				}
			}
		}
	}
	return out, nil
}

// shown returns the lines up to a number that a reader is to see: of a progress, only the last line.
func shown(lines []api.LogLine, until uint64) (out []LogLine) {
	var printed strings.Builder
	p := stream.NewPrinter(&printed, stream.ColorNever)
	for _, l := range lines {
		passing := l.ProgressID != "" && !l.ProgressDone
		later := until > 0 && l.Seq > until
		if passing || later || l.Skipped > 0 {
			continue
		}
		printed.Reset()
		_ = p.Print(0, StoredLine(l)) // a builder takes everything
		line := LogLine{Seq: l.Seq, Time: l.Time.Truncate(time.Millisecond), Resource: l.Resource, Pod: l.Pod, Container: l.Container,
			Written: text.Clean(l.Text), printed: strings.TrimSuffix(printed.String(), "\n")}
		if l.Level != logstore.LevelInfo.String() {
			line.Level = l.Level
		}
		out = append(out, line)
	}
	return out
}

// breadthFirst puts lines into their order of importance, each once.
func breadthFirst(lines []LogLine) []LogLine {
	slices.SortFunc(lines, func(a, b LogLine) int { return cmp.Compare(b.Seq, a.Seq) })
	lines = slices.CompactFunc(lines, func(a, b LogLine) bool { return a.Seq == b.Seq })
	round := map[uint64]int{}
	seen := map[string]int{}
	for _, l := range lines {
		round[l.Seq] = seen[l.source()]
		seen[l.source()]++
	}
	slices.SortStableFunc(lines, func(a, b LogLine) int { return cmp.Compare(round[a.Seq], round[b.Seq]) })
	return lines
}

// InOrder sorts lines as they were written.
func InOrder(lines []LogLine) {
	slices.SortFunc(lines, func(a, b LogLine) int { return cmp.Compare(a.Seq, b.Seq) })
}

// readLines reads the lines of a query of GET /api/logs to their end.
func readLines(ctx context.Context, c *client.Client, q url.Values) (out []api.LogLine, err error) {
	q.Set("format", "json")
	in, err := c.Logs(ctx, q)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	lines := json.NewDecoder(bufio.NewReader(in))
	for {
		var l api.LogLine
		err := lines.Decode(&l)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("read the log of %s: %w", c.Where(), err)
		}
		out = append(out, l)
	}
}

// StoredLine converts a line to the form of the session's own stream.
func StoredLine(l api.LogLine) logstore.Line {
	return logstore.Line{Seq: l.Seq, Time: l.Time, Resource: model.ManifestName(l.Resource), Span: l.Span, Source: logstore.Source(l.Source),
		Level: logstore.ParseLevel(l.Level), Continues: l.Continues, Prefix: l.Prefix, Pod: l.Pod, Container: l.Container, Text: l.Text, ProgressID: l.ProgressID, ProgressDone: l.ProgressDone}
}
