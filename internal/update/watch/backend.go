package watch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// backend reports events in folders. It need not be exact: an event is only a reason to look at a path.
type backend interface {
	// Add starts watching the entries of the folder dir, but not of its subfolders, following dir itself if it is a link and link is
	// set. fresh is false if the same folder was already watched under that name. The errors are the system's, with errNoWatches or
	// errNoInstance in the chain if a limit is reached.
	Add(dir string, link bool) (fresh bool, err error)
	// AddSelf watches only for the move or removal of the folder itself, where the system can distinguish that;
	// elsewhere it does nothing. Add turns this into a full watch, which only Remove ends.
	AddSelf(dir string)
	// Remove stops watching dir, if it is watched.
	Remove(dir string)
	// Run passes notices to put until ctx ends, then releases everything that the back end holds. put never blocks.
	Run(ctx context.Context, put func([]notice)) error
	// SeesClose reports whether the back end notices when a written file is closed.
	SeesClose() bool
	// Mark makes Run pass on a notice with the mark after the notices of everything that has happened so far. It fails
	// with errors.ErrUnsupported where the system does not order the events of different folders.
	Mark(m *mark) error
}

var (
	errNoWatches  = errors.New("no more watches")
	errNoInstance = errors.New("no more watchers")
)

// op is the kind of an event.
type op uint8

const (
	// opCreated: the name appeared, and is perhaps being written.
	opCreated op = iota
	// opWritten: the file was written, and is perhaps being written still.
	opWritten
	// opClosed: the file was written and closed.
	opClosed
	// opMovedIn: the name appeared by a rename, complete.
	opMovedIn
	// opGone: the name was removed or renamed to another.
	opGone
	// opAttrib: metadata changed.
	opAttrib
	// opSelf: the watched folder itself was removed or moved, or may have been.
	opSelf
	// opOverflow: events were lost.
	opOverflow
	// opMark: all notices before it are about changes that were made before the mark was set.
	opMark
)

// notice is one event. path is the path of the name, the folder for opSelf, and empty for opOverflow and opMark.
type notice struct {
	path string
	op   op
	dir  bool  // the name is known to be a folder
	mark *mark // for opMark
}

// inbox takes notices without ever blocking the back end: some systems can do nothing else, not even add a watch, while
// events are waiting.
type inbox struct {
	mu      sync.Mutex
	notices []notice      // guarded by mu
	at      time.Time     // guarded by mu; when the last of them came
	wake    chan struct{} // holds one token when notices is not empty
}

// maxInbox is the largest number of waiting notices; beyond it, comparing everything once is cheaper.
const maxInbox = 1 << 17

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

func (b *inbox) put(ns []notice) {
	b.mu.Lock()
	if len(b.notices)+len(ns) > maxInbox {
		marks := marksOf(slices.Concat(b.notices, ns))
		b.notices, ns = nil, append([]notice{{op: opOverflow}}, marks...)
	}
	b.notices = append(b.notices, ns...)
	b.at = time.Now()
	b.mu.Unlock()
	poke(b.wake)
}

// take returns all waiting notices and the time at which the last of them came.
func (b *inbox) take() ([]notice, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ns := b.notices
	b.notices = nil
	return ns, b.at
}

// poke leaves a token in a channel that holds one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
