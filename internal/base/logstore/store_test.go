package logstore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
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
