package collector

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

const (
	// retry is the pause after a deletion that failed.
	retry = 5 * time.Second
	// atOnce is how many deletions work at a time. One that takes longer than patience no longer counts: it mostly waits.
	atOnce   = 10
	patience = 5 * time.Second
)

// deletions are the deletions that run, at most one per resource. Each has a goroutine of its own, so that one that takes
// long keeps no other from its turn. Only the goroutine of Run calls the methods.
type deletions struct {
	ctx   context.Context
	wg    sync.WaitGroup
	turns chan struct{}
	// ended gets what came of each deletion.
	ended chan deletion

	// running has those that run, each with what ends its wait.
	running map[model.ManifestName]context.CancelFunc
	// notBefore says when those that failed may be tried again.
	notBefore map[model.ManifestName]time.Time
}

// deletion is one that has ended.
type deletion struct {
	resource model.ManifestName
	// entry is the one to let go of, empty where the resource has none.
	entry string
	err   error
}

func newDeletions(ctx context.Context) *deletions {
	return &deletions{ctx: ctx, turns: make(chan struct{}, atOnce), ended: make(chan deletion),
		running: map[model.ManifestName]context.CancelFunc{}, notBefore: map[model.ManifestName]time.Time{}}
}

// start starts a deletion, unless one of this resource runs or has just failed. What still waits when enough ends is left
// alone, and no failure.
func (d *deletions) start(resource model.ManifestName, entry string, del func(ctx, enough context.Context) error) {
	if d.runs(resource) || d.paused(resource) {
		return
	}
	enough, cancel := context.WithCancel(d.ctx)
	d.running[resource] = cancel
	d.wg.Go(func() {
		defer cancel()
		err := d.inTurn(func(ctx context.Context) error { return del(ctx, enough) })
		if enough.Err() != nil && d.ctx.Err() == nil {
			err = nil
		}
		select {
		case d.ended <- deletion{resource, entry, err}:
		case <-d.ctx.Done():
		}
	})
}

// runs reports whether a deletion of this resource runs.
func (d *deletions) runs(resource model.ManifestName) bool { return d.running[resource] != nil }

// enough lets a deletion that runs wait no longer.
func (d *deletions) enough(resource model.ManifestName) {
	if cancel := d.running[resource]; cancel != nil {
		cancel()
	}
}

// inTurn runs del when it is its turn.
func (d *deletions) inTurn(del func(context.Context) error) error {
	select {
	case d.turns <- struct{}{}:
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
	leave := sync.OnceFunc(func() { <-d.turns })
	defer leave()
	defer time.AfterFunc(patience, leave).Stop()
	return del(d.ctx)
}

// paused reports whether a deletion has failed so recently that it has to wait.
func (d *deletions) paused(resource model.ManifestName) bool {
	_, failed := d.notBefore[resource]
	return failed
}

// pause lets a resource wait as after a deletion that failed.
func (d *deletions) pause(resource model.ManifestName) { d.notBefore[resource] = time.Now().Add(retry) }

// pending reports whether a deletion runs, or is to be tried again.
func (d *deletions) pending() bool {
	again := len(d.notBefore)
	if d.paused(sweeping) {
		again--
	}
	return len(d.running)+again > 0
}

// book notes the end of a deletion.
func (d *deletions) book(e deletion) {
	delete(d.running, e.resource)
	delete(d.notBefore, e.resource)
	if e.err != nil {
		d.pause(e.resource)
	}
}

// due forgets the failures that are old enough to be tried again.
func (d *deletions) due() {
	now := time.Now()
	maps.DeleteFunc(d.notBefore, func(_ model.ManifestName, at time.Time) bool { return !at.After(now) })
}

// next returns how long it takes until a deletion that failed may be tried again; ok is false when none waits.
func (d *deletions) next() (pause time.Duration, ok bool) {
	for _, at := range d.notBefore {
		if wait := max(time.Until(at), 0); !ok || wait < pause {
			pause, ok = wait, true
		}
	}
	return pause, ok
}

// wait waits until every deletion has ended.
func (d *deletions) wait() { d.wg.Wait() }
