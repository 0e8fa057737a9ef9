//go:build unix

package process

import (
	"os"
	"time"
)

// The pauses before a dead guard process is replaced: none at first, longer ones if its successors also die soon.
const (
	firstRevival = 50 * time.Millisecond
	lastRevival  = 5 * time.Second
	longLife     = 10 * time.Second
)

// vigil replaces the guard process whenever it dies. It lasts while groups run: without any, the next command starts a
// guard process.
type vigil struct{ stop, done chan struct{} }

// beginVigil starts a vigil that begins its work when the previous one, which may be nil, has ended.
func (g *guard) beginVigil(before *vigil) *vigil {
	v := &vigil{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(v.done)
		if before != nil {
			<-before.done // it must not lose the read deadline that ends it
		}
		g.keep(v)
	}()
	return v
}

// endVigil makes the vigil end, without waiting for it. mu must be held.
func (g *guard) endVigil(v *vigil) {
	close(v.stop)
	if g.death != nil {
		_ = g.death.SetReadDeadline(time.Now())
	}
}

func (v *vigil) over() bool {
	select {
	case <-v.stop:
		return true
	default:
		return false
	}
}

func (g *guard) keep(v *vigil) {
	var pause time.Duration
	for {
		begin := time.Now()
		dead := g.awaitDeath(v)
		if time.Since(begin) > longLife {
			pause = 0
		}
		wait := time.NewTimer(pause)
		select {
		case <-v.stop:
			wait.Stop()
			return
		case <-wait.C:
		}
		pause = min(max(2*pause, firstRevival), lastRevival)
		g.revive(v, dead)
	}
}

// awaitDeath returns when the guard process is dead or the vigil is over. It returns the pipe that it waited on, nil if
// there was no guard process.
func (g *guard) awaitDeath(v *vigil) *os.File {
	g.mu.Lock()
	death := g.death
	if v.over() || death == nil {
		g.mu.Unlock()
		return death
	}
	_ = death.SetReadDeadline(time.Time{})
	g.mu.Unlock()
	_, _ = death.Read(make([]byte, 1)) // nothing is ever written
	return death
}

// revive replaces a dead guard process, unless a command has replaced it meanwhile.
func (g *guard) revive(v *vigil, dead *os.File) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.over() || g.death != dead {
		return
	}
	if g.pipe != nil {
		g.bury()
	}
	_ = g.spawn() // if this fails there is no guard process, and the vigil tries again
}
