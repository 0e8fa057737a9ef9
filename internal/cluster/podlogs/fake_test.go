package podlogs

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// kubelet is a Source that behaves like the real one: it serves the runs of one container by name, the current or the
// previous one, from a full second on, and follows until the run has ended. It breaks connections according to its
// plan.
type kubelet struct {
	mu       sync.Mutex
	runs     []*run
	changed  chan struct{} // closed and replaced when a run grows or ends
	plan     func(r Request) fault
	requests []Request
}

// run is the log of one run of the container.
type run struct {
	lines []logLine
	tail  string // written without a line break at the end
	ended bool
	lost  int // lines that rotation has taken away
}

type logLine struct {
	t    time.Time
	text string
}

// fault is the failure of a connection.
type fault struct {
	refuse error // when opened
	hang   bool  // when opened: no answer until the context ends
	// after is the number of bytes after which the connection ends, with err, with a clean end (err nil), or stays open
	// without further data (stall); negative means never.
	after int
	err   error
	stall bool
	chunk int // bytes per read; 0 means as many as fit
}

var fine = fault{after: -1}

var errReset = errors.New("connection reset by peer")

// errNotYet is the kubelet's error if there is no previous log. It may also return it for a moment after a restart.
var errNotYet = errors.New(`previous terminated container "app" in pod "web-1" not found`)

func newKubelet() *kubelet {
	return &kubelet{runs: []*run{{}}, changed: make(chan struct{}), plan: func(Request) fault { return fine }}
}

// change modifies the runs and wakes followers.
func (k *kubelet) change(do func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	do()
	close(k.changed)
	k.changed = make(chan struct{})
}

func (k *kubelet) setPlan(plan func(Request) fault) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.plan = plan
}

// count is the number of requests so far.
func (k *kubelet) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.requests)
}

func (k *kubelet) current() *run { return k.runs[len(k.runs)-1] }

// write adds a line with the present time.
func (k *kubelet) write(texts ...string) {
	k.change(func() {
		for _, text := range texts {
			r := k.current()
			r.lines = append(r.lines, logLine{time.Now(), text})
		}
	})
}

func (k *kubelet) end() { k.change(func() { k.current().ended = true }) }

func (k *kubelet) restart() {
	k.change(func() {
		k.current().ended = true
		k.runs = append(k.runs, &run{})
	})
}

func (k *kubelet) Logs(ctx context.Context, req Request) (io.ReadCloser, error) {
	k.mu.Lock()
	k.requests = append(k.requests, req)
	f := k.plan(req)
	k.mu.Unlock()
	if f.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if f.refuse != nil {
		return nil, f.refuse
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	i := len(k.runs) - 1
	if req.Previous {
		i--
	}
	if i < 0 {
		return nil, errNotYet
	}
	if req.Since != req.Since.Truncate(time.Second) {
		return nil, errors.New("since is not a full second")
	}
	return &body{k: k, ctx: ctx, req: req, run: k.runs[i], fault: f, next: k.runs[i].lost}, nil
}

// body is one connection.
type body struct {
	k     *kubelet
	ctx   context.Context
	req   Request
	run   *run
	fault fault

	next    int // line
	tail    bool
	pending []byte
	sent    int
}

func (b *body) Read(p []byte) (int, error) {
	for {
		b.k.mu.Lock()
		b.fill()
		changed, ended := b.k.changed, b.run.ended
		b.k.mu.Unlock()
		if b.ctx.Err() != nil {
			return 0, b.ctx.Err()
		}
		if b.fault.after >= 0 && b.sent >= b.fault.after {
			switch {
			case b.fault.stall:
				<-b.ctx.Done()
				return 0, b.ctx.Err()
			case b.fault.err != nil:
				return 0, b.fault.err
			}
			return 0, io.EOF
		}
		if len(b.pending) > 0 {
			return b.give(p), nil
		}
		if ended || !b.req.Follow {
			return 0, io.EOF
		}
		select {
		case <-changed:
		case <-b.ctx.Done():
		}
	}
}

// fill renders the lines that came since.
func (b *body) fill() {
	for ; b.next < len(b.run.lines); b.next++ {
		l := b.run.lines[b.next]
		if !l.t.Before(b.req.Since) {
			b.pending = append(b.pending, l.t.UTC().Format(time.RFC3339Nano)+" "+l.text+"\n"...)
		}
	}
	if b.run.ended && b.run.tail != "" && !b.tail {
		b.tail = true
		b.pending = append(b.pending, b.run.tail...)
	}
}

func (b *body) give(p []byte) int {
	n := min(len(p), len(b.pending))
	if b.fault.chunk > 0 {
		n = min(n, b.fault.chunk)
	}
	if b.fault.after >= 0 {
		n = min(n, b.fault.after-b.sent)
	}
	copy(p, b.pending[:n])
	b.pending = b.pending[n:]
	b.sent += n
	return n
}

func (b *body) Close() error { return nil }

// randomFaults breaks connections at random. A read that does not follow is never cut off without an error, and not
// often enough in a row for the stream to give up.
func randomFaults(rng *rand.Rand) func(Request) fault {
	broken := 0 // in a row, of reads of the previous log
	return func(r Request) fault {
		f := randomFault(rng, r.Follow, r.Previous)
		if !r.Follow && (rng.IntN(3) > 0 || r.Previous && broken == previousTries-2) {
			f = fault{after: -1, chunk: f.chunk}
		}
		if r.Previous && f.breaks() {
			broken++
		} else if r.Previous {
			broken = 0
		}
		return f
	}
}

func (f fault) breaks() bool { return f.refuse != nil || f.hang || f.after >= 0 }

func randomFault(rng *rand.Rand, follow, previous bool) fault {
	f := fine
	if rng.IntN(2) == 0 {
		f.chunk = 1 + rng.IntN(100)
	}
	switch rng.IntN(12) {
	case 0:
		f.refuse = errors.New("connection refused")
		if previous {
			f.refuse = errNotYet
		}
	case 1:
		f.hang = true
	case 2, 3, 4:
		f.after, f.err = rng.IntN(400), errReset
	case 5:
		f.after, f.stall = rng.IntN(400), true
	case 6, 7, 8:
		if follow {
			f.after = rng.IntN(400)
		}
	}
	return f
}
