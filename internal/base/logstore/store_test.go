package logstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/filelock"
	"github.com/hone-dev/hone/pkg/model"
)

func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func texts(lines []Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out
}

func wantTexts(t *testing.T, lines []Line, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, texts(lines)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestLineKeepsEveryField(t *testing.T) {
	s := open(t, Options{})
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	s.Append(Entry{
		Time: at, Resource: "web", Span: "pod:web-1", Source: SourceRuntime, Level: LevelWarn, Continues: true, Prefix: "[app] ",
		Pod: "web-1-x", Container: "app", Text: "ready", ProgressID: "layer", ProgressDone: true,
	})
	want := []Line{{
		Seq: 1, Time: at, Resource: "web", Span: "pod:web-1", Source: SourceRuntime, Level: LevelWarn, Continues: true, Prefix: "[app] ",
		Pod: "web-1-x", Container: "app", Text: "ready", ProgressID: "layer", ProgressDone: true,
	}}
	if diff := cmp.Diff(want, s.Tail(Filter{}, 10)); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestFilter(t *testing.T) {
	s := open(t, Options{})
	base := time.Unix(1000, 0)
	for i, e := range []Entry{
		{Resource: "web", Source: SourceBuild, Span: "build:1", Text: "web build"},
		{Resource: "api", Source: SourceRuntime, Level: LevelError, Text: "api error"},
		{Text: "global"},
		{Resource: "web", Source: SourceRuntime, Level: LevelWarn, Prefix: "[app] ", Text: "web warning"},
		{Resource: "web", Source: SourceBuild, Span: "build:2", Level: LevelDebug, Text: "web debug"},
	} {
		e.Time = base.Add(time.Duration(i) * time.Second)
		s.Append(e)
	}
	for _, tt := range []struct {
		name string
		f    Filter
		want []string
	}{
		{"all", Filter{}, []string{"web build", "api error", "global", "web warning", "web debug"}},
		{"one resource", Filter{Resources: []model.ManifestName{"web"}}, []string{"web build", "web warning", "web debug"}},
		{"two and one unknown", Filter{Resources: []model.ManifestName{"api", "no", "", "api"}}, []string{"api error", "global"}},
		{"no resource", Filter{Resources: []model.ManifestName{}}, nil},
		{"source", Filter{Sources: []Source{SourceBuild}}, []string{"web build", "web debug"}},
		{"two sources", Filter{Sources: []Source{SourceBuild, SourceGlobal}}, []string{"web build", "global", "web debug"}},
		{"level", Filter{MinLevel: LevelWarn}, []string{"api error", "web warning"}},
		{"span", Filter{Span: "build:2"}, []string{"web debug"}},
		{"since", Filter{Since: base.Add(3 * time.Second)}, []string{"web warning", "web debug"}},
		{"match", Filter{Match: func(l LineRef) bool { return l.Prefix+string(l.Text) == "[app] web warning" }}, []string{"web warning"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantTexts(t, s.Tail(tt.f, 100), tt.want...)
			wantTexts(t, s.ReadAfter(tt.f, 0, 100), tt.want...)
			wantTexts(t, s.Cursor(tt.f).Next(100), tt.want...)
			if got := s.Count(tt.f); got != len(tt.want) {
				t.Errorf("Count = %d, want %d", got, len(tt.want))
			}
		})
	}
}

// TestReadersAgree writes at random to several resources, with and without bounds, and compares every way of reading
// with a plain list.
func TestReadersAgree(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
	}{
		{"memory", Options{MemoryPerResource: 1 << 30}},
		{"spilled", Options{Dir: "spill", MemoryPerResource: 4 << 10}},
		{"spilled by the total", Options{Dir: "spill", MemoryTotal: 8 << 10}},
		{"dropped from memory", Options{MemoryPerResource: 16 << 10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.o.Dir != "" {
				tt.o.Dir = filepath.Join(t.TempDir(), tt.o.Dir)
			}
			s := open(t, tt.o)
			rng := rand.New(rand.NewPCG(1, 2))
			var all []Line
			for i := range 6000 {
				l := Line{
					Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Resource: model.ManifestName(fmt.Sprint("r", rng.IntN(4))),
					Source: sourceAt[rng.IntN(3)], Level: Level(rng.IntN(4)), Span: fmt.Sprint("s", i/100),
					Pod: fmt.Sprint("p", rng.IntN(3)), Container: []string{"", "app"}[rng.IntN(2)], Continues: rng.IntN(2) == 0,
					Text: fmt.Sprintf("line %d %s", i, strings.Repeat("x", rng.IntN(80))),
				}
				all = append(all, l)
				s.Append(Entry{Time: l.Time, Resource: l.Resource, Source: l.Source, Level: l.Level, Span: l.Span, Text: l.Text,
					Pod: l.Pod, Container: l.Container, Continues: l.Continues})
			}
			if tt.o.Dir != "" {
				await(t, s, func() bool { return s.fullestLocked() == nil })
			}
			f := Filter{Resources: []model.ManifestName{"r1", "r3"}, MinLevel: LevelInfo, Sources: []Source{SourceBuild, SourceRuntime}}
			var want []Line
			for _, l := range all {
				if (l.Resource == "r1" || l.Resource == "r3") && l.Level >= LevelInfo && l.Source != "" {
					want = append(want, l)
				}
			}
			for _, name := range f.Resources {
				one := f
				one.Resources = []model.ManifestName{name}
				gone := s.Dropped(one)
				want = slices.DeleteFunc(want, func(l Line) bool {
					if l.Resource != name || gone == 0 {
						return false
					}
					gone--
					return true
				})
			}
			if tt.name != "dropped from memory" && s.Dropped(Filter{}) != 0 {
				t.Errorf("Dropped = %d, want 0", s.Dropped(Filter{}))
			}
			same(t, "forward", want, s.ReadAfter(f, 0, len(all)))
			same(t, "backward", want, s.Tail(f, len(all)))
			var got []Line
			for c := s.Cursor(f); ; {
				lines := c.Next(7)
				if len(lines) == 0 {
					break
				}
				got = append(got, lines...)
			}
			same(t, "cursor", want, got)
			same(t, "scan", want, scanned(t, s, f, 0, math.MaxUint64, false))
			newest := scanned(t, s, f, 0, math.MaxUint64, true)
			slices.Reverse(newest)
			same(t, "scan back", want, newest)
			if got := s.Count(f); got != len(want) {
				t.Errorf("Count = %d, want %d", got, len(want))
			}
			for range 200 {
				i := rng.IntN(len(want))
				n := 1 + rng.IntN(50)
				same(t, "before", want[max(0, i-n):i], s.ReadBefore(f, want[i].Seq, n))
				same(t, "after", want[i+1:min(len(want), i+1+n)], s.ReadAfter(f, want[i].Seq, n))
				j := min(len(want)-1, i+n)
				same(t, "scan between", want[i+1:max(i+1, j)], scanned(t, s, f, want[i].Seq, want[j].Seq, false))
			}
			if got := s.Oldest(f); got != want[0].Seq {
				t.Errorf("Oldest = %d, want %d", got, want[0].Seq)
			}
			span := f
			span.Span = want[len(want)-1].Span
			wantSpan := 0
			for _, l := range want {
				if l.Span == span.Span {
					wantSpan++
				}
			}
			if got := s.Count(span); got != wantSpan {
				t.Errorf("Count(span) = %d, want %d", got, wantSpan)
			}
		})
	}
}

// scanned returns the results of Scan, as lines.
func scanned(t *testing.T, s *Store, f Filter, from, to uint64, back bool) (lines []Line) {
	t.Helper()
	err := s.Scan(t.Context(), f, from, to, back, func(l LineRef) bool {
		lines = append(lines, Line{Seq: l.Seq, Time: l.Time, Resource: l.Resource, Span: l.Span, Source: l.Source, Level: l.Level,
			Continues: l.Continues, Prefix: l.Prefix, Pod: l.Pod, Container: l.Container, Text: string(l.Text)})
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func same(t *testing.T, how string, want, got []Line) {
	t.Helper()
	if len(want) == 0 && len(got) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		if len(diff) > 2000 {
			diff = diff[:2000]
		}
		t.Fatalf("%s (-want +got):\n%s", how, diff)
	}
}

// await waits until ok, which is called under the store's mutex.
func await(t *testing.T, s *Store, ok func() bool) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !ok() {
		s.room.Wait()
	}
}

func TestReadAtTheEdges(t *testing.T) {
	s := open(t, Options{})
	wantTexts(t, s.Tail(Filter{}, 5))
	wantTexts(t, s.Cursor(Filter{}).Next(5))
	s.Append(Entry{Text: "a\nb\n"})
	wantTexts(t, s.ReadBefore(Filter{}, 0, 5))
	wantTexts(t, s.ReadBefore(Filter{}, 1, 5))
	wantTexts(t, s.ReadAfter(Filter{}, 2, 5))
	wantTexts(t, s.ReadAfter(Filter{}, ^uint64(0), 5))
	wantTexts(t, s.ReadBefore(Filter{}, ^uint64(0), 5), "a", "b")
	wantTexts(t, s.Tail(Filter{}, 0))
	wantTexts(t, s.Tail(Filter{}, -1))
	wantTexts(t, s.Cursor(Filter{}).Next(0))
}

func TestOneResourceNeverPushesOutAnother(t *testing.T) {
	for _, dir := range []string{"", "spill"} {
		if dir != "" {
			dir = filepath.Join(t.TempDir(), dir)
		}
		s := open(t, Options{Dir: dir, MemoryPerResource: 8 << 10, DiskPerResource: 16 << 10, MemoryTotal: 8 << 10})
		s.Append(Entry{Resource: "quiet", Text: "once"})
		noise := s.Logger("noisy", "", SourceRuntime)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range 20_000 {
			Infof(noise, "line %d %x", i, rng.Uint64())
		}
		wantTexts(t, s.Tail(Filter{Resources: []model.ManifestName{"quiet"}}, 5), "once")
		kept, gone := s.Count(Filter{}), s.Dropped(Filter{})
		if gone == 0 || uint64(kept)+gone != 20_001 {
			t.Errorf("kept %d, dropped %d; want all of 20001 accounted for and some dropped", kept, gone)
		}
	}
}

func TestCursorCountsWhatItMissed(t *testing.T) {
	s := open(t, Options{MemoryPerResource: 8 << 10})
	f := Filter{Resources: []model.ManifestName{"a", "b"}, MinLevel: LevelInfo}
	c, late := s.Cursor(f), (*Cursor)(nil)
	var read, skipped uint64
	for i := range 5000 {
		s.Append(Entry{Resource: "a", Level: Level(i % 4), Text: fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%90))})
		s.Append(Entry{Resource: "b", Level: LevelError, Text: "other"})
		if i%1100 == 0 {
			read += uint64(len(c.Next(100)))
			skipped += c.Skipped()
		}
		if i == 4000 {
			late = s.CursorAt(f, c.Checkpoint())
		}
	}
	for _, c := range []*Cursor{c, late} {
		rest := uint64(0)
		for {
			n := len(c.Next(64))
			if n == 0 {
				break
			}
			rest += uint64(n)
		}
		if rest != uint64(s.Count(f)) {
			t.Errorf("read %d lines at the end, want the %d that are kept", rest, s.Count(f))
		}
	}
	skipped += c.Skipped()
	read += uint64(s.Count(f))
	if want := uint64(5000 + 3750); read+skipped != want {
		t.Errorf("read %d + skipped %d = %d, want %d", read, skipped, read+skipped, want)
	}
	if again := c.Skipped(); again != 0 {
		t.Errorf("Skipped again = %d, want 0", again)
	}
}

func TestCursorAtCountsOnlyWhatItMissed(t *testing.T) {
	s := open(t, Options{MemoryPerResource: 8 << 10})
	write := func(n int) {
		for i := range n {
			s.Append(Entry{Resource: "a", Text: fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%90))})
		}
	}
	write(60)
	c := s.Cursor(Filter{})
	c.Next(45)
	resumed := s.CursorAt(Filter{}, c.Checkpoint())
	write(1000)
	if len(c.Next(1)) != 1 || len(resumed.Next(1)) != 1 {
		t.Fatal("no line after the bound was hit")
	}
	if got, want := resumed.Skipped(), c.Skipped(); got != want || got == 0 {
		t.Errorf("resumed cursor skipped %d, the first one %d; want the same, not 0", got, want)
	}
}

func TestCursorFollowsWhileWritten(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir(), MemoryPerResource: 64 << 10})
	const writers, each = 4, 3000
	changed, cancel := s.Subscribe()
	defer cancel()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			l := s.Logger(model.ManifestName(fmt.Sprint("r", w)), "", SourceBuild)
			for i := range each {
				Infof(l, "%d", i)
			}
		})
	}
	next := map[model.ManifestName]int{}
	seq := uint64(0)
	for c, n := s.Cursor(Filter{}), 0; n < writers*each; {
		<-changed
		for lines := c.Next(100); len(lines) > 0; lines = c.Next(100) {
			for _, l := range lines {
				if l.Seq <= seq || l.Text != fmt.Sprint(next[l.Resource]) {
					t.Fatalf("line %d of %s is %q after number %d, want text %d", l.Seq, l.Resource, l.Text, seq, next[l.Resource])
				}
				seq = l.Seq
				next[l.Resource]++
				n++
			}
		}
	}
	wg.Wait()
}

func TestDrop(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, MemoryPerResource: 4 << 10})
	l := s.Logger("web", "", SourceBuild)
	c := s.Cursor(Filter{})
	for i := range 1000 {
		Infof(l, "line %d", i)
	}
	s.Append(Entry{Resource: "api", Text: "stays"})
	await(t, s, func() bool { return s.fullestLocked() == nil })
	s.Drop("web")
	s.Drop("unknown")
	wantTexts(t, c.Next(10), "stays")
	Infof(l, "again")
	wantTexts(t, c.Next(10), "again")
	wantTexts(t, s.Tail(Filter{Resources: []model.ManifestName{"web"}}, 10), "again")
	if got := c.Skipped() + s.Dropped(Filter{}); got != 0 {
		t.Errorf("skipped and dropped = %d, want 0", got)
	}
}

func TestCloseRemovesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	s, err := New(Options{Dir: dir, MemoryPerResource: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		s.Append(Entry{Resource: "web", Text: fmt.Sprint("line ", i)})
	}
	await(t, s, func() bool { return s.fullestLocked() == nil })
	if found, _ := filepath.Glob(filepath.Join(dir, "*", "*.zst")); len(found) == 0 {
		t.Error("nothing was spilled")
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	Infof(s.Logger("web", "", ""), "too late")
	s.Append(Entry{Text: "too late"})
	if got := texts(s.Tail(Filter{}, 1)); len(got) != 1 || got[0] != "line 999" {
		t.Errorf("the tail after Close is %q", got)
	}
}

func TestAbandonedFoldersAreRemoved(t *testing.T) {
	dir := t.TempDir()
	live := open(t, Options{Dir: dir})
	dead := filepath.Join(dir, spillPrefix+"dead")
	unlock, err := filelock.Lock(t.Context(), filepath.Join(mkdir(t, dead), lockName))
	if err != nil {
		t.Fatal(err)
	}
	unlock() // like the end of its process
	made := mkdir(t, filepath.Join(dir, spillPrefix+"made"))
	other := mkdir(t, filepath.Join(dir, "mine"))
	open(t, Options{Dir: dir})
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("the abandoned folder is still there: %v", err)
	}
	for _, path := range []string{live.spill.path, made, other} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s was removed: %v", path, err)
		}
	}
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDiskTroubleIsSaidOnceAndDropsTheOldest(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir(), MemoryPerResource: 4 << 10})
	if err := os.RemoveAll(s.spill.path); err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		s.Append(Entry{Resource: "web", Text: fmt.Sprint("line ", i)})
	}
	await(t, s, func() bool { return s.fullestLocked() == nil })
	lines := s.Tail(Filter{Resources: []model.ManifestName{""}}, 10)
	if len(lines) != 1 || lines[0].Level != LevelWarn || !strings.Contains(lines[0].Text, "cannot keep older log lines on disk") {
		t.Errorf("global lines are %q, want one warning", texts(lines))
	}
	if kept, gone := s.Count(Filter{}), s.Dropped(Filter{}); gone == 0 || kept+int(gone) != 2001 {
		t.Errorf("kept %d, dropped %d; want 2001 together", kept, gone)
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	s := open(t, Options{})
	for i := range 3 * scanStep {
		s.Append(Entry{Text: fmt.Sprint(i)})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	looked := 0
	f := Filter{Match: func(LineRef) bool {
		if looked++; looked == scanStep/2 {
			cancel(enough)
		}
		return looked == 1
	}}
	lines, err := s.Search(ctx, f, s.Newest()+1, 100, true)
	if !errors.Is(err, enough) || looked > scanStep {
		t.Errorf("error %v after %d lines, want %v after at most %d", err, looked, enough, scanStep)
	}
	wantTexts(t, lines, fmt.Sprint(3*scanStep-1))
}

func TestScanEnds(t *testing.T) {
	s := open(t, Options{})
	for i := range 3 * scanStep {
		s.Append(Entry{Text: fmt.Sprint(i)})
	}
	n := 0
	if err := s.Scan(t.Context(), Filter{}, 0, math.MaxUint64, true, func(l LineRef) bool { n++; return n < 3 }); err != nil || n != 3 {
		t.Errorf("%d lines and error %v after yield returned false for the third", n, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	n = 0
	err := s.Scan(ctx, Filter{}, 0, math.MaxUint64, false, func(LineRef) bool {
		if n++; n == scanStep/2 {
			cancel(enough)
		}
		return true
	})
	if !errors.Is(err, enough) || n > scanStep {
		t.Errorf("error %v after %d lines, want %v after at most %d", err, n, enough, scanStep)
	}
	if err := s.Scan(ctx, Filter{}, 0, 2, false, func(LineRef) bool { t.Error("a line"); return true }); !errors.Is(err, enough) {
		t.Errorf("error %v, want %v", err, enough)
	}
}

// TestScanLeavesTheCacheToReaders reads some lines from disk as a screen does, and then scans everything.
func TestScanLeavesTheCacheToReaders(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir(), MemoryPerResource: 4 << 10})
	for i := range 5000 {
		s.Append(Entry{Resource: "web", Text: fmt.Sprintf("line %d %x", i, rand.Uint64())})
	}
	await(t, s, func() bool { return s.fullestLocked() == nil })
	cached := func() (all []*segment) {
		for _, e := range s.cache.entries {
			all = append(all, e.seg)
		}
		return all
	}
	s.ReadAfter(Filter{}, 1000, 50)
	s.ReadAfter(Filter{}, 4000, 50)
	before := cached()
	if len(before) < 2 {
		t.Fatalf("%d segments are cached, want those of both readings", len(before))
	}
	f := Filter{Match: func(l LineRef) bool { return strings.HasSuffix(string(l.Text), "0") }}
	scanned(t, s, f, 0, math.MaxUint64, false)
	scanned(t, s, f, 0, math.MaxUint64, true)
	if _, err := s.Search(t.Context(), f, 0, 5000, false); err != nil {
		t.Fatal(err)
	}
	if s.Count(f) == 0 {
		t.Error("no line is counted")
	}
	if !slices.Equal(before, cached()) {
		t.Error("the scan changed the cache")
	}
}

func TestOldestAndSpans(t *testing.T) {
	s := open(t, Options{MemoryPerResource: 4 << 10})
	only := func(r model.ManifestName) Filter { return Filter{Resources: []model.ManifestName{r}} }
	if got := s.Oldest(Filter{}); got != 1 || s.Spans("web") != nil {
		t.Errorf("an empty store has the oldest line %d and spans %v", got, s.Spans("web"))
	}
	s.Append(Entry{Resource: "web", Span: "build:web:1", Text: "one"})
	s.Append(Entry{Resource: "api", Span: "build:api:1", Text: "other"})
	s.Append(Entry{Resource: "web", Span: "pod:web", Text: "two"})
	s.Append(Entry{Resource: "web", Span: "build:web:1", Text: "three"})
	s.Append(Entry{Resource: "web", Level: LevelError, Text: "four"})
	if diff := cmp.Diff([]SpanInfo{{"build:web:1", 1, 4}, {"pod:web", 3, 3}}, s.Spans("web")); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		name string
		f    Filter
		want uint64
	}{
		{"all", Filter{}, 1},
		{"a resource", only("api"), 2},
		{"an unknown resource", only("no"), 6},
		{"a level", Filter{MinLevel: LevelError}, 5},
		{"a span", Filter{Span: "pod:web"}, 3},
	} {
		if got := s.Oldest(tt.f); got != tt.want {
			t.Errorf("Oldest(%s) = %d, want %d", tt.name, got, tt.want)
		}
	}
	for i := range 1000 {
		s.Append(Entry{Resource: "web", Span: "pod:web", Text: fmt.Sprint("line ", i)})
	}
	got := s.Oldest(only("web"))
	if first := s.ReadAfter(only("web"), 0, 1); got != first[0].Seq || got < 5 {
		t.Errorf("Oldest = %d after lines were dropped, want %d", got, first[0].Seq)
	}
	if diff := cmp.Diff([]SpanInfo{{"pod:web", got, s.Newest()}}, s.Spans("web")); diff != "" {
		t.Errorf("spans after lines were dropped (-want +got):\n%s", diff)
	}
	s.Drop("web")
	if got := s.Oldest(only("web")); got != s.Newest()+1 {
		t.Errorf("Oldest = %d of a dropped resource, want %d", got, s.Newest()+1)
	}
}

func TestNewTellsWhyThereIsNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Dir: file}); err == nil || !strings.Contains(err.Error(), "open log store") {
		t.Errorf("error %v, want one that names the store", err)
	}
}

func TestKeeperSleepsWhenThereIsNothingToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Logger("web", "", SourceBuild).Write(LevelInfo, "whole\nopen")
		synctest.Wait()
		wantTexts(t, s.Tail(Filter{}, 5), "whole")
		time.Sleep(openLineDelay + settleEvery)
		synctest.Wait()
		wantTexts(t, s.Tail(Filter{}, 5), "whole", "open")
		if s.keeper.waiting() {
			t.Error("the keeper waits for time with nothing unfinished")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestCursorSaysWhereLinesAreMissing drops lines while a cursor reads them: the lines that Skipped counts are missing
// before those that Next returned, and none within them.
func TestCursorSaysWhereLinesAreMissing(t *testing.T) {
	s := open(t, Options{MemoryPerResource: 8 << 10})
	write := func(n int) {
		for i := range n {
			s.Append(Entry{Resource: "a", Text: fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%90))})
		}
	}
	write(100)
	late := 3000
	c := s.Cursor(Filter{Match: func(LineRef) bool {
		write(late) // once the cursor has begun
		late = 0
		return true
	}})
	var last, missing uint64
	gaps := 0
	for {
		lines := c.Next(10_000)
		skipped := c.Skipped()
		if skipped > 0 {
			gaps++
		}
		missing += skipped
		last += skipped
		for _, l := range lines {
			if last++; l.Seq != last {
				t.Fatalf("line %d comes after line %d, with %d lines missing before: %s", l.Seq, last-1, skipped, l.Text)
			}
		}
		if len(lines) == 0 {
			break
		}
	}
	if gaps != 1 || missing == 0 || last != 3100 {
		t.Errorf("%d gaps with %d lines, up to line %d; want one, up to line 3100", gaps, missing, last)
	}
}
