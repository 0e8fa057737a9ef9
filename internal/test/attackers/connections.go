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
	// slow is the number of clients that send a byte periodically, and pause is the time between two bytes.
	slow  = 50
	pause = 200 * time.Millisecond
	// patience is the longest time for which a session may keep a client that does not finish its headers.
	patience = time.Minute
	// Idle is the number of idle connections in Attacks, watchers is the number of watchers, and readers is the number of clients that
	// read long answers.
	Idle, watchers, readers = 10_000, 100, 30
)

// SlowRequests runs clients that send a byte periodically (slow loris). The session must drop them when the time for
// headers is over.
func SlowRequests(ctx context.Context, s Target) error {
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

// drip sends a request byte by byte until the session closes the connection.
func (s Target) drip(ctx context.Context) error {
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

// IdleConnections opens n connections, or as many as the machine allows, and sends nothing on them.
func IdleConnections(n int) func(ctx context.Context, s Target) (release func(), err error) {
	return func(ctx context.Context, s Target) (func(), error) {
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

// ask sends a request on each of n connections, for the paths in turn, and waits until the answers begin. It reads no
// more of them.
func ask(ctx context.Context, s Target, n int, paths ...string) (release func(), err error) {
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
		_, _ = c.Read(make([]byte, 1)) // the session may also have closed it
	}
	return open.release, nil
}

// DeadWatchers follows objects, logs and events without reading them.
func DeadWatchers(ctx context.Context, s Target) (release func(), err error) {
	return ask(ctx, s, watchers, "/apis/hone.dev/v1alpha1/updates?watch=true", "/apis/hone.dev/v1alpha1/resources?watch=true",
		"/apis/tilt.dev/v1alpha1/uiresources?watch=true", "/api/logs?follow=true", "/api/events?follow=true")
}

// DeadReaders requests the longest answers without reading them.
func DeadReaders(ctx context.Context, s Target) (release func(), err error) {
	return ask(ctx, s, readers, "/api/dump/engine", "/api/dump/logstore", "/api/snapshot", "/apis/tilt.dev/v1alpha1/uiresources")
}

// held are open connections.
type held struct{ conns []net.Conn }

func (h *held) dial(ctx context.Context, s Target) error {
	c, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", s.Address)
	if err == nil {
		h.conns = append(h.conns, c)
	}
	return err
}

// spare closes some connections if the machine refuses more, since the attacker has other connections and files to open.
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
