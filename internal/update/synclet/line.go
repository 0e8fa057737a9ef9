package synclet

import (
	"bytes"
	"sync"
	"time"

	"github.com/klauspost/compress/flate"
)

// line measures the connection to a synclet, and decides whether messages are compressed. It has a mutex of its own, since it is
// used while messages are written and when answers arrive.
type line struct {
	mu sync.Mutex
	// latency is the shortest time in which an answer came. It is zero before the first one.
	latency time.Duration
	// rate is the throughput of the connection, in bytes per second; zero if it is not known.
	rate float64
	// pace is the speed of compression on this side, in bytes per second, and ratio the size after it divided by the size before.
	pace, ratio float64
	// idle is the number of blocks to send without compressing them, after one that could not be compressed.
	idle int
	// travelled is the number of bytes that were written for the current update. under counts the updates that have not been
	// answered, and mixed means that there was more than one: then no duration can be attributed to one of them.
	travelled, under int
	mixed            bool

	w   *flate.Writer
	out bytes.Buffer
}

const (
	// far is the latency from which on a connection counts as slow as long as its rate is not known. A cluster on this machine or
	// in the same building answers in a tenth of it.
	far = 4 * time.Millisecond
	// packFrom is the size in bytes from which on compressing can be worth it.
	packFrom = 512
	// unpackPace is the speed at which a synclet decompresses, in bytes per second: 150 MB/s were measured with a core of its own,
	// and a container may have only a part of one.
	unpackPace = 100e6
	// firstPace and firstRatio are assumed until there are measurements.
	firstPace, firstRatio = 100e6, 0.4
	// hopeless is the ratio above which the next blocks of an update are not compressed, and pause the number of these blocks.
	hopeless, pause = 0.95, 3
	// measured is the size in bytes of an update from which on its duration says something about the rate.
	measured = 48 << 10
)

// answered notes how long an answer took.
func (l *line) answered(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latency == 0 || took < l.latency {
		l.latency = took
	}
}

// begin begins the measurement of an update; the returned function ends it.
func (l *line) begin() (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.travelled, l.idle = 0, 0
	l.mixed = l.under > 0
	l.under++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.under--
	}
}

// arrived reports the answer: took is the time since the first byte was sent, without the time of the synclet's own work.
func (l *line) arrived(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mixed {
		return
	}
	if l.travelled < packFrom { // next to nothing: the time is the latency
		l.latency = min(l.latency, took)
		return
	}
	if took -= l.latency; l.travelled < measured || took <= 0 {
		return
	}
	rate := float64(l.travelled) / took.Seconds()
	if l.rate == 0 {
		l.rate = rate
		return
	}
	l.rate += (rate - l.rate) / 3
}

// worthIt reports whether n bytes arrive sooner if they are compressed. mu must be held.
func (l *line) worthIt(n int) bool {
	if n < packFrom {
		return false
	}
	if l.rate == 0 {
		return l.latency >= far
	}
	pace, ratio := l.pace, l.ratio
	if pace == 0 {
		pace, ratio = firstPace, firstRatio
	}
	saved := (1 - ratio) / l.rate
	return saved > 1.2*(1/pace+1/unpackPace) // if it makes little difference, send them as they are
}

// pack compresses frames, as protocol.Writer.Pack.
func (l *line) pack(frames []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	packed := l.try(frames)
	if packed == nil {
		l.travelled += len(frames)
	} else {
		l.travelled += len(packed)
	}
	return packed
}

func (l *line) try(frames []byte) []byte {
	if !l.worthIt(len(frames)) {
		return nil
	}
	if l.idle > 0 {
		l.idle--
		return nil
	}
	began := time.Now()
	l.out.Reset()
	if l.w == nil {
		l.w, _ = flate.NewWriter(&l.out, flate.BestSpeed) // fails only for a level that does not exist
	} else {
		l.w.Reset(&l.out)
	}
	_, _ = l.w.Write(frames) // a bytes.Buffer takes everything
	_ = l.w.Close()
	took := max(time.Since(began), time.Microsecond)
	ratio := float64(l.out.Len()) / float64(len(frames))
	if len(frames) >= measured {
		pace := float64(len(frames)) / took.Seconds()
		if l.pace == 0 {
			l.pace, l.ratio = pace, ratio
		}
		l.pace += (pace - l.pace) / 4
		l.ratio += (min(ratio, 1) - l.ratio) / 4
	}
	if ratio > hopeless {
		l.idle = pause
		return nil
	}
	return l.out.Bytes()
}
