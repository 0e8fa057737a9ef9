package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buffer is a writer that may be read while it is written to.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newLogs(t *testing.T, o logstore.Options) *logstore.Store {
	t.Helper()
	logs, err := logstore.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := logs.Close(); err != nil {
			t.Error(err)
		}
	})
	return logs
}

// printed returns the output of a stream with these options for entries.
func printed(t *testing.T, o Options, entries ...logstore.Entry) string {
	t.Helper()
	var out bytes.Buffer
	o.Logs, o.Out = newLogs(t, logstore.Options{}), &out
	for _, e := range entries {
		o.Logs.Append(e)
	}
	if err := New(o).Drain(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestShape(t *testing.T) {
	const info = logstore.LevelInfo
	got := printed(t, Options{},
		logstore.Entry{Text: "Tilt of the world", Level: info},
		logstore.Entry{Resource: model.TiltfileName, Text: "Initial Build", Source: logstore.SourceBuild, Level: info},
		logstore.Entry{Resource: "api", Text: "hello\tthere  ", Level: info},
		logstore.Entry{Resource: "thirteen-char", Text: "fits", Level: info},
		logstore.Entry{Resource: "a-name-that-is-long", Prefix: "[main] ", Text: "cut", Level: info},
		logstore.Entry{Resource: "日本語の名前です", Text: "wide", Level: info},
		logstore.Entry{Resource: "web", Text: "", Level: info},
		logstore.Entry{Resource: "web", Text: "\x1b[31mred\x1b[0m \x1b[2Jcleared", Level: logstore.LevelError},
	)
	want := "" +
		"Tilt of the world\n" +
		"Initial Build\n" +
		"          api │ hello\tthere  \n" +
		"thirteen-char │ fits\n" +
		"a-name-that-… │ [main] cut\n" +
		"日本語の名前… │ wide\n" +
		"          web │ \n" +
		"          web │ red cleared\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestPrinter gives a printer the lines of a stream: both write the same.
func TestPrinter(t *testing.T) {
	entries := []logstore.Entry{
		{Resource: "api", Text: "hello\tthere", Level: logstore.LevelInfo, Prefix: "[main] "},
		{Resource: "api", Text: "10 %", ProgressID: "p", Span: "s", Level: logstore.LevelInfo},
		{Resource: "api", Text: "20 %", ProgressID: "p", Span: "s", Level: logstore.LevelInfo},
		{Resource: model.TiltfileName, Text: "bad", Level: logstore.LevelError},
	}
	var out bytes.Buffer
	logs := newLogs(t, logstore.Options{})
	for _, e := range entries {
		logs.Append(e)
	}
	p := NewPrinter(&out, ColorAlways)
	for _, l := range logs.Tail(logstore.Filter{}, len(entries)) {
		if err := p.Print(0, l); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(printed(t, Options{Color: ColorAlways}, entries...), out.String()); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	if err := NewPrinter(&out, ColorAuto).Print(2); err != nil || out.String() != "… 2 lines were dropped before they could be printed\n" {
		t.Errorf("%q %v", out.String(), err)
	}
}

func TestColors(t *testing.T) {
	got := printed(t, Options{Color: ColorAlways},
		logstore.Entry{Resource: "web", Text: "plain \x1b[32mgreen\x1b[2K", Level: logstore.LevelInfo},
		logstore.Entry{Resource: "web", Text: "bad", Level: logstore.LevelError})
	if !regexp.MustCompile(`^\x1b\[0;3\dm          web\x1b\[0m │ plain \x1b\[0;32mgreen\x1b\[0m\n`).MatchString(got) {
		t.Errorf("got %q", got)
	}
	if !strings.HasSuffix(got, "│ \x1b[0;31mbad\x1b[0m\n") {
		t.Errorf("got %q", got)
	}
}

func TestNoColorsWithoutATerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if (Options{Out: file}).colored() || (Options{Out: &bytes.Buffer{}}).colored() {
		t.Error("output to a file has colours")
	}
}

// TestColored: a writer that is no terminal has colours only if the environment forces them, and never with NO_COLOR.
func TestColored(t *testing.T) {
	for _, tt := range []struct {
		force, no, term string
		want            bool
	}{
		{"", "", "xterm", false}, {"1", "", "xterm", true}, {"1", "", "dumb", true}, {"0", "", "xterm", false}, {"1", "1", "xterm", false}, {"", "1", "xterm", false},
	} {
		t.Setenv("CLICOLOR_FORCE", tt.force)
		t.Setenv("NO_COLOR", tt.no)
		t.Setenv("TERM", tt.term)
		if got := Colored(&bytes.Buffer{}); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

func TestFilters(t *testing.T) {
	const build, run = logstore.SourceBuild, logstore.SourceRuntime
	entries := []logstore.Entry{
		{Resource: "api", Source: build, Level: logstore.LevelInfo, Text: "Initial Build"},
		{Resource: "api", Source: build, Level: logstore.LevelInfo, Text: "STEP 1/2"},
		{Resource: "api", Source: build, Level: logstore.LevelError, Text: "Build Failed"},
		{Resource: "api", Source: run, Level: logstore.LevelInfo, Text: "serving"},
		{Resource: "api", Source: build, Level: logstore.LevelInfo, Text: "12 Files Changed: [a b]"},
		{Resource: "api", Source: run, Level: logstore.LevelInfo, Text: "3 Files Changed: [not a banner]"},
		{Resource: "web", Source: build, Level: logstore.LevelInfo, Text: "1 File Changed: [x]"},
		{Resource: "web", Source: run, Level: logstore.LevelWarn, Text: "slow"},
		{Level: logstore.LevelInfo, Text: "global"},
	}
	for _, tt := range []struct {
		name    string
		options Options
		want    []string
	}{
		{"none", Options{}, []string{"Initial Build", "STEP 1/2", "Build Failed", "serving", "12 Files Changed: [a b]",
			"3 Files Changed: [not a banner]", "1 File Changed: [x]", "slow", "global"}},
		{"resource", Options{Resources: []model.ManifestName{"web"}}, []string{"1 File Changed: [x]", "slow"}},
		{"source", Options{Source: run}, []string{"Initial Build", "serving", "12 Files Changed: [a b]",
			"3 Files Changed: [not a banner]", "1 File Changed: [x]", "slow"}},
		{"level", Options{MinLevel: logstore.LevelWarn}, []string{"Initial Build", "Build Failed", "12 Files Changed: [a b]",
			"1 File Changed: [x]", "slow"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for line := range strings.Lines(printed(t, tt.options, entries...)) {
				_, after, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "│ ")
				if !ok {
					after = strings.TrimSuffix(line, "\n")
				}
				got = append(got, after)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestProgressIsPrintedLessAndLess(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var entries []logstore.Entry
	for s := range 61 {
		for _, span := range []string{"build:api:1", "build:web:1"} {
			resource, _, _ := strings.Cut(strings.TrimPrefix(span, "build:"), ":")
			entries = append(entries, logstore.Entry{Time: start.Add(time.Duration(s) * time.Second), Resource: model.ManifestName(resource),
				Span: span, Level: logstore.LevelInfo, ProgressID: "layer", ProgressDone: s == 60, Text: fmt.Sprintf("%d s", s)})
		}
	}
	got := printed(t, Options{Resources: []model.ManifestName{"api"}}, entries...)
	want := ""
	for _, s := range []int{0, 5, 15, 35, 60} {
		want += fmt.Sprintf("          api │ %d s\n", s)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if both := printed(t, Options{}, entries...); strings.Count(both, "\n") != 10 {
		t.Errorf("progresses of two spans are mixed up:\n%s", both)
	}
}

// flaky takes only a part of every other write, and fails it.
type flaky struct {
	buffer
	calls int
}

var errFlaky = errors.New("try again")

func (f *flaky) Write(p []byte) (int, error) {
	if f.calls++; f.calls%2 == 0 {
		n, _ := f.buffer.Write(p[:len(p)/2])
		return n, errFlaky
	}
	return f.buffer.Write(p)
}

func TestFailedWriteLosesAndDoublesNothing(t *testing.T) {
	out := &flaky{}
	logs := newLogs(t, logstore.Options{})
	s := New(Options{Logs: logs, Out: out})
	want := ""
	failures := 0
	for i := range 5000 {
		logs.Append(logstore.Entry{Resource: "api", Level: logstore.LevelInfo, Text: strconv.Itoa(i)})
		want += fmt.Sprintf("          api │ %d\n", i)
		if i%700 != 0 {
			continue
		}
		if err := s.Drain(); errors.Is(err, errFlaky) {
			failures++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for s.Drain() != nil {
		failures++
	}
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	if failures == 0 {
		t.Error("nothing failed")
	}
}

func TestDroppedLinesAreTold(t *testing.T) {
	var out bytes.Buffer
	logs := newLogs(t, logstore.Options{MemoryPerResource: 4 << 10})
	s := New(Options{Logs: logs, Out: &out})
	for i := range 2000 {
		logs.Append(logstore.Entry{Resource: "api", Level: logstore.LevelInfo, Text: fmt.Sprintf("line %d", i)})
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(out.String(), "\n")
	var dropped int
	if _, err := fmt.Sscanf(first, "… %d lines were dropped", &dropped); err != nil {
		t.Fatalf("first line %q: %v", first, err)
	}
	if kept := strings.Count(rest, "\n"); dropped+kept != 2000 {
		t.Errorf("%d dropped and %d printed of 2000", dropped, kept)
	}
}

// TestEverythingIsPrintedOnce runs the stream under a supervisor with writers that write until the end.
func TestEverythingIsPrintedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, err := logstore.New(logstore.Options{MemoryPerResource: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		out := &buffer{}
		s := New(Options{Logs: logs, Out: out})
		db := store.New(state.Schema)
		sup, err := store.NewSupervisor(db, slog.New(slog.DiscardHandler), s, hudtest.Others{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- sup.Run(ctx) }()
		const writers, lines = 8, 2000
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range lines {
					logs.Append(logstore.Entry{Resource: model.ManifestName(fmt.Sprintf("r%d", w)), Level: logstore.LevelInfo, Text: strconv.Itoa(i)})
				}
			})
		}
		wg.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		late := logstore.WriterAt(logs.Logger("late", "", logstore.SourceRuntime), logstore.LevelInfo)
		if _, err := late.Write([]byte("no line break")); err != nil {
			t.Fatal(err)
		}
		if err := logs.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Drain(); err != nil {
			t.Fatal(err)
		}
		next := map[string]int{}
		for line := range strings.Lines(out.String()) {
			name, number, _ := strings.Cut(strings.TrimSpace(line), " │ ")
			if name == "late" {
				next[name]++
				continue
			}
			if n, err := strconv.Atoi(number); err != nil || n != next[name] {
				t.Fatalf("%s is at %d, got %q", name, next[name], line)
			}
			next[name]++
		}
		for w := range writers {
			if got := next[fmt.Sprintf("r%d", w)]; got != lines {
				t.Errorf("r%d: %d of %d lines", w, got, lines)
			}
		}
		if next["late"] != 1 {
			t.Error("the line that closing the store completes is not printed")
		}
	})
}

func TestNoticesAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, err := logstore.New(logstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out := &buffer{}
		db := store.New(state.Schema)
		sup, err := store.NewSupervisor(db, slog.New(slog.DiscardHandler), New(Options{Logs: logs, Out: out}), hudtest.Others{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- sup.Run(ctx) }()
		for range 2 {
			db.Dispatch(state.WatchReported{Problem: "too many files"},
				store.SubscriberReported{Name: "PodWatcher", State: store.SubscriberBackingOff, Crashes: 1, Err: "boom"},
				state.ServiceChanged{Service: model.Service{UID: "1", Name: "web", Resource: "web", URL: "http://10.0.0.1"}})
			synctest.Wait()
			db.Dispatch(state.SessionStarted{}) // wakes the stream without news
			synctest.Wait()
		}
		cancel()
		if err := errors.Join(<-done, logs.Close()); err != nil {
			t.Fatal(err)
		}
		want := "too many files\nhone's PodWatcher failed and is being restarted: boom\n          web │ Service web is at http://10.0.0.1\n"
		if d := cmp.Diff(want, out.String()); d != "" {
			t.Error(d)
		}
	})
}
