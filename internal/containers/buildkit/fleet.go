package buildkit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/containers/docker"
)

const (
	// homeTime is the time for which an image waits for its home, from the moment that the home is first missed: a pod is found again, or replaced,
	// within it. Afterwards, the next daemon builds.
	homeTime = docker.AnswerTimeout
	// askTime is the time for an answer of a daemon that has been missed for longer.
	askTime = docker.AnswerTimeout / 10
	// askPause is the pause between two questions.
	askPause = docker.AnswerTimeout / 50
)

// Fleet is a builder that has one daemon or several, which are alike. Each image is built where its cache is. It may be used by several goroutines.
type Fleet struct {
	at  Address
	all []*daemon
}

// daemon is a member of a fleet.
type daemon struct {
	*Builder

	mu     sync.Mutex
	missed time.Time // when it was first asked in vain; zero if it has answered since; guarded by mu
}

// newFleet returns the fleet of some daemons. at is the address of the whole.
func newFleet(at Address, all ...*Builder) *Fleet {
	f := &Fleet{at: at}
	for _, b := range all {
		f.all = append(f.all, &daemon{Builder: b})
	}
	return f
}

// alone returns the only daemon; nil if there are several.
func (f *Fleet) alone() *Builder {
	if len(f.all) == 1 {
		return f.all[0].Builder
	}
	return nil
}

// String names the builder for people.
func (f *Fleet) String() string { return f.at.String() }

// Describe is String with the way in which the daemon runs, where hone runs it, or with the number of daemons.
func (f *Fleet) Describe() string {
	if b := f.alone(); b != nil {
		return b.Describe()
	}
	return fmt.Sprintf("%s, %d pods", f, len(f.all))
}

// OnThisMachine reports whether the daemons share the network of this machine.
func (f *Fleet) OnThisMachine() bool { return f.all[0].OnThisMachine() }

// InCluster reports whether the daemons run in pods of the session's cluster.
func (f *Fleet) InCluster() bool { return f.all[0].InCluster() }

// Close closes the connections.
func (f *Fleet) Close() error {
	var errs []error
	for _, d := range f.all {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// Alive returns nil when a daemon answers, or a problem that satisfies docker.IsUnreachable.
func (f *Fleet) Alive(ctx context.Context) error {
	_, err := f.Ping(ctx)
	return err
}

// Ping asks all daemons, and returns the first answer. The error satisfies docker.IsUnreachable if none answers in time.
func (f *Fleet) Ping(ctx context.Context) (docker.Info, error) {
	if b := f.alone(); b != nil {
		return b.Ping(ctx)
	}
	asks, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		info docker.Info
		err  error
	}
	answers := make([]answer, len(f.all))
	var first sync.Once
	found := -1
	var asking sync.WaitGroup
	for i, d := range f.all {
		asking.Go(func() {
			answers[i].info, answers[i].err = d.Ping(asks)
			if answers[i].err == nil {
				first.Do(func() { found = i; cancel() })
			}
		})
	}
	asking.Wait()
	switch {
	case found >= 0:
		return answers[found].info, nil
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled):
		return docker.Info{}, ctx.Err()
	}
	for _, a := range answers { // the others may never come
		if docker.IsStarting(a.err) {
			return docker.Info{}, a.err
		}
	}
	return docker.Info{}, answers[0].err
}

// Build builds an image as docker.Client does: at its home, and where that is missing at the next daemon that answers. When a daemon goes in the
// middle of the build, another one builds, once.
func (f *Fleet) Build(ctx context.Context, req docker.BuildRequest) (id string, err error) {
	if b := f.alone(); b != nil {
		return b.Build(ctx, req)
	}
	if req.Log == nil {
		req.Log = logstore.Discard
	}
	var order []*daemon
	for _, i := range homes(req.Image, len(f.all)) {
		order = append(order, f.all[i])
	}
	d, err := choose(ctx, order, req.Log)
	if err != nil {
		return "", err
	}
	id, err = d.Build(ctx, req)
	if ctx.Err() != nil || !docker.IsUnreachable(err) {
		return id, err
	}
	logstore.Infof(req.Log, "%s", problem.Text(err))
	d.miss()
	var others []*daemon
	for _, other := range order {
		if other != d {
			others = append(others, other)
		}
	}
	next, none := choose(ctx, others, req.Log)
	if none != nil {
		return "", err
	}
	return next.Build(ctx, req)
}

// choose returns the first daemon in an order that answers. Without one, the error is the one of the first.
func choose(ctx context.Context, order []*daemon, log logstore.Logger) (*daemon, error) {
	var first error
	for _, d := range order {
		err := d.answers(ctx)
		switch {
		case err == nil:
			logstore.Infof(log, "Building at %s", d.Describe())
			return d, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case first == nil:
			first = err
		}
		logstore.Debugf(log, "%v", err)
	}
	return nil, first
}

// answers returns nil once the daemon answers. One that has been missed for some time gets less.
func (d *daemon) answers(ctx context.Context) error {
	asks, cancel := context.WithTimeout(ctx, max(askTime, homeTime-d.miss()))
	defer cancel()
	for {
		d.conn.ResetConnectBackoff() // the pause between two attempts may be longer than the time that is left
		_, err := d.Ping(asks)
		if err == nil {
			d.mu.Lock()
			d.missed = time.Time{}
			d.mu.Unlock()
			return nil
		}
		if !retry.Sleep(asks, askPause) {
			return err
		}
	}
}

// miss notes that the daemon may not answer, and returns for how long it has been missed.
func (d *daemon) miss() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.missed.IsZero() {
		d.missed = time.Now()
	}
	return time.Since(d.missed)
}
