package k8s

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// pingInterval is the time between two pings of the other end of a stream; pingTimeout bounds the wait for the
	// answer. Together they bound the time for which a dead connection goes unnoticed, for example after the machine
	// slept.
	pingInterval = 10 * time.Second
	pingTimeout  = 10 * time.Second
	// pingPatience is the time for which silence is tolerated while sent data may still be unread: a program that does
	// not read holds up the answers to pings, because they queue behind its data.
	pingPatience = 2 * time.Minute
	// proofTimeout bounds the wait for an answer when a tunnel has to prove that it still works.
	proofTimeout = 3 * time.Second
)

// pulse decides whether the other end of a stream is dead. A missing answer alone is no proof: the answer may be queued
// behind data that this side has not read yet, or the ping behind data that the other side has not read yet.
type pulse struct {
	// lanes is the number of answers in a row that prove that nothing is queued on the other side: spdystream
	// distributes the pings over that many queues.
	lanes int

	last atomic.Int64 // when data last arrived, Unix nanoseconds
	sent atomic.Int64 // when data was last sent, likewise; 0 for never
	held atomic.Int32 // the number of goroutines that hold up reading on this side
	ask  chan struct{}
}

func newPulse(lanes int) *pulse { return &pulse{lanes: lanes, ask: make(chan struct{}, 1)} }

func (p *pulse) heard()   { p.last.Store(time.Now().UnixNano()) }
func (p *pulse) wrote()   { p.sent.Store(time.Now().UnixNano()) }
func (p *pulse) hold()    { p.held.Add(1) }
func (p *pulse) release() { p.heard(); p.held.Add(-1) }

// doubt requests an immediate proof that the stream still works.
func (p *pulse) doubt() {
	select {
	case p.ask <- struct{}{}:
	default:
	}
}

// check pings until ctx is done or the other end is dead. It returns nil in the first case and the error to report in
// the second. ping must return when its context is done.
func (p *pulse) check(ctx context.Context, ping func(context.Context) error) error {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	var proven int   // answers in a row since the last data was sent
	var atSent int64 // the value of sent when they came
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

// waiting reports whether sent data may still be unread.
func (p *pulse) waiting(atSent int64, proven int) bool {
	sent := p.sent.Load()
	return sent != 0 && (sent != atSent || proven < p.lanes)
}

// latest returns the time of the last activity on the stream.
func (p *pulse) latest() time.Time { return time.Unix(0, max(p.last.Load(), p.sent.Load())) }

// prove pings once per lane, and requires each answer within proofTimeout.
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
