package attackers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// slow is how many clients send a byte now and then, and pause is between two bytes.
	slow  = 50
	pause = 200 * time.Millisecond
	// patience is how long a session may keep a client that does not come to the end of its headers.
	patience = time.Minute
	// Idle is how many idle connections there are in Attacks, watchers how many watchers, readers how many long answers.
	Idle, watchers, readers = 10_000, 100, 30
)

// SlowRequests has clients that send a byte now and then (slow loris). They are to be gone when the time for headers is over.
func SlowRequests(ctx context.Context, s Session) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]error, slow)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() { results[i] = s.drip(ctx) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return errors.Join(results...)
}

// drip sends a request byte by byte until the session has enough of it.
func (s Session) drip(ctx context.Context) error {
	const request = "GET /api/view HTTP/1.1\r\nX: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	began := time.Now()
	for i := 0; time.Since(began) < patience; i++ {
		if _, err := c.Write([]byte{request[min(i, len(request)-1)]}); err != nil {
			return nil
		}
		_ = c.SetReadDeadline(time.Now().Add(pause))
		_, err := io.ReadAll(c)
		var late net.Error
		if !errors.As(err, &late) || !late.Timeout() {
			return nil // closed by the session
		}
	}
	return fmt.Errorf("a request without an end was kept for %s", patience)
}

// IdleConnections opens n connections, or as many as the machine lets it, and says nothing on them.
func IdleConnections(n int) func(ctx context.Context, s Session) (release func(), err error) {
	return func(ctx context.Context, s Session) (func(), error) {
		open := &held{}
		var err error
		for len(open.conns) < n && err == nil {
			err = open.dial(ctx, s)
		}
		if len(open.conns) == 0 {
			return nil, err
		}
		if err != nil {
			open.spare()
		}
		return open.release, nil
	}
}

// ask sends a request on each of n connections, for one path after the other, and waits until the answers begin. It reads
// nothing more of them.
func ask(ctx context.Context, s Session, n int, paths ...string) (release func(), err error) {
	open := &held{}
	for i := range n {
		err := open.dial(ctx, s)
		if err == nil {
			_, err = io.WriteString(open.conns[i], "GET "+paths[i%len(paths)]+" HTTP/1.1\r\nHost: localhost\r\n"+s.owner()+"\r\n")
		}
		if err != nil {
			open.release()
			return nil, err
		}
	}
	for _, c := range open.conns {
		_ = c.SetReadDeadline(time.Now().Add(answerTimeout))
		_, _ = c.Read(make([]byte, 1)) // a session may as well have broken it off
	}
	return open.release, nil
}

// DeadWatchers follows objects, logs and events, and reads nothing of them.
func DeadWatchers(ctx context.Context, s Session) (release func(), err error) {
	return ask(ctx, s, watchers, "/apis/hone.dev/v1alpha1/updates?watch=true", "/apis/hone.dev/v1alpha1/resources?watch=true",
		"/apis/tilt.dev/v1alpha1/uiresources?watch=true", "/api/logs?follow=true", "/api/events?follow=true")
}

// DeadReaders asks for the longest answers that there are, and reads nothing of them.
func DeadReaders(ctx context.Context, s Session) (release func(), err error) {
	return ask(ctx, s, readers, "/api/dump/engine", "/api/dump/logstore", "/api/snapshot", "/apis/tilt.dev/v1alpha1/uiresources")
}

// held are connections that are kept.
type held struct{ conns []net.Conn }

func (h *held) dial(ctx context.Context, s Session) error {
	c, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", s.Address)
	if err == nil {
		h.conns = append(h.conns, c)
	}
	return err
}

// spare gives back some connections where the machine lets the attacker have no more, who has other things to open.
func (h *held) spare() {
	const others = 64
	keep := max(0, len(h.conns)-others)
	for _, c := range h.conns[keep:] {
		_ = c.Close()
	}
	h.conns = h.conns[:keep]
}

func (h *held) release() {
	for _, c := range h.conns {
		_ = c.Close()
	}
}
