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

// How several containers are updated at once. InPlace.BuildAndDeploy makes a fanOut on the goroutine of the update, starts one part
// for each container, and calls wait and outcome. Each part runs its work on goroutines: one for the update, and one for each
// addition.
//
//	start ──> part runs ──────> end closes done, sends a token to ended
//	             ↑                             │
//	Changed ─> grow, add                        ↓
//	        (until the first part ends)    wait: after the first token, wait patience for the others
//	                                           ↓
//	                                       outcome: parts that are done give the result, others become lagging
//
// Until done is closed, fanOut.mu guards the fields of a part; afterwards they do not change. mu also guards over. The other fields
// of fanOut belong to the goroutine of the update: grow and add run there, too, called by wait.
//
// outcome leaves a running part behind only if the others have succeeded, failed in a command of the user, or were blocked.
// Otherwise another builder will try all containers: outcome then cancels the running parts and waits for them. The caller of
// BuildAndDeploy calls Wait for each LaggingContainer, from any goroutine. tally has a mutex of its own, since it compares the results of
// these late parts, too.

// patience is the time for which an update waits for the other containers once the first has the changes, or, if other running
// containers need nothing, for any container: a save in the meantime must not wait for the slowest container.
const patience = 100 * time.Millisecond

// LaggingContainer is the update of one container that is still running after the update of the resource is over.
type LaggingContainer struct {
	Container model.LackingContainer
	*part
	tally *tally
}

// Cancel makes the update end soon.
func (s *LaggingContainer) Cancel() { s.cancel() }

// Wait waits for the end of the update. The error is for liveupdate.Classify; a command whose result differs between the containers
// of an image is a reason for a new image.
func (s *LaggingContainer) Wait() (model.ContainerUpdate, error) {
	<-s.done
	return s.update, s.tally.add(s.Container.Ref, s.err)
}

// part is the update of one container. container, update and err are valid once done is closed.
type part struct {
	container model.LackingContainer
	ctx       context.Context
	cancel    context.CancelFunc
	done      chan struct{}
	update    model.ContainerUpdate
	did       bool // anything
	err       error
	// left counts the goroutines that run: the update, and its additions. The mutex of fanOut guards it, and the fields above until
	// done is closed.
	left int
}

func (j *part) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// fanOut updates several containers at once.
type fanOut struct {
	parts []*part
	tally *tally
	ended chan struct{} // has room for one token of each part
	log   logstore.Logger
	// grow takes in the files that have changed since; nil if nothing can be taken in. until and added describe the files that were
	// taken in, additional is the number of additions, and newest the time at which the newest one began, or the update.
	grow       func()
	until      time.Time
	added      []string
	additional int
	newest     time.Time

	mu sync.Mutex
	// over is set once a container has everything: from then on nothing is taken in. It is guarded by mu.
	over bool
}

const (
	// mostParts is the most additions that an update takes in: it has to end when someone saves without a pause.
	mostParts = 100
	// growsEvery is the time between two additions. A hundred files are noticed one by one; an addition for each costs more than it
	// saves: 25 of them delayed those who wrote the files by 40 ms, on two cores.
	growsEvery = 5 * time.Millisecond
)

func newFanOut(req Request) *fanOut {
	return &fanOut{tally: newTally(req.Peers), ended: make(chan struct{}, len(req.Containers)), log: req.Log, newest: time.Now()}
}

// work updates one container. did is false if there was nothing to do.
type work func(context.Context) (u model.ContainerUpdate, did bool, err error)

func (f *fanOut) start(ctx context.Context, c model.LackingContainer, update work) {
	j := &part{container: c, done: make(chan struct{}), left: 1}
	j.ctx, j.cancel = context.WithCancel(ctx)
	f.parts = append(f.parts, j)
	f.run(j, update)
}

// run runs an update that j counts already.
func (f *fanOut) run(j *part, update work) {
	go func() {
		var u model.ContainerUpdate
		var did bool
		var err error
		defer func() {
			if p := recover(); p != nil {
				bug.Caught("update "+j.container.Pod, p)
				err = fmt.Errorf("hone made a mistake while updating %s: %v", j.container.Pod, p)
			}
			f.end(j, u, did, err)
		}()
		u, did, err = update(j.ctx)
	}()
}

// end notes the end of an update.
func (f *fanOut) end(j *part, u model.ContainerUpdate, did bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u.Files, u.Deletes, u.Same, u.Bytes = u.Files+j.update.Files, u.Deletes+j.update.Deletes, u.Same+j.update.Same, u.Bytes+j.update.Bytes
	j.update, j.did = u, j.did || did // u has the stages of the newest
	if j.err == nil {
		j.err = err
	}
	if j.left--; j.left > 0 {
		return
	}
	f.over = true
	if j.err == nil && j.did {
		logstore.Debugf(f.log, "→ Container %s updated! %s", shortID(j.container.ContainerRef), u)
	}
	j.cancel()
	close(j.done)
	f.ended <- struct{}{}
}

// add takes in an addition, unless a container has everything already. update returns the work for a container, by its index in the
// addition.
func (f *fanOut) add(a *AbsorbedChanges, update func(i int) work) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	for i, c := range a.Containers {
		at := slices.IndexFunc(f.parts, func(j *part) bool { return j.container.ID == c.ID })
		j := f.parts[at]
		j.left++
		j.container.Files = slices.Concat(j.container.Files, c.Files)
		f.run(j, update(i))
	}
	f.until, f.added, f.newest = a.Until, append(f.added, a.Files...), time.Now()
	f.additional++
	a.Taken()
}

// wait waits until all have ended, or the first have and patience is over. Until the first has, the update can grow.
func (f *fanOut) wait(req Request) {
	var over <-chan time.Time
	hurry := func() {
		if over == nil && !req.Waits {
			over = time.After(patience)
		}
	}
	if req.Others {
		hurry()
	}
	changed := req.Changed
	if f.grow == nil {
		changed = nil
	}
	var due <-chan time.Time
	for left := len(f.parts); left > 0; {
		select {
		case <-f.ended:
			left--
			hurry()
		case <-over:
			return
		case <-changed:
			if due == nil {
				due = time.After(growsEvery - time.Since(f.newest))
			}
		case <-due:
			due = nil
			if f.grow(); f.additional == mostParts {
				changed = nil
			}
		}
	}
}

// outcome sums up the results of the containers. An error that another builder may avoid takes precedence; then that
// builder tries all containers, so that none is left behind.
func (f *fanOut) outcome(ctx context.Context) (Result, error) {
	over := slices.DeleteFunc(slices.Clone(f.parts), func(j *part) bool { return !j.over() })
	result, err := f.sum(over)
	result.Until, result.Added = f.until, f.added
	if len(over) == len(f.parts) {
		return result, err
	}
	if outcome := liveupdate.Classify(err); ctx.Err() == nil &&
		(outcome == liveupdate.Updated || outcome == liveupdate.UserError || outcome == liveupdate.Blocked) {
		for _, j := range f.parts {
			if !slices.Contains(over, j) {
				u := j.container.UpdateBy("")
				u.Behind = true
				result.Behind = append(result.Behind, &LaggingContainer{Container: j.container, part: j, tally: f.tally})
				result.Containers = append(result.Containers, u)
			}
		}
		return result, err
	}
	for _, j := range f.parts {
		if !slices.Contains(over, j) {
			j.cancel()
			<-j.done
		}
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	return result, err
}

func (f *fanOut) sum(over []*part) (result Result, err error) {
	var failed, blocked, differ, broken error
	for _, j := range over {
		e := f.tally.add(j.container.Ref, j.err)
		if e != nil {
			j.update.Err = e.Error()
		}
		result.Containers = append(result.Containers, j.update)
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
		result.Synced = append(result.Synced, j.container.ID)
	}
	for _, e := range []error{broken, differ, blocked, failed} {
		if e != nil {
			return result, e
		}
	}
	return result, nil
}

// inconsistent means that the containers of an image differ: the user's command or program worked in only some of them.
type inconsistent struct{ *liveupdate.FallBackError }

// Unwrap makes it a reason for a new image.
func (e *inconsistent) Unwrap() error { return e.FallBackError }

// tally counts, by image, where the user's commands and programs worked and where they failed: containers of different
// images need not agree. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	worked map[string]int   // guarded by mu
	failed map[string]error // guarded by mu
}

func newTally(peers map[string]int) *tally {
	t := &tally{worked: map[string]int{}, failed: map[string]error{}}
	for image, n := range peers {
		t.worked[image] = n
	}
	return t
}

// add counts the end of one container's update and returns its error in view of the other containers.
func (t *tally) add(image string, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case liveupdate.IsUserError(err):
		t.failed[image] = err
	case err != nil:
		return err
	default:
		t.worked[image]++
	}
	if n, failed := t.worked[image], t.failed[image]; n > 0 && failed != nil {
		return &inconsistent{&liveupdate.FallBackError{
			Reason: fmt.Sprintf("the pods are inconsistent now: the update worked in %d, but failed in another: %v", n, failed)}}
	}
	return err
}
