package collector

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

const (
	// retry is the pause after a deletion that failed.
	retry = 5 * time.Second
	// retryCommandMax bounds the pause after a down command that failed, which doubles each time.
	retryCommandMax = 5 * time.Minute
	// atOnce is the most deletions that run at a time. A deletion that takes longer than patience no longer counts: it mostly
	// waits.
	atOnce   = 10
	patience = 5 * time.Second
)

// deletions are the running deletions, at most one per resource. Each has a goroutine of its own, so that a long deletion
// does not delay the others. Only the goroutine of Run calls the methods.
type deletions struct {
	ctx   context.Context
	wg    sync.WaitGroup
	slots chan struct{}
	// ended receives the result of each deletion.
	ended chan deletion

	// running holds the running deletions, each with the function that ends its wait.
	running map[model.ManifestName]context.CancelFunc
	// notBefore holds the times at which failed deletions may be retried, and commands the failures in a row of each command.
	notBefore map[model.ManifestName]time.Time
	commands  map[model.ManifestName]int
}

// deletion is a deletion that has ended.
type deletion struct {
	resource model.ManifestName
	// entry is the entry to release, empty if the resource has none.
	entry string
	err   error
}

func newDeletions(ctx context.Context) *deletions {
	return &deletions{ctx: ctx, slots: make(chan struct{}, atOnce), ended: make(chan deletion),
		running: map[model.ManifestName]context.CancelFunc{}, notBefore: map[model.ManifestName]time.Time{}, commands: map[model.ManifestName]int{}}
}

// start starts a deletion, unless a deletion of this resource runs or has just failed. A deletion that still waits when
// enough ends is abandoned, which is no failure.
func (d *deletions) start(resource model.ManifestName, entry string, del func(ctx, enough context.Context) error) {
	if d.runs(resource) || d.paused(resource) {
		return
	}
	enough, cancel := context.WithCancel(d.ctx)
	d.running[resource] = cancel
	d.wg.Go(func() {
		defer cancel()
		err := d.inSlot(func(ctx context.Context) error { return del(ctx, enough) })
		if enough.Err() != nil && d.ctx.Err() == nil {
			err = nil
		}
		select {
		case d.ended <- deletion{resource, entry, err}:
		case <-d.ctx.Done():
		}
	})
}

// resources returns the resources of which something is being deleted, in order.
func (d *deletions) resources() []model.ManifestName {
	names := map[model.ManifestName]bool{}
	for key := range d.running {
		if key == pruning {
			continue
		}
		name := string(key)
		for _, prefix := range []string{leftOf, madeBy} {
			name = strings.TrimPrefix(name, prefix)
		}
		names[model.ManifestName(name)] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// runs reports whether a deletion of this resource runs.
func (d *deletions) runs(resource model.ManifestName) bool { return d.running[resource] != nil }

// enough ends the wait of a running deletion.
func (d *deletions) enough(resource model.ManifestName) {
	if cancel := d.running[resource]; cancel != nil {
		cancel()
	}
}

// inSlot runs del as soon as a slot is free.
func (d *deletions) inSlot(del func(context.Context) error) error {
	select {
	case d.slots <- struct{}{}:
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
	leave := sync.OnceFunc(func() { <-d.slots })
	defer leave()
	defer time.AfterFunc(patience, leave).Stop()
	return del(d.ctx)
}

// paused reports whether a deletion has failed so recently that it has to wait.
func (d *deletions) paused(resource model.ManifestName) bool {
	_, failed := d.notBefore[resource]
	return failed
}

// open reports whether a deletion of this resource runs, or will be retried.
func (d *deletions) open(resource model.ManifestName) bool {
	return d.runs(resource) || d.paused(resource)
}

// pause makes a resource wait as after a failed deletion.
func (d *deletions) pause(resource model.ManifestName) { d.notBefore[resource] = time.Now().Add(retry) }

// pending reports whether a deletion runs, or will be retried.
func (d *deletions) pending() bool {
	again := len(d.notBefore)
	for _, look := range []model.ManifestName{sweeping, madeBy} {
		if d.paused(look) {
			again--
		}
	}
	return len(d.running)+again > 0
}

// book records the end of a deletion.
func (d *deletions) book(e deletion) {
	delete(d.running, e.resource)
	delete(d.notBefore, e.resource)
	switch {
	case e.err == nil:
		delete(d.commands, e.resource)
	case errors.As(e.err, new(*commandError)):
		d.notBefore[e.resource] = time.Now().Add(min(retry<<d.commands[e.resource], retryCommandMax))
		d.commands[e.resource] = min(d.commands[e.resource]+1, 10)
	default:
		d.pause(e.resource)
	}
}

// commandError is the failure of a command of the user. It is retried at growing intervals: its other effects are unknown.
type commandError struct{ error }

// Unwrap returns the cause.
func (e *commandError) Unwrap() error { return e.error }

// due drops the failures that are old enough for a retry.
func (d *deletions) due() {
	now := time.Now()
	maps.DeleteFunc(d.notBefore, func(_ model.ManifestName, at time.Time) bool { return !at.After(now) })
}

// next returns the time until a failed deletion may be retried; ok is false when none waits.
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
