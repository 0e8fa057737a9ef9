package loglist

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble runs a test with a log and a lister in a bubble of synctest.
func bubble(t *testing.T, o logstore.Options, f func(t *testing.T, logs *logstore.Store, lists *Lister)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		logs, err := logstore.New(o)
		if err != nil {
			t.Fatal(err)
		}
		lists := NewLister(t.Context(), logs, time.Now)
		f(t, logs, lists)
		lists.Close()
		if err := logs.Close(); err != nil {
			t.Error(err)
		}
	})
}

func write(logs *logstore.Store, resource string, source logstore.Source, text string) {
	logs.Append(logstore.Entry{Resource: model.ManifestName(resource), Source: source, Level: logstore.LevelInfo, Text: text})
}

func texts(lines []logstore.Line) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return out
}

func query(t *testing.T, typed string) Query {
	t.Helper()
	terms, err := logquery.Parse(typed)
	if err != nil {
		t.Fatal(err)
	}
	return Query{Typed: terms}
}

func wait() {
	time.Sleep(time.Second) // in a bubble: no real time passes
	synctest.Wait()
}

func TestListFindsOldAndNewLines(t *testing.T) {
	for _, from := range []uint64{0, 1, 500, 50_000, math.MaxUint64} {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			bubble(t, logstore.Options{}, func(t *testing.T, logs *logstore.Store, lists *Lister) {
				for i := range 1000 {
					write(logs, []string{"api", "web"}[i%2], logstore.SourceRuntime, fmt.Sprintf("line %03d", i))
				}
				l := lists.Open(query(t, `/line ..0/ !"line 100"`), from)
				wait()
				if n := l.Len(); n != 99 {
					t.Errorf("%d lines", n)
				}
				if l.Looked() != 1 || !l.Reaches(0, math.MaxUint64) {
					t.Errorf("looked at %v of the log", l.Looked())
				}
				if diff := cmp.Diff([]string{"line 080", "line 090", "line 110"}, texts(l.Before(112, 3))); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff([]string{"line 090", "line 110"}, texts(l.After(90, 2))); diff != "" {
					t.Error(diff)
				}
				before := l.Version()
				write(logs, "api", logstore.SourceRuntime, "line xx0")
				write(logs, "api", logstore.SourceRuntime, "another")
				wait()
				if diff := cmp.Diff([]string{"line 990", "line xx0"}, texts(l.Before(math.MaxUint64, 2))); diff != "" {
					t.Error(diff)
				}
				if l.Version() == before {
					t.Error("the version is the same")
				}
				before = l.Version()
				write(logs, "api", logstore.SourceRuntime, "another")
				wait()
				if l.Version() != before {
					t.Error("a line that does not match changed the version")
				}
				l.Close()
				wait()
				write(logs, "api", logstore.SourceRuntime, "line yy0")
				wait()
				if n := l.Len(); n != 100 {
					t.Errorf("a closed list has %d lines", n)
				}
			})
		})
	}
}

// TestDroppedLinesLeaveTheList: lines that the bounds of the log push out no longer count, and take no memory.
func TestDroppedLinesLeaveTheList(t *testing.T) {
	bubble(t, logstore.Options{MemoryPerResource: 1 << 16}, func(t *testing.T, logs *logstore.Store, lists *Lister) {
		write(logs, "quiet", logstore.SourceRuntime, "match, and stays")
		l := lists.Open(query(t, "match"), math.MaxUint64)
		for i := range 60 {
			for j := range 1000 {
				write(logs, "loud", logstore.SourceRuntime, fmt.Sprintf("match %02d %03d", i, j))
			}
			wait()
		}
		if got, want := l.Len(), logs.Count(logstore.Filter{}); got != want {
			t.Errorf("%d lines in the list, %d in the log", got, want)
		}
		if first := l.After(0, 1); len(first) != 1 || first[0].Text != "match, and stays" {
			t.Errorf("the first line is %v", first)
		}
		if n := l.x.bytes(); n > 64<<10 {
			t.Errorf("the index takes %d bytes", n)
		}
	})
}

func TestItems(t *testing.T) {
	bubble(t, logstore.Options{}, func(t *testing.T, logs *logstore.Store, lists *Lister) {
		for i := range 300 {
			write(logs, "api", logstore.SourceRuntime, fmt.Sprintf("head %d", i))
			for range i % 3 {
				write(logs, "api", logstore.SourceRuntime, "again")
			}
			write(logs, "web", logstore.SourceRuntime, "again")
		}
		l := lists.Open(Query{}, math.MaxUint64)
		show := func(items []Item) []string {
			out := []string{}
			for _, it := range items {
				out = append(out, fmt.Sprintf("%s %s ×%d", it.Lines[0].Resource, it.Lines[0].Text, it.Times))
			}
			return out
		}
		fold := Fold{Repeats: true}
		if diff := cmp.Diff([]string{"web again ×1", "api head 299 ×1", "api again ×2", "web again ×1"}, show(l.ItemsBefore(math.MaxUint64, 4, fold))); diff != "" {
			t.Error(diff)
		}
		all := l.ItemsAfter(0, 10_000, fold)
		// The items are the same from every starting point.
		for i := 1; i < len(all)-1; i++ {
			if diff := cmp.Diff(all[max(0, i-5):i], l.ItemsBefore(all[i].First, 5, fold)); diff != "" {
				t.Fatalf("before item %d: %s", i, diff)
			}
			if diff := cmp.Diff(all[i:min(len(all), i+5)], l.ItemsAfter(all[i].First-1, 5, fold)); diff != "" {
				t.Fatalf("from item %d: %s", i, diff)
			}
		}
	})
}

// TestLongRepeatsAreBounded: however often a line repeats, only a bounded number of lines is read for it.
func TestLongRepeatsAreBounded(t *testing.T) {
	bubble(t, logstore.Options{}, func(t *testing.T, logs *logstore.Store, lists *Lister) {
		write(logs, "api", logstore.SourceRuntime, "first")
		for range 5000 {
			write(logs, "api", logstore.SourceRuntime, "again")
		}
		l := lists.Open(Query{}, math.MaxUint64)
		items := l.ItemsBefore(math.MaxUint64, 10, Fold{Repeats: true})
		if len(items) != 1 || items[0].Times < 1000 || !items[0].AtLeast {
			t.Errorf("%d items, the first one ×%d (at least: %v)", len(items), items[0].Times, items[0].AtLeast)
		}
	})
}

func TestPatternsTellWhatIsNew(t *testing.T) {
	bubble(t, logstore.Options{}, func(t *testing.T, logs *logstore.Store, lists *Lister) {
		for i := range 50 {
			write(logs, "api", logstore.SourceRuntime, fmt.Sprintf("GET /users/%d 200 %dms", i, i*3))
			write(logs, "web", logstore.SourceRuntime, fmt.Sprintf("request %d has failed", i))
		}
		p := lists.Patterns("api")
		defer p.Close()
		wait()
		since := logs.Newest() + 1
		write(logs, "api", logstore.SourceRuntime, "GET /users/99 200 1ms")
		write(logs, "api", logstore.SourceRuntime, "request 7 has failed")
		logs.Append(logstore.Entry{Resource: "api", Source: logstore.SourceRuntime, Level: logstore.LevelError, Text: "cannot write: disk is full"})
		logs.Append(logstore.Entry{Resource: "api", Source: logstore.SourceRuntime, Level: logstore.LevelError, Text: "cannot read"})
		write(logs, "api", logstore.SourceBuild, "step 1")
		wait()
		var got []string
		for _, l := range logs.ReadAfter(logstore.Filter{}, 0, 1000) {
			if p.New(l, since) {
				got = append(got, l.Text)
			}
		}
		if diff := cmp.Diff([]string{"request 7 has failed", "cannot write: disk is full", "cannot read"}, got); diff != "" {
			t.Error(diff)
		}
		if line, n := p.NewError(since); n != 2 || line.Text != "cannot write: disk is full" {
			t.Errorf("%d new errors, the first one %q", n, line.Text)
		}
		if _, n := p.NewError(logs.Newest() + 1); n != 0 {
			t.Errorf("%d new errors after the end", n)
		}
	})
}

// TestEntriesAreOneItem: the lines of a stack trace belong together, even if the reading begins in the middle of it.
func TestEntriesAreOneItem(t *testing.T) {
	bubble(t, logstore.Options{}, func(t *testing.T, logs *logstore.Store, lists *Lister) {
		out := logs.Logger("api", "run:1", logstore.SourceRuntime)
		out.Write(logstore.LevelInfo, "again\nagain\npanic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:7 +0x1d\nexit status 2\n")
		l := lists.Open(Query{}, math.MaxUint64)
		for n := 1; n < 4; n++ {
			items := l.ItemsBefore(math.MaxUint64, n, Fold{Repeats: true})
			var got []int
			for _, it := range items {
				got = append(got, len(it.Lines)*it.Times)
			}
			if diff := cmp.Diff([]int{2, 5, 1}[3-n:], got); diff != "" {
				t.Errorf("the last %d items: %s", n, diff)
			}
		}
		if all := l.ItemsAfter(0, 10, Fold{}); len(all) != 4 || all[2].Lines[4].Text != "\t/src/main.go:7 +0x1d" || all[2].Lines[0].Level != logstore.LevelError {
			t.Errorf("%v", all)
		}
	})
}

// TestEntriesOfStreamsThatInterleave: the lines of an entry are one item, whatever other streams write between them, and wherever
// the reading begins.
func TestEntriesOfStreamsThatInterleave(t *testing.T) {
	bubble(t, logstore.Options{}, func(t *testing.T, logs *logstore.Store, lists *Lister) {
		container := func(name string) *logstore.Stream {
			return logs.Stream(logstore.Entry{Resource: "api", Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Pod: "api-1", Container: name})
		}
		main, sidecar := container("main"), container("sidecar")
		program := logs.Logger("web", "serve", logstore.SourceRuntime) // both outputs of one program
		traces := map[string]bool{}
		for i := range 12 {
			at := time.Now()
			say := func(s *logstore.Stream, format string) {
				s.Append(at, "", strings.ReplaceAll(format, "%d", fmt.Sprint(i)))
			}
			say(sidecar, "serving %d")
			say(main, "Exception in thread %d java.io.IOException: boom")
			say(sidecar, "panic: boom %d")
			say(main, "\tat com.x.A.b(A.java:%d)")
			say(sidecar, "")
			program.Write(logstore.LevelInfo, fmt.Sprintf("Traceback (most recent call last):\nlevel=info msg=\"GET /%d\"\n", i))
			say(sidecar, "goroutine %d [running]:")
			say(main, "\tat com.x.A.c(A.java:%d)")
			program.Write(logstore.LevelInfo, fmt.Sprintf("  File \"app.py\", line %d, in <module>\nlevel=info msg=\"GET /%d\"\n    boom()\n", i, i))
			say(sidecar, "main.main()")
			program.Write(logstore.LevelInfo, fmt.Sprintf("level=info msg=\"GET /%d\"\nValueError: %d\n", i, i))
			say(sidecar, "\t/src/main.go:%d +0x1d")
			say(main, "Caused by: java.io.EOFException: %d")
			traces[fmt.Sprintf("Exception in thread %d java.io.IOException: boom/4", i)] = true
			traces[fmt.Sprintf("panic: boom %d/5", i)] = true
		}
		for _, typed := range []string{"", "!nothing"} {
			l := lists.Open(query(t, typed), math.MaxUint64)
			defer l.Close()
			wait()
			for _, fold := range []Fold{{}, {Repeats: true}} {
				all := l.ItemsAfter(0, 10_000, fold)
				found, python := 0, 0
				for _, it := range all {
					if it.Lines[0].Continues {
						t.Errorf("an item begins with %q", it.Lines[0].Text)
					}
					if traces[fmt.Sprintf("%s/%d", it.Lines[0].Text, len(it.Lines))] {
						found++
					}
					if it.Lines[0].Text == "Traceback (most recent call last):" && len(it.Lines) == 4 && it.Lines[3].Text[:11] == "ValueError:" {
						python++
					}
				}
				if found != len(traces) || python != 12 {
					t.Errorf("%q: %d of %d traces of containers and %d of 12 of a program are whole", typed, found, len(traces), python)
				}
				for i := 1; i < len(all)-1; i++ {
					if diff := cmp.Diff(texts(lines(all[max(0, i-5):i])), texts(lines(l.ItemsBefore(all[i].First, 5, fold)))); diff != "" {
						t.Fatalf("before item %d: %s", i, diff)
					}
					if diff := cmp.Diff(texts(lines(all[i:min(len(all), i+5)])), texts(lines(l.ItemsAfter(all[i].First-1, 5, fold)))); diff != "" {
						t.Fatalf("from item %d: %s", i, diff)
					}
					for _, line := range all[i].Lines {
						if it, ok := l.ItemOf(line.Seq, fold); !ok || it.First != all[i].First {
							t.Fatalf("line %d is in item %d instead of %d", line.Seq, it.First, all[i].First)
						}
					}
				}
			}
		}
	})
}

func lines(items []Item) (out []logstore.Line) {
	for _, it := range items {
		out = append(out, it.Lines...)
	}
	return out
}

// TestSinceSlides: lines that were written too long ago leave the list, even while nothing is written.
func TestSinceSlides(t *testing.T) {
	bubble(t, logstore.Options{}, func(t *testing.T, logs *logstore.Store, lists *Lister) {
		l := lists.Open(query(t, "since:1m"), math.MaxUint64)
		defer l.Close()
		for i := range 90 {
			write(logs, fmt.Sprint("service-", i%3), logstore.SourceRuntime, fmt.Sprint("second ", i))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		first := l.After(0, 1)
		if len(first) != 1 || first[0].Text != "second 30" && first[0].Text != "second 31" || l.Len() > 60 {
			t.Errorf("%d lines from %v on", l.Len(), texts(first))
		}
		version := l.Version()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if n := l.Len(); n < 28 || n > 31 || l.Version() == version {
			t.Errorf("%d lines half a minute later", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := l.Len(); n != 0 {
			t.Errorf("%d lines in the end", n)
		}
	})
}

// TestOldLinesSlideIn: with !since: lines come into the list once they are old enough, even while nothing is written.
func TestOldLinesSlideIn(t *testing.T) {
	bubble(t, logstore.Options{}, func(t *testing.T, logs *logstore.Store, lists *Lister) {
		fresh := lists.Open(query(t, "!since:2h"), math.MaxUint64)
		defer fresh.Close()
		second := func(i int) {
			write(logs, fmt.Sprint("service-", i%3), logstore.SourceRuntime, fmt.Sprint("second ", i))
			time.Sleep(time.Second)
		}
		for i := range 90 {
			second(i)
		}
		for _, typed := range []string{"!since:1m", "!since:1m second", "!since:1m !since:30s level:info"} {
			l := lists.Open(query(t, typed), math.MaxUint64)
			synctest.Wait()
			if n := l.Len(); n < 29 || n > 31 || l.Looked() < 1 {
				t.Errorf("%s: %d lines at first, looked at %v", typed, n, l.Looked())
			}
			l.Close()
		}
		l := lists.Open(query(t, "!since:1m"), math.MaxUint64)
		defer l.Close()
		for i := range 30 {
			second(90 + i)
		}
		synctest.Wait()
		if n := l.Len(); n < 58 || n > 61 {
			t.Errorf("%d lines half a minute later", n)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		last := l.Before(math.MaxUint64, 1)
		if n := l.Len(); n != 120 || len(last) != 1 || last[0].Text != "second 119" {
			t.Errorf("%d lines in the end, up to %v", n, texts(last))
		}
		if n := fresh.Len(); n != 0 || fresh.Looked() < 1 {
			t.Errorf("%d lines are two hours old", n)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if n := fresh.Len(); n != 120 {
			t.Errorf("%d lines are two hours old, want all", n)
		}
	})
}
