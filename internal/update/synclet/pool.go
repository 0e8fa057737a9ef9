package synclet

import (
	"context"
	"errors"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/base/workers"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// How conversations are kept. Keep names the containers that have to be ready. Each of them is an entry; workers runs a goroutine
// for each entry (keep), which opens the container's conversation and opens it again when it has ended:
//
//	Starting ──open──> Ready ──the conversation ends──> Broken ──pause──> Starting
//	   ├─a temporary error──────> Broken ──pause──> Starting
//	   ├─forbidden──────────────> Failed ──rightPause──> Starting
//	   └─impossible─────────────> Failed, until the container is gone
//
// An update asks for the conversation with Conversation, and may be the first to name a container. It waits until set closes the
// entry's changed, and ends a pause of the entry's goroutine through hurry. When Keep no longer names a container, or names another
// run of it, the entry's gone is closed; a new entry of the same container begins when the goroutine of the old one has ended.
//
// Pool.mu guards the pool's maps, and entry.mu the fields of an entry; Pool.mu is taken first. told is called with entry.mu held, and
// by Keep with both held.

// Status is the status of the synclet of one container.
type Status struct {
	Container model.ContainerRef
	State     State
	// Way is the way in which the program got in; empty until it is known.
	Way Way
	// Err is why it did not get in, or why the conversation broke off.
	Err error
	// Passed is why the ways tried before Way did not work; nil if there are none.
	Passed error
	// Process is the container's process if the synclet supervises it, as last reported.
	Process protocol.Process
}

// State of a synclet.
type State string

// The states. A failed synclet is not tried again if the image does not let the program in, and is tried again at long
// intervals if that is not allowed.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Broken   State = "broken"
	Failed   State = "failed"
)

// Pool keeps a conversation open with every container that it has to keep ready. Make it with NewPool and end it with
// Close. Its methods may be called from any goroutine.
type Pool struct {
	pods   liveupdate.PodExecer
	told   func(Status)
	beside Beside  // nil where no container may be added to pods
	id     string  // distinguishes its synclets from the synclets of other pools
	copies *copies // contents of containers, for all conversations

	workers *workers.Set[string, *entry] // run the entries' conversations, by container id

	mu         sync.Mutex
	closed     bool
	homes      map[string]Home
	entries    map[string]*entry     // by container id
	stale      map[string]bool       // by container id: its process has not been restarted since files were sent
	unanswered map[string]unanswered // by container id
	verdicts   map[string]verdict    // by image
	lockedOut  map[string]bool       // by reference of the Tiltfile
}

// verdict is the experience with an image: which of ownWays works, if any, and why the others do not.
type verdict struct {
	way     Way
	reasons []error
}

// NewPool returns a pool that reaches containers through pods.
func NewPool(pods liveupdate.PodExecer) *Pool {
	p := &Pool{pods: pods, told: func(Status) {}, id: uuid.NewString(), copies: newCopies(), entries: map[string]*entry{},
		stale: map[string]bool{}, unanswered: map[string]unanswered{}, verdicts: map[string]verdict{}, lockedOut: map[string]bool{}}
	// A container's next conversation begins after the previous one has ended: the program that starts last ends the
	// others.
	same := func(a, b *entry) bool { return a == b }
	p.workers = workers.NewSet(context.Background(), same, func(ctx context.Context, _ string, e *entry) { p.keep(ctx, e) })
	return p
}

// OnStatus sets a function that receives every change of a status. It is called from the pool's goroutines and from
// Keep, under locks of the pool: it must neither block nor call the pool. Set it before the first Keep.
func (p *Pool) OnStatus(fn func(Status)) { p.told = fn }

// Beside lets the pool add its own containers to pods. Set it before the first Keep.
func (p *Pool) Beside(b Beside) { p.beside = b }

// SetHomes sets where the containers run, by cluster, as in model.K8sTarget, for the image of the containers that the pool adds to pods.
// The map must not be changed afterwards.
func (p *Pool) SetHomes(h map[string]Home) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.homes = h
}

func (p *Pool) home(c model.ContainerRef) Home {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.homes[c.Cluster]
}

// LockedOut reports whether the program could be brought neither by shell nor by tar into a container of an image, which is named
// by the Tiltfile's reference.
func (p *Pool) LockedOut(ref string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lockedOut[ref]
}

// entry is one container.
type entry struct {
	gone chan struct{} // closed when the pool has dropped it

	mu           sync.Mutex
	kept         bool               // Keep has named it, so that it is reported
	dropped      bool               // it is no longer reported
	ref          model.ContainerRef // only its resource may change
	last         Status             // the last status reported
	conversation *Conversation      // nil while there is none
	err          error              // why there is no conversation, or will be none; nil while one is being opened
	run          uint64             // the run of the container that the first conversation was with; 0 before
	passing      bool               // err is temporary: opening is retried, at once when an update waits for it
	hurry        chan struct{}
	changed      chan struct{} // closed at the next change
}

// Keep makes the given containers, and no others, ready for updates. It does not wait for conversations to begin or end;
// once it has returned, other containers are no longer reported.
func (p *Pool) Keep(containers []model.ContainerRef) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	wanted := map[string]model.ContainerRef{}
	for _, c := range containers {
		wanted[c.ID] = c
	}
	for id, e := range p.entries {
		if c, ok := wanted[id]; ok && same(c, e.container()) {
			p.adopt(e, c.Resource)
			continue
		}
		delete(p.entries, id)
		e.drop()
	}
	for id := range p.stale {
		if _, ok := wanted[id]; !ok {
			delete(p.stale, id)
		}
	}
	maps.DeleteFunc(p.unanswered, func(id string, _ unanswered) bool { _, ok := wanted[id]; return !ok })
	for id, c := range wanted {
		if p.entries[id] == nil {
			p.entries[id] = newEntry(c, true)
		}
	}
	p.workers.Want(p.entries)
}

// newEntry returns an entry that has no conversation yet. Its status is reported only if it is kept.
func newEntry(c model.ContainerRef, kept bool) *entry {
	return &entry{ref: c, kept: kept, gone: make(chan struct{}), changed: make(chan struct{}), hurry: make(chan struct{}, 1)}
}

func (p *Pool) setStale(id string, stale bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stale {
		p.stale[id] = true
	} else {
		delete(p.stale, id)
	}
}

func (p *Pool) isStale(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stale[id]
}

// Close ends all conversations and waits for their goroutines.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	entries := p.entries
	p.entries = nil
	p.mu.Unlock()
	for _, e := range entries {
		e.drop()
	}
	p.workers.Stop()
	p.copies.close()
}

// The waits between attempts, doubling. An update that needs the conversation ends the wait: when a connection is back, the
// containers that are needed come first, and not all at once.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 2 * time.Second
)

// rightPause is the wait before a forbidden action is tried again: rights are granted by hand.
const rightPause = 20 * time.Second

// keep maintains a conversation with one container until ctx is done or the image turns out not to let the program in.
func (p *Pool) keep(ctx context.Context, e *entry) {
	pauses := retry.Backoff{First: firstPause, Most: lastPause}
	var last Way
	for ctx.Err() == nil {
		e.set(nil, nil, false)
		p.tell(e, func(st *Status) { st.State = Starting })
		began := time.Now()
		s, way, passed, err := p.open(ctx, e.container(), last)
		if err == nil && !e.isSame(s) {
			_ = s.Close()
			s, err = nil, errRestarted
		}
		switch {
		case ctx.Err() != nil:
			if s != nil {
				_ = s.Close()
			}
			return
		case errors.As(err, new(*impossible)):
			e.set(nil, err, false)
			p.tell(e, func(st *Status) { st.State, st.Err = Failed, err })
			<-ctx.Done()
			return
		case k8s.IsForbidden(err):
			err = forbidden(err)
			e.set(nil, err, false)
			p.tell(e, func(st *Status) { st.State, st.Err = Failed, err })
			if !e.rest(ctx, rightPause) {
				return
			}
			continue
		case err != nil:
			e.set(nil, err, true)
			p.tell(e, func(st *Status) { st.State, st.Err = Broken, err })
		default:
			last = way
			e.set(s, nil, false)
			p.tell(e, func(st *Status) { st.State, st.Way, st.Passed = Ready, way, passed })
			s.OnProcess(func(process protocol.Process) {
				p.tell(e, func(st *Status) { st.State, st.Way, st.Passed, st.Process = Ready, way, passed, process })
			})
			select {
			case <-s.Done():
			case <-ctx.Done():
			}
			e.set(nil, nil, false)
			_ = s.Close()
			if ctx.Err() != nil {
				return
			}
			e.set(nil, errBroken, true)
			p.tell(e, func(st *Status) { st.State, st.Way, st.Err = Broken, way, s.end() })
			if time.Since(began) > lastPause {
				pauses.Reset()
			}
		}
		if !e.rest(ctx, pauses.Next()) {
			return
		}
	}
}

// rest waits for d or until an update is in a hurry, and returns false if ctx is done first.
func (e *entry) rest(ctx context.Context, d time.Duration) bool {
	return retry.SleepOr(ctx, d, e.hurry)
}

// tell reports the status of an entry's container, if the entry is kept.
func (p *Pool) tell(e *entry, change func(*Status)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	status := Status{Container: e.ref, Process: e.last.Process} // a broken conversation does not change the process
	change(&status)
	e.last = status
	if e.kept && !e.dropped {
		p.told(status)
	}
}

// isSame reports whether a conversation is with the run of the container that the first one was with. A container is reached by its
// name: until the cluster reports that a container has been restarted, the name already leads to the next run, which lacks the files.
func (e *entry) isSame(s *Conversation) bool {
	run := s.Hello().Run
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run == 0 {
		e.run = run
	}
	return e.run == run
}

// drop ends the reports about an entry that the pool no longer keeps.
func (e *entry) drop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped = true
	close(e.gone)
}

// container returns the container, with the resource that it belongs to now.
func (e *entry) container() model.ContainerRef {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ref
}

// adopt keeps a container that an update reached first, or that belongs to another resource now, and reports its status.
func (p *Pool) adopt(e *entry, resource model.ManifestName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kept && e.ref.Resource == resource {
		return
	}
	e.kept, e.ref.Resource, e.last.Container.Resource = true, resource, resource
	if e.last.State != "" {
		p.told(e.last)
	}
}

// set notes the conversation, or why there is none; passing means that the reason is temporary. All three change at
// once: an update that saw the reason without passing would take it as final.
func (e *entry) set(s *Conversation, err error, passing bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conversation, e.err, e.passing = s, err, passing
	close(e.changed)
	e.changed = make(chan struct{})
}

// Conversation returns the conversation with a container, and waits for it while it is being opened. A temporary failure is
// retried once, immediately. A container that was not kept ready is made ready now.
func (p *Pool) Conversation(ctx context.Context, c model.ContainerRef) (*Conversation, error) {
	return p.after(ctx, c, nil)
}

// after is like Conversation, but does not return the conversation ended. If Keep has started over with the container
// meanwhile, the new conversation counts.
func (p *Pool) after(ctx context.Context, c model.ContainerRef, ended *Conversation) (*Conversation, error) {
	for {
		s, err := p.once(ctx, c, ended)
		if !errors.Is(err, errReplaced) {
			return s, err
		}
	}
}

var (
	// errBroken means that a conversation has broken off, and that nothing has been tried since.
	errBroken = errors.New("the conversation has broken off")
	// errRestarted means that the name of a container leads to its next run already.
	errRestarted = errors.New("the container has been restarted")
)

// errReplaced means that Keep removed an entry.
var errReplaced = errors.New("the conversation was started over")

func (p *Pool) once(ctx context.Context, c model.ContainerRef, ended *Conversation) (*Conversation, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	e := p.entries[c.ID]
	if e == nil {
		e = newEntry(c, false)
		p.entries[c.ID] = e
		p.workers.Want(p.entries)
	}
	p.mu.Unlock()
	for hurried := false; ; {
		e.mu.Lock()
		s, err, passing, changed := e.conversation, e.err, e.passing, e.changed
		e.mu.Unlock()
		if err != nil && !errors.Is(err, errBroken) && (!passing || hurried) || s != nil && s != ended {
			return s, err
		}
		if err != nil {
			hurried = !errors.Is(err, errBroken)
			select {
			case e.hurry <- struct{}{}:
			default:
			}
		}
		select {
		case <-changed:
		case <-e.gone:
			return nil, errReplaced
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// impossible means that no way leads into containers of an image.
type impossible struct{ reasons []error }

// Error lists the failure of each way.
func (e *impossible) Error() string {
	return "the synclet cannot get into the container: " + inOneLine(e.reasons)
}

func inOneLine(reasons []error) string {
	texts := make([]string, len(reasons))
	for i, r := range reasons {
		texts[i] = r.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the reasons.
func (e *impossible) Unwrap() []error { return e.reasons }

// client names the pool to the synclet in a container, so that the synclet ends those that the pool has abandoned.
func (p *Pool) client(c model.ContainerRef) string {
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(p.id+"/"+c.ID))), 16)
}

// unfit reports whether an error means that the container lacks something that a way needs, which a retry would not
// change. Temporary errors and missing permissions do not count.
func unfit(err error) bool {
	if errors.Is(err, errForeign) {
		return true
	}
	code, ok := liveupdate.ExitCode(err)
	return ok && slices.Contains([]int{1, 2, codeNotAllowed, 126, 127, exitNoFolder, exitNoHead}, code) && !k8s.IsForbidden(err)
}
