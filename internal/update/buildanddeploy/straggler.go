package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// patience is how long an update waits for the other containers once the first has the changes, or, if other running
// containers need nothing, for any container: a save in the meantime must not wait for the slowest container.
const patience = 100 * time.Millisecond

// Straggler is the update of one container that is still running after the update of the resource is over.
type Straggler struct {
	Container model.LackingContainer
	*part
	tally *tally
}

// Cancel makes the update end soon.
func (s *Straggler) Cancel() { s.cancel() }

// Wait waits for the end of the update. The error is for liveupdate.Classify; a command whose result differs from that
// in the other containers is a reason for a new image.
func (s *Straggler) Wait() (model.ContainerUpdate, error) {
	<-s.done
	return s.update, s.tally.add(s.Container.Ref, s.err)
}

// part is the update of one container. update and err are valid once done is closed.
type part struct {
	container model.LackingContainer
	cancel    context.CancelFunc
	done      chan struct{}
	update    model.ContainerUpdate
	err       error
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
}

func (f *fanOut) start(ctx context.Context, c model.LackingContainer, update func(context.Context) (model.ContainerUpdate, error)) {
	ctx, cancel := context.WithCancel(ctx)
	j := &part{container: c, cancel: cancel, done: make(chan struct{})}
	f.parts = append(f.parts, j)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				bug.Caught("update "+c.Pod, p)
				j.err = fmt.Errorf("hone made a mistake while updating %s: %v", c.Pod, p)
			}
			cancel()
			close(j.done)
			f.ended <- struct{}{}
		}()
		j.update, j.err = update(ctx)
	}()
}

// wait waits until all have ended, or the first have and patience is over.
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
	for range f.parts {
		select {
		case <-f.ended:
			hurry()
		case <-over:
			return
		}
	}
}

// outcome sums up the results of the containers. An error that another builder may avoid takes precedence; then that
// builder tries all containers, so that none is left behind.
func (f *fanOut) outcome(ctx context.Context) (Result, error) {
	over := slices.DeleteFunc(slices.Clone(f.parts), func(j *part) bool { return !j.over() })
	result, err := f.sum(over)
	if len(over) == len(f.parts) {
		return result, err
	}
	if outcome := liveupdate.Classify(err); ctx.Err() == nil &&
		(outcome == liveupdate.Updated || outcome == liveupdate.UserError || outcome == liveupdate.Blocked) {
		for _, j := range f.parts {
			if !slices.Contains(over, j) {
				u := j.container.UpdateBy("")
				u.Behind = true
				result.Behind = append(result.Behind, &Straggler{Container: j.container, part: j, tally: f.tally})
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
