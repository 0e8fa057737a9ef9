package logstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

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
