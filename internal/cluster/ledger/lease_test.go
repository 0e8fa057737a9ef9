package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/memory"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
)

func holder(who string) Holder { return Holder{Who: who, Host: "laptop", PID: 123, Command: "hone ci"} }

func lease(t *testing.T, l *Ledger, who string, waiting func(Holder)) *Lease {
	t.Helper()
	e, err := l.Lease(t.Context(), "shop", holder(who), waiting)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func noWait(t *testing.T) func(Holder) {
	return func(h Holder) { t.Errorf("it waits for %s", h) }
}

// crash ends the goroutine that renews a lease, as the death of its process would, and frees the lock of its mark.
func crash(e *Lease) {
	e.stop()
	<-e.ended
	e.lose(context.Canceled)
	e.mark.unlock()
}

// silent is a storage that does not answer while it is set.
type silent struct {
	storage.Storage
	set atomic.Bool
}

func (s *silent) Load(ctx context.Context, name string) (storage.Document, error) {
	if s.set.Load() {
		<-ctx.Done()
		return storage.Document{}, ctx.Err()
	}
	return s.Storage.Load(ctx, name)
}

func (s *silent) Save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	if s.set.Load() {
		<-ctx.Done()
		return storage.None, ctx.Err()
	}
	return s.Storage.Save(ctx, name, data, was)
}

func TestLeaseWaitsForItsHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := memory.New()
		alice, bob := newMachine(t, shared).open(t), newMachine(t, shared).open(t)
		first := lease(t, alice, "alice", noWait(t))
		began := time.Now()
		var named []string
		taken := make(chan *Lease)
		go func() {
			e, err := bob.Lease(t.Context(), "shop", holder("bob"), func(h Holder) { named = append(named, h.String()) })
			if err != nil {
				t.Error(err)
			}
			taken <- e
		}()
		time.Sleep(10 * leaseTerm)
		synctest.Wait()
		if want := "hone ci of alice@laptop (pid 123), since "; len(named) != 1 || !strings.HasPrefix(named[0], want) {
			t.Errorf("it waits for %q, want once for %q", named, want)
		}
		deploy(t, alice, "a", "x")
		first.Release()
		second := <-taken
		if got := time.Since(began); got < 10*leaseTerm {
			t.Errorf("the lease was taken after %s", got)
		}
		if all, err := bob.Resources(); err != nil || len(all["web"]) != 1 {
			t.Errorf("after the wait, the ledger has %v (%v)", all, err)
		}
		if is, err := alice.Holder(t.Context(), "shop"); err != nil || is.Who != "bob" {
			t.Errorf("the holder is %v (%v)", is, err)
		}
		second.Release()
		if is, err := alice.Holder(t.Context(), "shop"); err != nil || is != nil {
			t.Errorf("after the release, the holder is %v (%v)", is, err)
		}
	})
}

func TestLeaseOfAnotherNamespaceIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMachine(t, memory.New()).open(t)
		defer lease(t, l, "alice", noWait(t)).Release()
		e, err := l.Lease(t.Context(), "other", holder("alice"), noWait(t))
		if err != nil {
			t.Fatal(err)
		}
		e.Release()
	})
}

func TestLeaseEndsItsWaitWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := memory.New()
		defer lease(t, newMachine(t, shared).open(t), "alice", noWait(t)).Release()
		cause := errors.New("interrupted")
		ctx, cancel := context.WithTimeoutCause(t.Context(), leaseTerm/2, cause)
		defer cancel()
		if _, err := newMachine(t, shared).open(t).Lease(ctx, "shop", holder("bob"), func(Holder) {}); !errors.Is(err, cause) {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestLeaseOfADeadHolder lets a holder die. Its clock was 10 minutes off.
func TestLeaseOfADeadHolder(t *testing.T) {
	for _, sameMachine := range []bool{false, true} {
		for _, off := range []time.Duration{-10 * time.Minute, 0, 10 * time.Minute} {
			t.Run(fmt.Sprintf("same machine %v, clock off by %s", sameMachine, off), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					shared := memory.New()
					at := newMachine(t, shared)
					dead := lease(t, at.open(t), "alice", noWait(t))
					crash(dead)
					dead.doc.Since = dead.doc.Since.Add(off)
					if err := dead.write(t.Context(), dead.doc.version); err != nil {
						t.Fatal(err)
					}
					began, want := time.Now(), time.Duration(0)
					if !sameMachine {
						at, want = newMachine(t, shared), leaseTerm
					}
					e := lease(t, at.open(t), "bob", func(Holder) {})
					if took := time.Since(began); took < want || took > want+2*leaseLook {
						t.Errorf("the lease was taken over after %s, want %s", took, want)
					}
					e.Release()
				})
			})
		}
	}
}

func TestLeaseIsLost(t *testing.T) {
	for name, tc := range map[string]struct {
		lose func(t *testing.T, s *silent, l *Ledger)
		want string
	}{
		"to another holder": {func(t *testing.T, s *silent, l *Ledger) {
			is, err := l.Holder(t.Context(), "shop")
			if err == nil {
				err = l.Unlock(t.Context(), "shop", *is)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(lease(t, newMachine(t, s).open(t), "bob", noWait(t)).Release)
		}, "lost to hone ci of bob@laptop (pid 123)"},
		"by hone state unlock": {func(t *testing.T, _ *silent, l *Ledger) {
			is, err := l.Holder(t.Context(), "shop")
			if err == nil {
				err = l.Unlock(t.Context(), "shop", *is)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "another process has removed it"},
		"with its storage": {func(_ *testing.T, s *silent, _ *Ledger) { s.set.Store(true) }, "the storage has not answered for 30s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &silent{Storage: memory.New()}
				l := newMachine(t, s).open(t)
				e := lease(t, l, "alice", noWait(t))
				ctx, cancel := e.Guard(t.Context())
				defer cancel()
				tc.lose(t, s, l)
				began := time.Now()
				<-e.Lost()
				<-ctx.Done()
				if took := time.Since(began); took > leaseTerm {
					t.Errorf("the holder has noticed it after %s, when another one may hold the lease", took)
				}
				if err := context.Cause(ctx); !errors.As(err, new(*LostError)) || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("the cause is %v, want %q", err, tc.want)
				}
				s.set.Store(false)
				e.Release()
			})
		})
	}
}

func TestUnlockKeepsTheLeaseOfAnotherHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMachine(t, memory.New()).open(t)
		first := lease(t, l, "alice", noWait(t))
		shown, err := l.Holder(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		first.Release()
		second := lease(t, l, "bob", noWait(t))
		defer second.Release()
		if err := l.Unlock(t.Context(), "shop", *shown); err != nil {
			t.Fatal(err)
		}
		if is, err := l.Holder(t.Context(), "shop"); err != nil || is == nil || is.Who != "bob" {
			t.Errorf("the holder is %v (%v)", is, err)
		}
	})
}

// TestLeaseExcludes lets several machines take the lease again and again, with a storage that loses answers.
func TestLeaseExcludes(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			shared := memory.New()
			var inside, turns atomic.Int32
			done := make(chan struct{})
			deploy(t, newMachine(t, shared).open(t), "a", "x")
			for n := range 3 {
				l := newMachine(t, shared).open(t)
				l.storage = storagetest.NewFaulty(shared, 10*seed+uint64(n))
				go func() {
					defer func() { done <- struct{}{} }()
					for range 4 {
						e, err := l.Lease(t.Context(), "shop", holder(fmt.Sprint(n)), func(Holder) {})
						if err != nil {
							t.Errorf("seed %d: %v", seed, err)
							return
						}
						if inside.Add(1) > 1 {
							t.Errorf("seed %d: two hold the lease", seed)
						}
						time.Sleep(2 * leaseTerm)
						if err := e.Err(); err != nil {
							t.Errorf("seed %d: %v", seed, err)
						}
						inside.Add(-1)
						turns.Add(1)
						e.Release()
					}
				}()
			}
			for range 3 {
				<-done
			}
			if turns.Load() != 12 {
				t.Errorf("seed %d: %d turns", seed, turns.Load())
			}
		})
	}
}

// TestMarksOfTheDead: the file of a holder that is gone goes with its lease, or later. Files of holders that live stay.
func TestMarksOfTheDead(t *testing.T) {
	l := newMachine(t, memory.New()).open(t)
	long := time.Now().Add(-2 * orphanAge)
	dead, fresh, living, unlocked := l.marked("dead"), l.marked("fresh"), l.mark("living"), l.marked("unlocked")
	defer living.remove()
	for _, path := range []string{dead, fresh, unlocked} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dead, living.path} {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Unlock(t.Context(), "shop", Holder{id: "unlocked"}); err != nil {
		t.Fatal(err)
	}
	defer l.mark("next").remove()
	for path, want := range map[string]bool{dead: false, unlocked: false, fresh: true, living.path: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}
