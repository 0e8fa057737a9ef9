package store

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// follows makes a table that records the changes of jobs.
func (f fixture) follows() *Table[string] {
	diary := Define[string](f.schema, "diary", "What happened to jobs.")
	Follow(diary, f.jobs, func(d *Draft[string], was, is *Entry[job]) {
		var text string
		switch {
		case was == nil:
			text = is.ID + " came"
		case is == nil:
			text = was.ID + " went"
		default:
			text = fmt.Sprintf("%s: %s %d, %s %d", is.ID, was.Phase, was.Version, is.Phase, is.Version)
		}
		d.Put(fmt.Sprint(d.Len()), text)
	})
	return diary
}

// TestFollow checks that a table that follows another one sees every change, even a change that no snapshot shows.
func TestFollow(t *testing.T) {
	f := newFixture()
	diary := f.follows()
	s := New(f.schema)
	s.finalizers[f.jobs.of.index] = []string{"keeper"}
	for _, a := range []Action{hired{"a"}, added{"n"}, hired{"a"}, left{"a"}, hired{"a"}, FinalizerReleased{"jobs", "a", "keeper"},
		FinalizerReleased{"jobs", "nobody", "keeper"}} {
		s.Dispatch(a)
	}
	s.Step()
	var got []string
	for e := range diary.In(s.Snapshot().All()).Refs() {
		got = append(got, e.Value)
	}
	want := []string{"a came", "a: running 1, running 2", "a: running 2, tearing-down 3", "a: tearing-down 3, tearing-down 4",
		"a: tearing-down 4, tearing-down 5", "a went", "a came"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if e := diary.In(s.Snapshot().All()).Value("0"); s.Snapshot().Seq != 1 || e != "a came" {
		t.Errorf("%d snapshots, %q", s.Snapshot().Seq, e)
	}
}

// TestFollowAFollower checks that a table sees the changes of a table that itself follows others, in whatever order they
// were declared, and that the tables changed by an action include followers.
func TestFollowAFollower(t *testing.T) {
	f := newFixture()
	summary, index := Define[string](f.schema, "summary", "What the index says."), Define[string](f.schema, "index", "What the diary says.")
	copied := func(from string) func(d *Draft[string], was, is *Entry[string]) {
		return func(d *Draft[string], _, is *Entry[string]) { d.Put(fmt.Sprint(d.Len()), from+": "+is.Value) }
	}
	Follow(summary, index, copied("index"))
	diary := f.follows()
	Follow(index, diary, copied("diary"))
	Follow(summary, f.counters, func(d *Draft[string], _, is *Entry[counter]) { d.Put(fmt.Sprint(d.Len()), "counter "+is.ID) })
	s := New(f.schema)
	s.finalizers[f.jobs.of.index] = []string{"keeper"}
	for _, a := range []Action{hired{"a"}, added{"n"}, left{"a"}, FinalizerReleased{"jobs", "a", "keeper"}} {
		s.Dispatch(a)
	}
	s.Step()
	var got []string
	for e := range summary.In(s.Snapshot().All()).Refs() {
		got = append(got, e.Value)
	}
	want := []string{"index: diary: a came", "counter n", "index: diary: a: running 1, tearing-down 2", "index: diary: a: tearing-down 2, tearing-down 3",
		"index: diary: a went"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"jobs", "summary", "index", "diary"}, f.schema.changed(ActionOf[hired]())); diff != "" {
		t.Errorf("what an action changes (-want +got):\n%s", diff)
	}
}

func TestTablesDoNotFollowInCircles(t *testing.T) {
	f := newFixture()
	diary := f.follows()
	Follow(f.counters, diary, func(*Draft[counter], *Entry[string], *Entry[string]) {})
	for name, follow := range map[string]func(){
		"one that is followed follows":    func() { Follow(f.jobs, diary, func(*Draft[job], *Entry[string], *Entry[string]) {}) },
		"the same, with one between them": func() { Follow(f.jobs, f.counters, func(*Draft[job], *Entry[counter], *Entry[counter]) {}) },
		"one that follows itself, even":   func() { Follow(f.counters, f.counters, func(*Draft[counter], *Entry[counter], *Entry[counter]) {}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			follow()
		}()
	}
}

func TestEndsAndAfter(t *testing.T) {
	f := newFixture()
	s := New(f.schema)
	rows := func() Rows[counter] { return f.counters.In(s.Snapshot().All()) }
	if first, last := rows().Ends(); first != nil || last != nil {
		t.Errorf("an empty table has ends: %v, %v", first, last)
	}
	for i := range 100 {
		s.Dispatch(added{fmt.Sprintf("%03d", i)})
	}
	s.Step()
	if first, last := rows().Ends(); first.ID != "000" || last.ID != "099" {
		t.Errorf("ends: %s, %s", first.ID, last.ID)
	}
	for after, want := range map[string]string{"": "000", "0": "000", "041": "042", "0415": "042", "099": "", "1": ""} {
		got := ""
		for e := range rows().After(after) {
			got = e.ID
			break
		}
		if got != want {
			t.Errorf("after %q: %q, want %q", after, got, want)
		}
	}
}
