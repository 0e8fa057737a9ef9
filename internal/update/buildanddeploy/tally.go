package buildanddeploy

import (
	"fmt"
	"sync"

	"github.com/hone-dev/hone/internal/update/liveupdate"
)

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
