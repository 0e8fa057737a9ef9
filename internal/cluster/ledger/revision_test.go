package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/memory"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// machine is one machine that uses a shared storage.
type machine struct {
	storage storage.Storage
	dir     string
	env     map[string]string
	origin  Origin
}

func newMachine(t testing.TB, s storage.Storage) *machine {
	return &machine{storage: s, dir: t.TempDir() + "/ledger", env: map[string]string{}}
}

func (m *machine) open(t testing.TB) *Ledger {
	t.Helper()
	l, err := m.tryOpen()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (m *machine) tryOpen() (*Ledger, error) {
	return Open(m.storage, Key{Cluster: "c", Project: "p"}, Options{Dir: m.dir, Getenv: func(name string) string { return m.env[name] }, Origin: func() Origin { return m.origin }})
}

// deploy records an object of resource web and notes its declaration, as a deploy does.
func deploy(t testing.TB, l *Ledger, text string, names ...string) {
	t.Helper()
	var list []Record
	for _, name := range names {
		list = append(list, record(name, ""))
	}
	end := l.Update("web")
	err := l.Record("web", list)
	var applied []model.AppliedObject
	for _, name := range names {
		err = errors.Join(err, l.Written(record(name, "").ObjectID), l.SetNote(Applied, record(name, "").ObjectID, []byte(`"`+text+" "+name+`"`)))
		applied = append(applied, appliedOf(record(name, "uid-"+name)))
	}
	if err := errors.Join(err, l.Set("web", applied)); err != nil {
		t.Fatal(err)
	}
	end(Outcome{})
}

func declaredTexts(t *testing.T, l *Ledger, number int) string {
	t.Helper()
	objects, err := l.Declared(number)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, d := range objects["web"] {
		texts = append(texts, string(d.Object))
	}
	return strings.Join(texts, " ")
}

// storages are the storages that the tests of revisions use: their notes are kept in different ways.
func storages(t *testing.T) map[string]func() storage.Storage {
	shared := memory.New()
	dir := t.TempDir()
	return map[string]func() storage.Storage{
		"shared": func() storage.Storage { return shared },
		"folder": func() storage.Storage { return openFolder(t, dir) },
	}
}

// TestRevisions: which changes begin a revision, and that each keeps its objects.
func TestRevisions(t *testing.T) {
	for kind, open := range storages(t) {
		t.Run(kind, func(t *testing.T) {
			m := newMachine(t, open())
			l := m.open(t)
			numbers := func(what, want string) {
				t.Helper()
				history, err := m.open(t).History()
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, r := range history {
					got = append(got, fmt.Sprintf("%d %s %s +%d ~%d -%d of %d", r.Number, r.Command, r.Phase, r.Created, r.Changed, r.Deleted, r.Objects))
				}
				if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", what, diff)
				}
			}
			const first = "1 deploy succeeded +1 ~1 -0 of 1"
			const third = first + ", 2 ci succeeded +1 ~1 -0 of 2, 3 up succeeded +0 ~2 -0 of 2"
			numbers("before anything", "")
			m.origin = Origin{Run: "1", Command: "deploy"}
			deploy(t, l, "one", "a")
			numbers("the first deploy", "1 deploy succeeded +1 ~0 -0 of 1")
			deploy(t, l, "one", "a")
			numbers("more of the same run", "1 deploy succeeded +1 ~1 -0 of 1")
			m.origin = Origin{Run: "2", Command: "ci"}
			l = m.open(t)
			end := l.Update("web")
			if err := l.Set("web", []model.AppliedObject{appliedOf(record("a", "uid-a"))}); err != nil {
				t.Fatal(err)
			}
			end(Outcome{})
			numbers("a run that changes nothing", first)
			deploy(t, l, "two", "a", "b")
			numbers("a run with a new object", first+", 2 ci succeeded +1 ~1 -0 of 2")
			m.origin = Origin{Run: "3", Command: "up", Evaluation: 1}
			l = m.open(t)
			deploy(t, l, "three", "a", "b")
			m.origin.Evaluation = 2
			if err := l.SeenReady("web", []model.ObjectID{record("a", "").ObjectID}); err != nil {
				t.Fatal(err)
			}
			numbers("the state of an object", third)
			deploy(t, l, "four", "b")
			end = l.Update("web")
			end(Outcome{Failed: true})
			numbers("a failure", third+", 4 up failed +0 ~1 -1 of 1")
			l = m.open(t)
			for number, want := range map[int]string{1: `"one a"`, 2: `"two a" "two b"`, 3: `"three a" "three b"`, 4: `"four b"`} {
				if got := declaredTexts(t, l, number); got != want {
					t.Errorf("revision %d has the objects %s, want %s", number, got, want)
				}
			}
			if _, err := l.Declared(9); err == nil || !strings.Contains(problemText(err), "1, 2, 3, 4") {
				t.Errorf("an unknown revision: %v", err)
			}
			for run := range 12 {
				m.origin = Origin{Run: fmt.Sprint("more ", run)}
				deploy(t, m.open(t), fmt.Sprint(run), fmt.Sprint("x", run))
			}
			history, err := l.History()
			if l.Refresh() == nil {
				history, err = l.History()
			}
			if err != nil || len(history) != keptRevisions || history[0].Number != 7 {
				t.Errorf("the history has %d revisions from %d on, %v", len(history), history[0].Number, err)
			}
			names, err := m.storage.List(t.Context(), l.key.name()+".revisions/")
			if err != nil || len(names) != keptRevisions-1 {
				t.Errorf("documents of earlier revisions: %q, %v", names, err)
			}
		})
	}
}

func problemText(err error) string {
	if p, ok := problem.Of(err); ok {
		return p.Summary + " " + p.Mend
	}
	return err.Error()
}

// TestWritersOfRevisions: writers on several machines lose no revision and no record, and double no number.
func TestWritersOfRevisions(t *testing.T) {
	s := memory.New()
	const writers, each = 2, 100
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]string{}
	for w := range writers {
		m := newMachine(t, lossy{s, &sync.Mutex{}, new(int)})
		wg.Go(func() {
			l := m.open(t)
			for i := range each {
				m.origin = Origin{Run: fmt.Sprintf("%d-%d", w, i)}
				name := fmt.Sprintf("%d-%d", w, i)
				if err := l.Record(model.ManifestName(name), []Record{record(name, "")}); err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				mu.Lock()
				history, _ := l.History()
				for _, r := range history {
					if was, ok := seen[r.Number]; ok && was != r.Run {
						t.Errorf("revision %d is of the runs %s and %s", r.Number, was, r.Run)
					}
					seen[r.Number] = r.Run
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != writers*each {
		t.Errorf("%d revisions, want %d", len(seen), writers*each)
	}
	all, err := newMachine(t, s).open(t).Resources()
	if err != nil || len(all) != writers*each {
		t.Errorf("%d resources are recorded, want %d; %v", len(all), writers*each, err)
	}
}

// lossy loses the answer of each third save, and each fifth load fails.
type lossy struct {
	storage.Storage
	mu    *sync.Mutex
	calls *int
}

var errCut = errors.New("the connection was cut")

func (s lossy) turn(every int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.calls++
	return *s.calls%every == 0
}

func (s lossy) Save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	is, err := s.Storage.Save(ctx, name, data, was)
	if s.turn(3) {
		return storage.None, errCut
	}
	return is, err
}

// TestUserKeys: a ledger with a key of the user, without it, with another one, and with a new one.
func TestUserKeys(t *testing.T) {
	first, second := keyText(1), keyText(2)
	for kind, open := range storages(t) {
		t.Run(kind, func(t *testing.T) {
			s := open()
			m := newMachine(t, s)
			m.origin.Run = "1"
			deploy(t, m.open(t), "plain-text", "a")
			all := func() (text string) {
				names, err := s.List(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names {
					doc, err := s.Load(t.Context(), name)
					if err != nil {
						t.Fatal(err)
					}
					text += string(doc.Data)
				}
				return text
			}
			if !strings.Contains(all(), "Deployment") {
				t.Fatal("a small ledger without a key is not legible")
			}
			other := newMachine(t, s) // another machine with the key
			other.env[KeyVariable], other.origin.Run = first, "2"
			deploy(t, other.open(t), "with-key", "a", "b")
			if text := all(); strings.Contains(text, "Deployment") || strings.Contains(text, "with-key") {
				t.Error("with a key, clear text is stored")
			}
			before := all()
			for keys, want := range map[string]string{"": "is encrypted", second: "with another key", "short": "not 32 bytes"} {
				m.env[KeyVariable] = keys
				if _, err := m.tryOpen(); err == nil || !strings.Contains(problemText(err), want) {
					t.Errorf("with the keys %q: %v", keys, err)
				}
			}
			if all() != before {
				t.Error("a process without the key has changed the ledger")
			}
			m.env[KeyVariable], m.origin.Run = second+","+first, "3" // a new key
			deploy(t, m.open(t), "new-key", "b")
			other.env[KeyVariable] = second
			l := other.open(t)
			if got := declaredTexts(t, l, 3); got != `"new-key b"` {
				t.Errorf("with the new key, the newest revision has %s", got)
			}
			history, err := l.History()
			if err != nil || len(history) != 3 || !slices.IsSortedFunc(history, func(a, b Revision) int { return a.Number - b.Number }) {
				t.Errorf("history %v, %v", history, err)
			}
			if got := declaredTexts(t, l, 2); got != `"with-key a" "with-key b"` {
				t.Errorf("with the new key alone, an earlier revision has %s", got)
			}
		})
	}
}

// TestOvertakenRevision: in a session, an update whose evaluation was overtaken has its result in the revision that it began with, and no
// revision of the session stays without a result.
func TestOvertakenRevision(t *testing.T) {
	m := newMachine(t, memory.New())
	l := m.open(t)
	history := func(want string) {
		t.Helper()
		all, err := m.open(t).History()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range all {
			got = append(got, fmt.Sprintf("%d of evaluation %d ~%d %s%s", r.Number, r.Evaluation, r.Changed, r.Phase, r.Failures))
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	m.origin = Origin{Run: "1", Evaluation: 1}
	deploy(t, l, "one", "a")
	slow, late := l.Update("slow"), l.Update("late")
	m.origin.Evaluation = 2
	deploy(t, l, "two", "a")
	slow(Outcome{Failed: true})
	late(Outcome{})
	history("1 of evaluation 1 ~0 failedslow, 2 of evaluation 2 ~1 failedslow")
	deploy(t, l, "two", "a")
	end := l.Update("slow")
	end(Outcome{})
	history("1 of evaluation 1 ~0 failedslow, 2 of evaluation 2 ~1 succeeded")
	early := l.Update("early")
	m.origin.Evaluation = 3
	if err := l.Written(record("a", "").ObjectID); err != nil {
		t.Fatal(err)
	}
	early(Outcome{})
	m.origin.Evaluation = 4
	none := l.Update("none")
	m.origin.Evaluation = 5
	if err := l.Written(record("a", "").ObjectID); err != nil {
		t.Fatal(err)
	}
	none(Outcome{})
	history("1 of evaluation 1 ~0 failedslow, 2 of evaluation 2 ~1 succeeded, 3 of evaluation 3 ~1 succeeded, 4 of evaluation 5 ~1 succeeded")
}

// TestFollow: a follower hears of the revisions that are known, of those that this process writes, and of those that others have written
// as soon as this process reads the ledger again. It causes no reading.
func TestFollow(t *testing.T) {
	counted := &countedLoads{Storage: memory.New()}
	m := newMachine(t, counted)
	m.origin = Origin{Run: "1", Command: "up"}
	l := m.open(t)
	deploy(t, l, "one", "a")
	var heard []string
	loads := counted.n
	l.Follow(func(list []Revision) {
		var text string
		for _, r := range list {
			text += fmt.Sprintf("%d %s, ", r.Number, r.Phase)
		}
		heard = append(heard, text)
	})
	expect := func(when string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, heard); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		heard = nil
	}
	expect("at once", "1 succeeded, ")
	if counted.n != loads {
		t.Error("following reads the storage")
	}
	m.origin = Origin{Run: "1", Evaluation: 2, Command: "up"}
	end := l.Update("web")
	if err := l.Written(record("a", "").ObjectID); err != nil {
		t.Fatal(err)
	}
	expect("a revision begins", "1 succeeded, 2 applying, ")
	end(Outcome{})
	expect("it ends", "1 succeeded, 2 succeeded, ")
	m.origin = Origin{Run: "2", Command: "ci"}
	deploy(t, m.open(t), "other", "b")
	expect("another process deploys")
	if err := l.Refresh(); err != nil {
		t.Fatal(err)
	}
	expect("the ledger is read", "1 succeeded, 2 succeeded, 3 succeeded, ")
	if err := l.Refresh(); err != nil {
		t.Fatal(err)
	}
	expect("nothing is new")
}

// countedLoads counts the documents that are read.
type countedLoads struct {
	storage.Storage
	n int
}

func (c *countedLoads) Load(ctx context.Context, name string) (storage.Document, error) {
	c.n++
	return c.Storage.Load(ctx, name)
}

// TestForgotten: objects that stay in the cluster do not count as deleted.
func TestForgotten(t *testing.T) {
	m := newMachine(t, memory.New())
	m.origin = Origin{Run: "1", Command: "deploy"}
	deploy(t, m.open(t), "one", "a", "b", "c", "d")
	m.origin = Origin{Run: "2", Command: "forget"}
	l := m.open(t)
	all, err := l.Of("web")
	if err != nil {
		t.Fatal(err)
	}
	end := l.Update("web")
	if err := l.Drop(Records{"web": all[:1]}, Records{"web": all[1:2]}); err != nil {
		t.Fatal(err)
	}
	if err := l.LeaveToOthers("web", all[2].ObjectID); err != nil {
		t.Fatal(err)
	}
	end(Outcome{})
	history, err := m.open(t).History()
	if err != nil {
		t.Fatal(err)
	}
	is := history[len(history)-1]
	if want := (api.RevisionCounts{Deleted: 1, Forgotten: 2}); is.RevisionCounts != want || is.Objects != 1 || is.OnlyForgot() {
		t.Errorf("the revision counts %+v of %d objects, want %+v of 1", is.RevisionCounts, is.Objects, want)
	}
}
