package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// How an update brings several containers to the newest saved version. InPlace.BuildAndDeploy makes the lanes on the goroutine of the
// update, one Lane for each container. A version is the set of files that the update began with, or that it has taken in since. A lane sends
// each version on a goroutine of its own, at once: a distant container answers late, and the next version need not wait for that. The
// lane is done when every version that it wants is answered.
//
//	open ──> send version 1 ──answered──┐
//	 Changed ─> absorb, raise: send n ──┴─> has = wanted: done closes, a token to ended
//	        (until the first lane is done)              │
//	                                                    ↓
//	                          wait: after the first token, for waitsForOthers
//	                                                    ↓
//	                          outcome: lanes that are done give the result, the others go on behind the update
//
// Until done is closed, lanes.mu guards the fields of a lane; afterwards they do not change. mu also guards over. The other fields of
// lanes belong to the goroutine of the update: absorb and raise run there, too, called by wait.
//
// outcome leaves a lane behind only if the others have succeeded, failed in a command of the user, or were blocked. Otherwise another
// builder will try all containers: outcome then cancels the lanes and waits for them. The caller of BuildAndDeploy calls Wait for each
// lane that is behind, from any goroutine. tally has a mutex of its own, since it compares the results of these late lanes, too.

// waitsForOthers is the time for which an update waits for the other containers once the first has the changes, or, if other running
// containers need nothing, for any container: a save in the meantime must not wait for the slowest container.
const waitsForOthers = 100 * time.Millisecond

// Lane brings one container to the newest version of an update.
type Lane struct {
	Container model.LackingContainer

	tally  *tally
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	// wanted counts the versions that the lane sends, and has those that are answered. lanes.mu guards these two, Container, and the
	// fields below until done is closed.
	wanted, has int
	update      model.ContainerUpdate
	did         bool // anything
	err         error
}

// Cancel makes the lane end soon.
func (l *Lane) Cancel() { l.cancel() }

// Wait waits until the lane is done. The error is for liveupdate.Classify; a command whose result differs between the containers of an
// image is a reason for a new image.
func (l *Lane) Wait() (model.ContainerUpdate, error) {
	<-l.done
	return l.update, l.tally.add(l.Container.Ref, l.err)
}

func (l *Lane) isDone() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// lanes are the containers of one update.
type lanes struct {
	all   []*Lane
	tally *tally
	ended chan struct{} // has room for one token of each lane
	log   logstore.Logger
	// absorb takes in the files that have changed since; nil if nothing can be taken in. until and added describe the files that were
	// taken in, absorbed is the number of versions that they made, and newest the time at which the newest version began.
	absorb   func()
	until    time.Time
	added    []string
	absorbed int
	newest   time.Time

	mu sync.Mutex
	// over is set once a lane is done: from then on nothing is taken in. It is guarded by mu.
	over bool
}

const (
	// mostAbsorbed is the most versions that an update takes in: it has to end when someone saves without a pause.
	mostAbsorbed = 100
	// absorbEvery is the time between two versions. A hundred files are noticed one by one; a version for each costs more than it
	// saves: 25 of them delayed those who wrote the files by 40 ms, on two cores.
	absorbEvery = 5 * time.Millisecond
)

func newLanes(req Request) *lanes {
	return &lanes{tally: newTally(req.Peers), ended: make(chan struct{}, len(req.Containers)), log: req.Log, newest: time.Now()}
}

// send brings one version to one container. did is false if there was nothing to do.
type send func(context.Context) (u model.ContainerUpdate, did bool, err error)

// open makes the lane of a container, and sends the first version.
func (s *lanes) open(ctx context.Context, c model.LackingContainer, first send) {
	l := &Lane{Container: c, tally: s.tally, done: make(chan struct{}), wanted: 1}
	l.ctx, l.cancel = context.WithCancel(ctx)
	s.all = append(s.all, l)
	s.run(l, first)
}

// run sends a version that l counts as wanted already.
func (s *lanes) run(l *Lane, version send) {
	go func() {
		var u model.ContainerUpdate
		var did bool
		var err error
		defer func() {
			if p := recover(); p != nil {
				bug.Caught("update "+l.Container.Pod, p)
				err = fmt.Errorf("hone made a mistake while updating %s: %v", l.Container.Pod, p)
			}
			s.answered(l, u, did, err)
		}()
		u, did, err = version(l.ctx)
	}()
}

// answered notes that a container has a version, or why it does not.
func (s *lanes) answered(l *Lane, u model.ContainerUpdate, did bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.Files, u.Deletes, u.Same, u.Bytes = u.Files+l.update.Files, u.Deletes+l.update.Deletes, u.Same+l.update.Same, u.Bytes+l.update.Bytes
	l.update, l.did = u, l.did || did // u has the stages of the newest
	if l.err == nil {
		l.err = err
	}
	if l.has++; l.has < l.wanted {
		return
	}
	s.over = true
	if l.err == nil && l.did {
		logstore.Debugf(s.log, "→ Container %s updated! %s", shortID(l.Container.ContainerRef), u)
	}
	l.cancel()
	close(l.done)
	s.ended <- struct{}{}
}

// raise makes changes the version that all lanes want, unless one is done already. version returns how to send it to a container, by
// the container's index in the changes.
func (s *lanes) raise(a *AbsorbedChanges, version func(i int) send) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	for i, c := range a.Containers {
		l := s.all[slices.IndexFunc(s.all, func(l *Lane) bool { return l.Container.ID == c.ID })]
		l.wanted++
		l.Container.Files = slices.Concat(l.Container.Files, c.Files)
		s.run(l, version(i))
	}
	s.until, s.added, s.newest = a.Until, append(s.added, a.Files...), time.Now()
	s.absorbed++
	a.Taken()
}

// wait waits until all lanes are done, or one is and waitsForOthers is over. Until one is done, the update takes in later files.
func (s *lanes) wait(req Request) {
	var over <-chan time.Time
	hurry := func() {
		if over == nil && !req.Waits {
			over = time.After(waitsForOthers)
		}
	}
	if req.Others {
		hurry()
	}
	changed := req.Changed
	if s.absorb == nil {
		changed = nil
	}
	var due <-chan time.Time
	for left := len(s.all); left > 0; {
		select {
		case <-s.ended:
			left--
			hurry()
		case <-over:
			return
		case <-changed:
			if due == nil {
				due = time.After(absorbEvery - time.Since(s.newest))
			}
		case <-due:
			due = nil
			if s.absorb(); s.absorbed == mostAbsorbed {
				changed = nil
			}
		}
	}
}

// outcome sums up the results of the lanes. An error that another builder may avoid takes precedence; then that builder tries all
// containers, so that none is left behind.
func (s *lanes) outcome(ctx context.Context) (Result, error) {
	var done, late []*Lane
	for _, l := range s.all {
		if l.isDone() {
			done = append(done, l)
		} else {
			late = append(late, l)
		}
	}
	result, err := sum(done)
	result.Until, result.Added = s.until, s.added
	switch {
	case len(late) == 0:
		return result, err
	case ctx.Err() == nil && mayStayBehind(err):
		for _, l := range late {
			u := l.Container.UpdateBy("")
			u.Behind = true
			result.Containers = append(result.Containers, u)
		}
		result.Behind = late
		return result, err
	}
	for _, l := range late {
		l.cancel()
		<-l.done
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	return result, err
}

// mayStayBehind reports whether lanes may go on after an update that has ended so: no other builder is going to try their containers.
func mayStayBehind(err error) bool {
	return slices.Contains([]liveupdate.Outcome{liveupdate.Updated, liveupdate.UserError, liveupdate.Blocked}, liveupdate.Classify(err))
}

// sum sums up the results of lanes that are done.
func sum(lanes []*Lane) (result Result, err error) {
	var failed, blocked, differ, broken error
	for _, l := range lanes {
		e := l.tally.add(l.Container.Ref, l.err)
		if e != nil {
			l.update.Err = e.Error()
		}
		result.Containers = append(result.Containers, l.update)
		switch liveupdate.Classify(e) {
		case liveupdate.Updated:
		case liveupdate.UserError:
			failed = e
		case liveupdate.Blocked:
			blocked = e
			continue
		default:
			if !errors.As(e, new(*inconsistent)) {
				broken = e
				continue
			}
			differ = e
		}
		result.Synced = append(result.Synced, l.Container.ID)
	}
	for _, e := range []error{broken, differ, blocked, failed} {
		if e != nil {
			return result, e
		}
	}
	return result, nil
}
