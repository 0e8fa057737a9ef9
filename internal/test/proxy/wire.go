// Package proxy injects faults between hone and an API server: a Wire cuts, resets, slows, stretches and stalls connections; a
// Gateway answers requests with errors and ends watches.
//
// # Concurrency
//
// Everything is safe for concurrent use. A Wire owns two goroutines per connection, four over a Line, which end with Close.
package proxy

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/test/freeport"
)

// Wire is a proxy to a server that can be cut. Make it with NewWire.
type Wire struct {
	server  string
	address string

	mu    sync.Mutex
	l     net.Listener
	conns map[net.Conn]bool
	all   sync.WaitGroup
	// left is the number of bytes that may still go to the server before the wire is cut; negative means no limit. pause is the wait
	// after each piece. While stalled is open, no data moves; if muted is set, only data from the server is held back.
	left    int
	over    chan struct{}
	pause   time.Duration
	stalled chan struct{}
	muted   bool
	line    Line
	lost    chan struct{} // closed when the connections that are open now are lost
}

// NewWire opens a wire to server, which is HOST:PORT or the absolute path of a socket.
func NewWire(server string) (*Wire, error) {
	port, err := freeport.Next() // not one that another connection gets while the wire is cut
	if err != nil {
		return nil, err
	}
	w := &Wire{server: server, address: fmt.Sprintf("127.0.0.1:%d", port), conns: map[net.Conn]bool{}, left: -1, lost: make(chan struct{})}
	if err := w.Join(); err != nil {
		return nil, err
	}
	return w, nil
}

// Address returns the address for clients: 127.0.0.1:PORT. It stays the same when the wire is cut and joined.
func (w *Wire) Address() string { return w.address }

// Limit cuts the wire after the given number of further bytes towards the server. The channel is closed when that is
// done.
func (w *Wire) Limit(bytes int) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.over = bytes, make(chan struct{})
	return w.over
}

// Slow slows the direction to the server by a pause after each large piece; zero ends that.
func (w *Wire) Slow(pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pause = pause
}

// Flow ends a stall: the held data travels on.
func (w *Wire) Flow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flow()
}

// flow does the work of Flow. w.mu is held.
func (w *Wire) flow() {
	if w.stalled != nil {
		close(w.stalled)
	}
	w.stalled, w.muted = nil, false
}

// Stall stops all traffic, with connections open, until Flow, Cut or Reset.
func (w *Wire) Stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stalled == nil {
		w.stalled = make(chan struct{})
	}
}

// Mute holds back the data that the server sends, with connections open, until Flow, Cut or Reset.
func (w *Wire) Mute() {
	w.Stall()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.muted = true
}

// Lose makes all data on the open connections disappear, in both directions, even their ends: as if this machine had another
// address now. New connections work as before.
func (w *Wire) Lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.lost)
	w.lost = make(chan struct{})
}

// end passes on the end of a connection. The other side of a lost connection does not learn of the end.
func end(c net.Conn, lost <-chan struct{}) {
	if !isLost(lost) {
		_ = c.Close()
	}
}

// isLost reports whether connections that were opened with that channel are lost.
func isLost(lost <-chan struct{}) bool {
	select {
	case <-lost:
		return true
	default:
		return false
	}
}

// Join opens the wire.
func (w *Wire) Join() error {
	l, err := net.Listen("tcp", w.address)
	// A program that is being started holds its parent's open files until it runs, even a listener that was closed meanwhile.
	for range 100 {
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
		time.Sleep(50 * time.Millisecond)
		l, err = net.Listen("tcp", w.address)
	}
	if err != nil {
		return fmt.Errorf("open a wire to %s: %w", w.server, err)
	}
	w.mu.Lock()
	w.l = l
	w.mu.Unlock()
	w.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.all.Go(func() { w.carry(c) })
		}
	})
	return nil
}

// Cut ends every connection and refuses new ones.
func (w *Wire) Cut() {
	w.mu.Lock()
	if w.l != nil {
		_ = w.l.Close()
	}
	w.l = nil
	w.drop(false)
	w.mu.Unlock()
	w.all.Wait()
}

// Reset ends every connection like a crash, without an orderly end, and accepts new ones. A stall is over.
func (w *Wire) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(true)
}

// Close cuts the wire permanently.
func (w *Wire) Close() { w.Cut() }

// drop closes all connections. w.mu is held.
func (w *Wire) drop(reset bool) {
	w.left = -1
	defer w.flow() // after the connections have ended
	for c := range w.conns {
		if tcp, ok := c.(*net.TCPConn); ok && reset {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
}

// pass is called for each piece of data, and returns false if the connection ends.
func (w *Wire) pass(n int, up bool) bool {
	w.mu.Lock()
	stalled, pause, over := w.stalled, w.pause, false
	if w.muted && up {
		stalled = nil
	}
	if up && w.left >= 0 {
		if w.left -= n; w.left < 0 {
			over = true
			cut := w.over
			go func() { // Cut waits for the goroutine that runs this
				w.Cut()
				close(cut)
			}()
		}
	}
	w.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	if up && n > 16<<10 {
		time.Sleep(pause) // see Slow
	}
	return !over
}

// copy copies one direction.
func (w *Wire) copy(to, from net.Conn, up bool, lost <-chan struct{}) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && !w.pass(n, up) {
			return
		}
		if n > 0 && err == nil && isLost(lost) {
			continue
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (w *Wire) carry(c net.Conn) {
	network := "tcp"
	if filepath.IsAbs(w.server) {
		network = "unix"
	}
	up, err := net.Dial(network, w.server)
	if err != nil {
		_ = c.Close()
		return
	}
	w.mu.Lock()
	if w.l == nil { // cut meanwhile
		_, _ = c.Close(), up.Close()
	}
	w.conns[c], w.conns[up] = true, true
	line, lost := w.line, w.lost
	w.mu.Unlock()
	if line != (Line{}) {
		w.all.Go(func() { w.travel(up, c, true, line, lost) })
		w.travel(c, up, false, line, lost)
	} else {
		w.all.Go(func() { w.copy(up, c, true, lost); end(up, lost) })
		w.copy(c, up, false, lost)
		end(c, lost)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if isLost(lost) {
		return // Cut and Reset end them
	}
	delete(w.conns, c)
	delete(w.conns, up)
}
