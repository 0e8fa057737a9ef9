//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/test/witness"
)

func ms(all ...float64) times {
	var out times
	for _, n := range all {
		out = append(out, time.Duration(n*float64(time.Millisecond)))
	}
	return out
}

func TestFailures(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    liveCase
		want []string
	}{
		{"all arrived", liveCase{name: "a", mode: "synclet", took: ms(1)}, nil},
		{"an exec for each save", liveCase{name: "a", mode: "exec", took: ms(1), execs: 3}, nil},
		{"execs where there should be none", liveCase{name: "a", mode: "synclet", took: ms(1), execs: 3}, []string{"a: 3 new exec streams"}},
		{"execs where they are needed", liveCase{name: "a", mode: "synclet", took: ms(1), execs: 3, reopens: true}, nil},
		{"lost", liveCase{name: "a", mode: "exec", took: ms(1), lost: 2, execs: 2}, []string{"a: 2 lost"}},
		{"starved", liveCase{name: "a", mode: "synclet", took: ms(1), starved: 1}, []string{"a: 1 starved"}},
		{"nothing", liveCase{name: "a", mode: "synclet", lost: 1}, []string{"a: 1 lost", "a: nothing arrived"}},
		{"late", liveCase{name: "a", mode: "synclet", took: ms(1e6), targets: oneFile}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.c.failures()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMissedTargets(t *testing.T) {
	c := liveCase{took: ms(2, 2, 2, 2, 16), targets: oneFile}
	if diff := cmp.Diff([]string{"p50 ≤ 3 floors", "p99 ≤ 15 ms"}, c.missed(500*time.Microsecond)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := c.verdict(time.Millisecond), "p50 ≤ 3 ms, p50 ≤ 3 floors, MISSED p99 ≤ 15 ms, FAILED nothing"; !strings.HasPrefix(want, got) {
		t.Errorf("%q", got)
	}
}

func TestReportForPrograms(t *testing.T) {
	r := &liveReport{floor: &floor{wake: ms(0.1), echo: ms(0.4), write: ms(0.2), awake: ms(0.2), exec: ms(40)},
		cases: []liveCase{{name: "a", mode: "synclet", took: ms(2), targets: oneFile}}}
	var out bytes.Buffer
	if err := r.json(&out); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Floor  map[string]float64
		Failed []string
		Cases  []struct {
			P50, Floors float64
			Missed      []string
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Floor["sum"] != 0.5 || len(got.Cases) != 1 || got.Cases[0].P50 != 2 || got.Cases[0].Floors != 4 || len(got.Cases[0].Missed) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestArrivals checks that a save has arrived when it, or a later one to the same file, is seen.
func TestArrivals(t *testing.T) {
	s := &sightings{seen: map[string][]sighted{}}
	start := time.Now()
	at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Millisecond) }
	s.note("a", 1, at(5))
	s.note("a", 3, at(9))
	s.note("b", 2, at(6))
	took, lost := s.arrivals([]saved{{"a", 1, at(0)}, {"b", 2, at(1)}, {"a", 3, at(2)}, {"a", 2, at(2)}, {"b", 4, at(7)}})
	if diff := cmp.Diff(ms(5, 5, 7, 7), took); diff != "" || lost != 1 {
		t.Errorf("%d lost (-want +got):\n%s", lost, diff)
	}
	if n := s.starved([]saved{{"a", 3, at(2)}}, at(2).Add(starving+time.Second)); n != 0 {
		t.Errorf("%d starved though all arrived in time", n)
	}
	s.note("c", 1, at(20_000))
	if n := s.starved([]saved{{"c", 1, at(0)}}, at(19_000)); n != 1 {
		t.Errorf("%d starved, want 1", n)
	}
}

// TestExpected checks that only the exact content counts, in every container.
func TestExpected(t *testing.T) {
	a := expect([]file{{remote: "x", content: []byte("new")}, {remote: "y", content: []byte("new")}}, 2)
	for _, seen := range []struct {
		container     int
		path, content string
	}{{0, "x", "new"}, {0, "y", "old"}, {1, "y", "new"}, {1, "x", "new"}, {0, "z", "new"}} {
		a.saw(seen.container, witness.Sighting{Path: seen.path, Content: []byte(seen.content), At: time.Now()})
	}
	if diff := cmp.Diff([]string{"y"}, a.missing(0)); diff != "" || len(a.missing(1)) != 0 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	select {
	case <-a.done:
		t.Fatal("done though a container lacks a file")
	default:
	}
	a.saw(0, witness.Sighting{Path: "y", Content: []byte("new"), At: time.Now()})
	<-a.done
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]int{"save 12\nxxx": 12, "save 12": -1, "at first\n": -1, "": -1, "save x\n": -1} {
		got, ok := number([]byte(text))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
