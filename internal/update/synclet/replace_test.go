//go:build linux

package synclet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// stuckPods simulate containers whose execs end only when they are released, even if they are cancelled.
type stuckPods struct {
	began  chan string
	let    chan struct{}
	result error

	mu   sync.Mutex
	open int
	most int // how many ran at a time
}

func (f *stuckPods) Exec(_ context.Context, req k8s.ExecRequest) error {
	f.mu.Lock()
	f.open++
	f.most = max(f.most, f.open)
	f.mu.Unlock()
	f.began <- req.Pod
	<-f.let
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open--
	return f.result
}

// TestKeepDoesNotWait checks that a conversation that is being opened, and does not end at once, delays neither Keep nor
// updates of other containers. The verdict on the image that results from it finds the pool's lock free.
func TestKeepDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &stuckPods{began: make(chan string, 10), let: make(chan struct{}), result: exitStatus(127)}
		p := NewPool(f)
		var mu sync.Mutex
		var said []string
		p.OnStatus(func(s Status) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, s.Container.ID+" "+string(s.State))
		})
		one := aContainer("c1", "p1")
		p.Keep([]model.ContainerRef{one})
		if pod := <-f.began; pod != "p1" {
			t.Errorf("an exec in %s", pod)
		}
		p.Keep(nil) // the pod is gone
		p.Keep([]model.ContainerRef{aContainer("c2", "p2")})
		if pod := <-f.began; pod != "p2" {
			t.Errorf("an exec in %s", pod)
		}
		one.Syncs = []model.Sync{{LocalPath: "/a", RemotePath: "/b"}} // it was not gone, and begins after the other one
		p.Keep([]model.ContainerRef{one, aContainer("c2", "p2")})
		synctest.Wait()
		if f.most != 2 {
			t.Errorf("%d execs at a time", f.most)
		}
		close(f.let)
		synctest.Wait()
		p.Close()
		if got := strings.Join(said, ", "); strings.Count(got, "c1 starting") != 2 || strings.Count(got, "c1 failed") != 1 {
			t.Errorf("told %s", got)
		}
	})
}

// TestPoolReplacesPods replaces 50 pods over and over during updates: at whatever moment a pod disappears, everything
// ends, containers that are gone are not reported, and those that stay have the last change.
func TestPoolReplacesPods(t *testing.T) {
	const pods, rounds = 50, 12
	f := &fakePods{}
	p := NewPool(f)
	defer p.Close()
	var mu sync.Mutex
	kept := map[string]bool{}
	p.OnStatus(func(s Status) {
		mu.Lock()
		defer mu.Unlock()
		if !kept[s.Container.ID] {
			t.Errorf("told of %s, which is gone: %s", s.Container.ID, s.State)
		}
	})
	local, remotes := filepath.Join(t.TempDir(), "f"), t.TempDir()
	writeFile(t, local, "new", 0o644)
	targets := make([]model.ContainerRef, pods)
	next := func(i, round int) {
		id := fmt.Sprintf("c%d-%d", i, round)
		targets[i] = aContainer(id, "p"+id, model.Sync{LocalPath: filepath.Dir(local), RemotePath: filepath.Join(remotes, id)})
		targets[i].Image = fmt.Sprintf("web:%d", round) // no verdict on it is known yet
	}
	keep := func() {
		mu.Lock()
		for _, x := range targets {
			kept[x.ID] = true
		}
		mu.Unlock()
		p.Keep(targets)
		mu.Lock()
		clear(kept)
		for _, x := range targets {
			kept[x.ID] = true
		}
		mu.Unlock()
	}
	update := func(x model.ContainerRef) error {
		_, err := p.Update(t.Context(), x, liveupdate.Plan{Copies: []liveupdate.Copy{{Local: local, Remote: x.Syncs[0].RemotePath + "/f"}}},
			logstore.Func(func(logstore.Level, string) {}))
		return err
	}
	var all sync.WaitGroup
	for round := range rounds {
		for i := range pods {
			if round == 0 || rand.IntN(3) > 0 {
				next(i, round)
			}
		}
		keep()
		for range 10 {
			x := targets[rand.IntN(pods)]
			all.Go(func() {
				if err := update(x); err != nil && !errors.Is(err, ErrClosed) {
					t.Errorf("update %s: %v", x.ID, err)
				}
			})
		}
	}
	all.Wait()
	keep() // updates begin conversations of their own with containers that are gone
	for _, x := range targets {
		check(t, update(x))
		if b, err := os.ReadFile(x.Syncs[0].RemotePath + "/f"); err != nil || string(b) != "new" {
			t.Errorf("%s has %q, %v", x.ID, b, err)
		}
	}
}
