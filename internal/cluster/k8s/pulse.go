package k8s

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// pingInterval is how often a stream is asked whether its other end is there; pingTimeout is how long the answer may
	// take. Together they bound how long a connection that died, for example while the machine slept, goes unnoticed.
	pingInterval = 10 * time.Second
	pingTimeout  = 10 * time.Second
	// pingPatience is how long silence is borne while data that was sent may still wait to be taken: a program that does
	// not read holds up the answers to pings, because they queue behind its data.
	pingPatience = 2 * time.Minute
	// proofTimeout is how long an answer may take that has to prove that a tunnel still works.
	proofTimeout = 3 * time.Second
)

// pulse decides whether the other end of a stream is dead. A missing answer alone does not prove it: the answer may be
// queued behind data that nobody on this side wants yet, or the question behind data that nobody on the other side does.
type pulse struct {
	// lanes is how many answers in a row show that nothing waits on the other side: spdystream deals the pings out to
	// that many queues.
	lanes int

	last atomic.Int64 // when something was heard, Unix nanoseconds
	sent atomic.Int64 // when data was sent last, likewise; 0 for never
	held atomic.Int32 // how many hold up the reading on this side
	ask  chan struct{}
}

func newPulse(lanes int) *pulse { return &pulse{lanes: lanes, ask: make(chan struct{}, 1)} }

func (p *pulse) heard()   { p.last.Store(time.Now().UnixNano()) }
func (p *pulse) wrote()   { p.sent.Store(time.Now().UnixNano()) }
func (p *pulse) hold()    { p.held.Add(1) }
func (p *pulse) release() { p.heard(); p.held.Add(-1) }

// doubt asks for a proof at once that the stream still works.
func (p *pulse) doubt() {
	select {
	case p.ask <- struct{}{}:
	default:
	}
}

// check pings until ctx is done, which gives nil, or the other end is dead, which gives the error to report. ping must
// return when its context is done.
func (p *pulse) check(ctx context.Context, ping func(context.Context) error) error {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	var proven int   // answers in a row since the last data was sent
	var atSent int64 // what sent was when they came
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.ask:
			if err := p.prove(ctx, ping); err != nil {
				return err
			}
			continue
		case <-ticker.C:
		}
		start, sent := time.Now(), p.sent.Load()
		if sent != atSent {
			proven, atSent = 0, sent
		}
		err := p.try(ctx, pingTimeout, ping)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			proven++
		case p.held.Load() > 0 || p.last.Load() >= start.UnixNano():
			// It lives.
		case p.waiting(atSent, proven) && time.Since(p.latest()) < pingPatience:
			// It may live.
		default:
			return fmt.Errorf("the server stopped answering: %w", err)
		}
	}
}

// waiting reports whether data that was sent may not have been taken yet.
func (p *pulse) waiting(atSent int64, proven int) bool {
	sent := p.sent.Load()
	return sent != 0 && (sent != atSent || proven < p.lanes)
}

// latest is when something last happened on the stream.
func (p *pulse) latest() time.Time { return time.Unix(0, max(p.last.Load(), p.sent.Load())) }

// prove asks as often as there are lanes, and wants each answer soon.
func (p *pulse) prove(ctx context.Context, ping func(context.Context) error) error {
	for range p.lanes {
		if err := p.try(ctx, proofTimeout, ping); err != nil && ctx.Err() == nil && p.held.Load() == 0 {
			return fmt.Errorf("the server got stuck over a connection that broke: %w", err)
		}
	}
	return nil
}

func (p *pulse) try(ctx context.Context, timeout time.Duration, ping func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := ping(ctx)
	if err == nil {
		p.heard()
	}
	return err
}
