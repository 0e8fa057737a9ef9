package proxy

import (
	"net"
	"time"
)

// Line sets the delay and the rate of a connection to a server.
type Line struct {
	// Delay is the time that each byte takes, one way.
	Delay time.Duration
	// Rate is the number of bytes per second that a connection carries in each direction; zero means no limit.
	Rate float64
}

// piece is a piece of data on a line.
type piece struct {
	data []byte
	due  time.Time
}

const (
	// pieceSize is the size of the pieces in which data travels, in bytes: at 5 Mbit/s one takes 6 ms.
	pieceSize = 4 << 10
	// buffered is the number of bytes that can wait in front of a line before the sender has to wait, as in the buffers of a system
	// and of the routers on the way.
	buffered = 256 << 10
)

// Stretch gives the connections that are opened afterwards the delay and the rate of the line. Nothing is reordered.
func (w *Wire) Stretch(l Line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line = l
}

// travel copies one direction of a connection over a line.
func (w *Wire) travel(to, from net.Conn, up bool, l Line, lost <-chan struct{}) {
	inFlight := int(l.Rate * l.Delay.Seconds())
	pieces := make(chan piece, (inFlight+buffered)/pieceSize+1)
	w.all.Go(func() {
		defer end(to, lost)
		for p := range pieces {
			time.Sleep(time.Until(p.due)) // the delay of the line itself
			if _, err := to.Write(p.data); err != nil {
				end(from, lost)
				for range pieces { // until the reader has noticed
				}
				return
			}
		}
	})
	defer close(pieces)
	free := time.Now() // when the line can take the next piece
	for {
		buf := make([]byte, pieceSize)
		n, err := from.Read(buf)
		if n > 0 {
			if !w.pass(n, up) {
				return
			}
			if isLost(lost) {
				continue
			}
			if now := time.Now(); free.Before(now) {
				free = now
			}
			if l.Rate > 0 {
				free = free.Add(time.Duration(float64(n) / l.Rate * float64(time.Second)))
			}
			pieces <- piece{buf[:n], free.Add(l.Delay)}
		}
		if err != nil {
			return
		}
	}
}
