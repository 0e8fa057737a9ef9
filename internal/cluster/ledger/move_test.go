package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/kube"
	"github.com/hone-dev/hone/internal/cluster/storage/memory"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
	"github.com/hone-dev/hone/pkg/model"
)

// places are kinds of storages, which keep notes and members in different ways.
var places = map[string]func(*testing.T) storage.Storage{
	"memory": func(*testing.T) storage.Storage { return memory.New() },
	"folder": func(t *testing.T) storage.Storage { return openFolder(t, t.TempDir()) },
	"kube": func(t *testing.T) storage.Storage {
		s, err := kube.Open("kube://", deploytest.New(), deploytest.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
}

// budget is the number of operations that storages still do. All later ones fail. With late, the last one is done, and its answer is lost.
type budget struct {
	left int
	late bool
}

func (b *budget) spend(do func() error) error {
	b.left--
	if b.left >= 0 {
		return do()
	}
	if b.left == -1 && b.late {
		_ = do()
	}
	return storagetest.ErrInjected
}

// cut is a storage with a budget.
type cut struct {
	storage.Storage
	*budget
}

func (c cut) Load(ctx context.Context, name string) (doc storage.Document, err error) {
	err = c.spend(func() error { doc, err = c.Storage.Load(ctx, name); return err })
	return doc, err
}

func (c cut) Save(ctx context.Context, name string, data []byte, was storage.Version) (is storage.Version, err error) {
	err = c.spend(func() error { is, err = c.Storage.Save(ctx, name, data, was); return err })
	return is, err
}

func (c cut) Delete(ctx context.Context, name string, was storage.Version) error {
	return c.spend(func() error { return c.Storage.Delete(ctx, name, was) })
}

func (c cut) List(ctx context.Context, prefix string) (names []string, err error) {
	err = c.spend(func() error { names, err = c.Storage.List(ctx, prefix); return err })
	return names, err
}

// cutSets and cutLocal are cut for storages that can do more.
type cutSets struct {
	cut
	sets storage.ApplySets
}

func (c cutSets) ApplySet(name string) string { return c.sets.ApplySet(name) }

func (c cutSets) SetMembers(ctx context.Context, name string, kinds, namespaces []string) error {
	return c.spend(func() error { return c.sets.SetMembers(ctx, name, kinds, namespaces) })
}

type cutLocal struct {
	cut
	local storage.Local
}

func (c cutLocal) Path(name string) string { return c.local.Path(name) }
func (c cutLocal) Unchanged(name string, was storage.Version) bool {
	return c.local.Unchanged(name, was)
}

func (c cutLocal) SaveBrief(ctx context.Context, name string, data []byte, was storage.Version) (is storage.Version, err error) {
	err = c.spend(func() error { is, err = c.local.SaveBrief(ctx, name, data, was); return err })
	return is, err
}

var (
	_ storage.Local     = cutLocal{}
	_ storage.ApplySets = cutSets{}
)

func limited(s storage.Storage, b *budget) storage.Storage {
	switch is := s.(type) {
	case storage.Local:
		return cutLocal{cut{s, b}, is}
	case storage.ApplySets:
		return cutSets{cut{s, b}, is}
	}
	return cut{s, b}
}

// moving is a ledger and the place that it moves to.
type moving struct {
	from, to *machine
	all      archive
}

// newMoving returns a ledger with three revisions, commands and notes of all kinds.
func newMoving(t testing.TB, from, to storage.Storage) *moving {
	t.Helper()
	return newMovingFrom(t, newMachine(t, from), newMachine(t, to))
}

func newMovingFrom(t testing.TB, from, to *machine) *moving {
	t.Helper()
	m := &moving{from: from, to: to}
	m.to.dir = m.from.dir
	for i := range 3 {
		m.from.origin = Origin{Run: fmt.Sprint(i), Command: "ci"}
		deploy(t, m.from.open(t), fmt.Sprint(i), "a", fmt.Sprint("b", i))
	}
	l := m.from.open(t)
	err := errors.Join(l.SetNote(Found, record("a", "").ObjectID, []byte("{}")), l.SetNote(Accepted, record("a", "").ObjectID, []byte("[]")), l.notes.save(t.Context()),
		l.RecordCommand("chart", model.Cmd{Argv: []string{"helm", "uninstall"}, Env: []string{"TOKEN=secret"}}))
	if err != nil {
		t.Fatal(err)
	}
	m.all = m.in(t, m.from)
	if len(m.all.notes) < 4 || len(m.all.declared) < 2 {
		t.Fatalf("%d notes, %d revisions", len(m.all.notes), len(m.all.declared))
	}
	return m
}

func (m *moving) in(t testing.TB, at *machine) archive {
	t.Helper()
	a, err := at.open(t).archive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// move moves with the given storages, which may fail.
func (m *moving) move(t *testing.T, from, to storage.Storage) error {
	t.Helper()
	key := Key{Cluster: "c", Project: "p"}
	at := func(s storage.Storage) *Ledger {
		l := &Ledger{storage: s, key: key, vault: m.from.open(t).vault}
		l.notes = newNotes(l)
		return l
	}
	ctx, cancel := patience()
	defer cancel()
	return at(from).MoveTo(ctx, at(to), false)
}

// whole checks that one of the places has everything.
func (m *moving) whole(t *testing.T, when string) {
	t.Helper()
	if !m.in(t, m.from).equal(m.all) && !m.in(t, m.to).equal(m.all) {
		t.Fatalf("%s: neither place has everything", when)
	}
}

// moved checks that only the new place has something, and everything.
func (m *moving) moved(t *testing.T, when string) {
	t.Helper()
	if !m.in(t, m.to).equal(m.all) {
		t.Errorf("%s: the new place lacks something", when)
	}
	if left, err := m.from.storage.List(t.Context(), "c-p"); err != nil || len(left) > 0 {
		t.Errorf("%s: the former place has %q, %v", when, left, err)
	}
}

// TestMove moves ledgers between all kinds of places, and is cut off after every operation: one place always has everything, and the move
// can be repeated.
func TestMove(t *testing.T) {
	for fromKind, openFrom := range places {
		for toKind, openTo := range places {
			t.Run(fromKind+" to "+toKind, func(t *testing.T) {
				t.Parallel()
				step := 1
				if testing.Short() {
					step = 5
				}
				for n, done := 0, false; !done; n += step {
					for _, late := range []bool{false, true} {
						when := fmt.Sprintf("after %d operations, late %t", n, late)
						from, to := openFrom(t), openTo(t)
						synctest.Test(t, func(t *testing.T) {
							m := newMoving(t, from, to)
							b := &budget{left: n, late: late}
							err := m.move(t, limited(from, b), limited(to, b))
							done = err == nil && b.left >= 0
							m.whole(t, when)
							if err != nil {
								err = m.move(t, from, to)
							}
							if err != nil {
								t.Errorf("%s, repeated: %v", when, err)
							}
							m.moved(t, when)
						})
					}
					if n > 500 {
						t.Fatal("the move does not end")
					}
				}
			})
		}
	}
}

// TestMoveWithFaults moves while the storages fail at random, until the move succeeds.
func TestMoveWithFaults(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			m := newMoving(t, memory.New(), memory.New())
			from, to := storagetest.NewFaulty(m.from.storage, seed), storagetest.NewFaulty(m.to.storage, seed+100)
			for i := 0; ; i++ {
				when := fmt.Sprintf("seed %d, attempt %d", seed, i)
				err := m.move(t, from, to)
				m.whole(t, when)
				if err == nil {
					m.moved(t, when)
					return
				}
				if _, refused := problem.Of(err); refused || i > 1000 {
					t.Fatalf("%s: %v", when, err)
				}
			}
		})
	}
}

// TestMoveRefusals: a place with another ledger, nothing to move, values that cannot be read, and a writer during the move.
func TestMoveRefusals(t *testing.T) {
	wants := func(err error, text string) {
		t.Helper()
		if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, text) || p.Mend == "" {
			t.Errorf("%v, want a problem with %q", err, text)
		}
	}
	m := newMoving(t, memory.New(), memory.New())
	deploy(t, m.to.open(t), "other", "z")
	wants(m.move(t, m.from.storage, m.to.storage), "has a ledger in")
	m.whole(t, "refused")
	wants(newMoving(t, memory.New(), memory.New()).move(t, memory.New(), memory.New()), "there is no ledger in")

	m = newMoving(t, memory.New(), memory.New())
	m.from.dir = t.TempDir() + "/elsewhere" // another machine, with another key
	wants(m.move(t, m.from.storage, m.to.storage), "the commands of chart were encrypted with a key that this machine does not have")

	m = newMoving(t, memory.New(), memory.New())
	busy := &writesOnce{Storage: m.from.storage, head: Key{Cluster: "c", Project: "p"}.head(), write: func() { deploy(t, m.from.open(t), "meanwhile", "m") }}
	wants(m.move(t, busy, m.to.storage), "another process has changed the ledger during the move")
	if left, err := m.to.storage.List(t.Context(), ""); err != nil || len(left) > 0 {
		t.Errorf("the new place has %q, %v", left, err)
	}
	if err := m.move(t, m.from.storage, m.to.storage); err != nil {
		t.Error(err)
	}
}

// writesOnce has another process write before the head is deleted for the first time.
type writesOnce struct {
	storage.Storage
	head  string
	write func()
}

func (w *writesOnce) Delete(ctx context.Context, name string, was storage.Version) error {
	if write := w.write; name == w.head && write != nil {
		w.write = nil
		write()
	}
	return w.Storage.Delete(ctx, name, was)
}
