package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plain is the simple model of Changes.
type plain map[string]time.Time

func (m plain) with(paths []string, at time.Time) plain {
	out := maps.Clone(m)
	for _, p := range paths {
		if at.After(out[p]) {
			out[p] = at
		}
	}
	return out
}

func (m plain) without(paths []string) plain {
	out := maps.Clone(m)
	for _, p := range paths {
		delete(out, p)
	}
	return out
}

func (m plain) later(than time.Time) plain {
	out := plain{}
	for p, at := range m {
		if at.After(than) {
			out[p] = at
		}
	}
	return out
}

// since returns the files that have changed in m since another version.
func (m plain) since(was plain) []string {
	var out []string
	for p, at := range m {
		if !was[p].Equal(at) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// second is a moment in the tests' own count.
func second(n int) time.Time { return time.Unix(1_700_000_000+int64(n), 0) }

// check compares the results of all methods of changes with the model.
func check(t *testing.T, c Changes, m plain, around time.Time) {
	t.Helper()
	collect := func(kind string, yielded func(func(string, time.Time) bool), want plain) {
		got, last := plain{}, time.Time{}
		for p, at := range yielded {
			if _, twice := got[p]; twice {
				t.Fatalf("%s yields %s twice", kind, p)
			}
			if !last.IsZero() && at.After(last) {
				t.Fatalf("%s yields %s of %s after one of %s", kind, p, at, last)
			}
			got[p], last = at, at
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: (-want +got):\n%s", kind, diff)
		}
	}
	collect("All", c.All(), m)
	collect("After", c.After(around), m.later(around))
	if got, want := PathsOf(c), slices.Sorted(maps.Keys(m)); !slices.Equal(got, want) {
		t.Fatalf("paths (-want +got):\n%s", cmp.Diff(want, got))
	}
	if shown := c.Shown().(map[string]time.Time); !maps.Equal(shown, m) {
		t.Fatalf("shown (-want +got):\n%s", cmp.Diff(map[string]time.Time(m), shown))
	}
	if c.Len() != len(m) || c.Empty() != (len(m) == 0) || c.Empty() != (c == Changes{}) {
		t.Fatalf("%d files, empty %t, zero %t; want %d", c.Len(), c.Empty(), c == Changes{}, len(m))
	}
	var newest time.Time
	for p, at := range m {
		if got, ok := c.At(p); !ok || !got.Equal(at) {
			t.Fatalf("%s changed at %s, %t; want %s", p, got, ok, at)
		}
		if at.After(newest) {
			newest = at
		}
	}
	if _, ok := c.At("/none"); ok || !c.Newest().Equal(newest) {
		t.Fatalf("newest at %s, want %s; a file that there is not: %t", c.Newest(), newest, ok)
	}
	if !c.Empty() && c.newest.total > 2*c.Len()+slack {
		t.Fatalf("a list of %d paths for %d files", c.newest.total, c.Len())
	}
}

// TestChanges compares random histories with a model, and checks all versions again at the end.
func TestChanges(t *testing.T) {
	type version struct {
		changes Changes
		model   plain
		at      time.Time
	}
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			files := []int{1, 3, 12, 80}[seed%4] // few files change often, and the list is tidied up often
			some := func(most int) []string {
				paths := make([]string, r.IntN(most)+1)
				for i := range paths {
					paths[i] = fmt.Sprintf("/src/%d", r.IntN(files))
				}
				return paths
			}
			now := 0
			at := version{model: plain{}}
			history := []version{at}
			line := []version{at} // the versions that the newest one was made from
			for range 300 {
				now += r.IntN(2)
				when := now
				if r.IntN(4) == 0 {
					when = max(0, now-r.IntN(12))
				}
				at.at = second(when)
				switch r.IntN(20) {
				case 0:
					paths := some(files)
					at.changes, at.model = at.changes.Without(paths), at.model.without(paths)
				case 1, 2:
					paths := some(2)
					at.changes, at.model = at.changes.Without(paths), at.model.without(paths)
				case 3:
					than := second(now - r.IntN(100))
					at.changes, at.model = at.changes.Later(than), at.model.later(than)
				case 4:
					paths := some(files)
					at.changes, at.model = at.changes.With(paths, at.at), at.model.with(paths, at.at)
				case 5: // from an older version on, as if the later ones did not exist
					line = slices.Clone(line[:r.IntN(len(line))+1])
					at = line[len(line)-1]
				default:
					paths := some(3)
					at.changes, at.model = at.changes.With(paths, at.at), at.model.with(paths, at.at)
				}
				check(t, at.changes, at.model, at.at)
				was := line[max(0, len(line)-1-r.IntN(10))]
				got, want := slices.Sorted(at.changes.Since(was.changes)), at.model.since(was.model)
				if !slices.Equal(got, want) {
					t.Fatalf("changed since (-want +got):\n%s", cmp.Diff(want, got))
				}
				history, line = append(history, at), append(line, at)
			}
			for _, v := range history {
				check(t, v.changes, v.model, v.at)
			}
		})
	}
}

// TestChangesKeepTheirSlices checks that the slices that changes are made from are not modified.
func TestChangesKeepTheirSlices(t *testing.T) {
	paths := []string{"/b", "/a", "/b"}
	c := Changes{}.With(paths, second(1))
	again := c.With([]string{"/c"}, second(1))
	paths[0], paths[1] = "/x", "/y"
	if got := PathsOf(c); !slices.Equal(got, []string{"/a", "/b"}) {
		t.Errorf("%v", got)
	}
	if got := PathsOf(again); !slices.Equal(got, []string{"/a", "/b", "/c"}) {
		t.Errorf("%v", got)
	}
	if paths[2] != "/b" {
		t.Errorf("the caller's slice has become %v", paths)
	}
}

// TestChangesShare checks that the cost of a change does not grow with the number of all changes: the changes since a time
// and since the last version are found without reading the rest.
func TestChangesShare(t *testing.T) {
	all := make([]string, 5000)
	for i := range all {
		all[i] = fmt.Sprintf("/src/%d", i)
	}
	old := Changes{}.With(all, second(1))
	c := old.With([]string{"/src/7"}, second(3))
	if c.newest.older != old.newest {
		t.Error("a newer change does not share the list of the older ones")
	}
	early := c.With([]string{"/src/8"}, second(2)) // settles later than it was noticed
	if early.newest.older.older != old.newest {
		t.Error("a change between does not share the list of the older ones")
	}
	back := c.Without([]string{"/src/7"})
	if back.newest != old.newest || back.Len() != len(all)-1 {
		t.Error("what is taken away again stays in the list")
	}
	if same := c.With(all, second(1)); same != c {
		t.Error("known changes make another version")
	}
	if same := c.Without([]string{"/none"}); same != c {
		t.Error("taking nothing away makes another version")
	}
	if same := c.Later(second(0)); same != c {
		t.Error("forgetting nothing makes another version")
	}
	if per := testing.AllocsPerRun(10, func() {
		for p := range early.After(second(2)) {
			if p != "/src/7" {
				t.Error(p)
			}
		}
		for p := range early.Since(c) {
			if p != "/src/8" {
				t.Error(p)
			}
		}
	}); per > 20 {
		t.Errorf("%v allocations to find two files", per)
	}
}
