package synclet

import (
	"context"
	"errors"
	"hash/crc32"
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

// Status is how it stands with the synclet of one container.
type Status struct {
	Container model.ContainerRef
	State     State
	// Way is how the program got in; empty while that is being found out.
	Way Way
	// Err is why it did not, or why the conversation broke off.
	Err error
	// Passed is why the ways that are tried before Way did not do; nil when there are none.
	Passed error
	// Process is the container's process where the synclet supervises it, as it was heard of last.
	Process protocol.Process
}

// State of a synclet.
type State string

// The states. A failed one is not tried again where the image does not let the program in, and seldom where that is not
// allowed.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Broken   State = "broken"
	Failed   State = "failed"
)

// Pool keeps a conversation open with every container that it is told to keep ready. Make it with NewPool and end it with
// Close. Its methods may be called from any goroutine.
type Pool struct {
	pods   liveupdate.PodExecer
	told   func(Status)
	beside Beside // nil where no container may be added to pods
	id     string // tells its synclets from those of others

	workers *workers.Set[string, *entry] // keep the entries' conversations, by container id

	mu        sync.Mutex
	closed    bool
	home      Home
	entries   map[string]*entry  // by container id
	stale     map[string]bool    // by container id: files were sent that its process has not been restarted for
	verdicts  map[string]verdict // by image
	lockedOut map[string]bool    // by reference of the Tiltfile
}

// verdict is what is known of an image: the way of its own that works, if any, and why the others do not.
type verdict struct {
	way     Way
	reasons []error
}

// NewPool returns a pool that reaches containers through pods.
func NewPool(pods liveupdate.PodExecer) *Pool {
	p := &Pool{pods: pods, told: func(Status) {}, id: uuid.NewString(), entries: map[string]*entry{},
		stale: map[string]bool{}, verdicts: map[string]verdict{}, lockedOut: map[string]bool{}}
	// A container's next conversation begins after its last one has ended: the program that begins last ends the others.
	same := func(a, b *entry) bool { return a == b }
	p.workers = workers.NewSet(context.Background(), same, func(ctx context.Context, _ string, e *entry) { p.keep(ctx, e) })
	return p
}

// OnStatus sets a function that is told of every change. It is called from the pool's goroutines and from Keep, under locks
// of the pool: it must neither block nor call the pool. Set it before the first Keep.
func (p *Pool) OnStatus(fn func(Status)) { p.told = fn }

// Beside lets the pool add its own containers to pods. Set it before the first Keep.
func (p *Pool) Beside(b Beside) { p.beside = b }

// SetHome sets where the containers run, for the image of containers that the pool adds to pods.
func (p *Pool) SetHome(h Home) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.home = h
}

func (p *Pool) place() Home {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.home
}

// LockedOut reports whether a container of an image, by the Tiltfile's reference, has let the program in neither by its
// shell nor by its tar.
func (p *Pool) LockedOut(ref string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lockedOut[ref]
}

// entry is one container.
type entry struct {
	gone chan struct{} // closed when the pool has dropped it

	mu      sync.Mutex
	kept    bool               // Keep has named it, so that it is reported
	dropped bool               // it is no longer reported
	ref     model.ContainerRef // of which only the resource may change
	last    Status             // what was told last
	session *Session           // nil while there is none
	err     error              // why there is none, or will be none; nil while one is being opened
	passing bool               // err may pass: it is tried again, at once when an update waits for it
	hurry   chan struct{}
	changed chan struct{} // closed at the next change
}

// Keep makes the given containers, and no others, ready for updates. It waits neither for conversations that begin nor for
// those that end; once it has returned, containers that it was not given are no longer reported.
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
	for id, c := range wanted {
		if p.entries[id] == nil {
			p.entries[id] = newEntry(c, true)
		}
	}
	p.workers.Want(p.entries)
}

// newEntry returns an entry that has no conversation yet. It is not reported unless it is kept.
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
}

// The waits between attempts, doubling.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// rightPause is the wait until something is tried again that was not allowed: rights come by hand.
const rightPause = 20 * time.Second

// keep holds a conversation with one container until ctx is done or the image turns out not to let the program in.
func (p *Pool) keep(ctx context.Context, e *entry) {
	pauses := retry.Backoff{First: firstPause, Most: lastPause}
	for ctx.Err() == nil {
		e.set(nil, nil, false)
		p.tell(e, func(st *Status) { st.State = Starting })
		began := time.Now()
		s, way, passed, err := p.open(ctx, e.container())
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

// rest waits, unless an update is in a hurry, and reports false when ctx is done before.
func (e *entry) rest(ctx context.Context, d time.Duration) bool {
	return retry.SleepOr(ctx, d, e.hurry)
}

// tell passes on how it stands with an entry's container, once that is kept.
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

// drop ends what is reported of an entry that the pool keeps no longer.
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

// adopt keeps a container that an update came to first, or that belongs to another resource now, and tells how it stands with
// it.
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

// set notes the conversation, or why there is none; passing says that the reason may pass. All three change at once: an
// update that saw the reason before it was known to pass would take it for the last word.
func (e *entry) set(s *Session, err error, passing bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.session, e.err, e.passing = s, err, passing
	close(e.changed)
	e.changed = make(chan struct{})
}

// Session returns the conversation with a container, and waits for it while it is being opened. What has failed and may
// pass is tried again once, at once. A container that was not kept ready gets ready now.
func (p *Pool) Session(ctx context.Context, c model.ContainerRef) (*Session, error) {
	return p.after(ctx, c, nil)
}

// after is Session, but for a conversation that has ended. Where Keep has started over with the container meanwhile, the new
// one counts.
func (p *Pool) after(ctx context.Context, c model.ContainerRef, ended *Session) (*Session, error) {
	for {
		s, err := p.once(ctx, c, ended)
		if !errors.Is(err, errReplaced) {
			return s, err
		}
	}
}

// errReplaced says that Keep took an entry away.
var errReplaced = errors.New("the conversation was started over")

func (p *Pool) once(ctx context.Context, c model.ContainerRef, ended *Session) (*Session, error) {
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
		s, err, passing, changed := e.session, e.err, e.passing, e.changed
		e.mu.Unlock()
		switch {
		case s != nil && s != ended, err != nil && (!passing || hurried):
			return s, err
		case err != nil:
			hurried = true
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

// impossible says that no way leads into containers of an image.
type impossible struct{ reasons []error }

// Error lists what went wrong in each way.
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

// client names the pool to the synclet in a container, so that it ends those that the pool has given up.
func (p *Pool) client(c model.ContainerRef) string {
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(p.id+"/"+c.ID))), 16)
}

// unfit reports whether an error says that the container does not have what a way needs, which the next try would not
// change. What may pass, and being forbidden, are no such errors.
func unfit(err error) bool {
	if errors.Is(err, errForeign) {
		return true
	}
	code, ok := liveupdate.ExitCode(err)
	return ok && slices.Contains([]int{1, 2, codeNotAllowed, 126, 127, exitNoFolder, exitNoHead}, code) && !k8s.IsForbidden(err)
}
