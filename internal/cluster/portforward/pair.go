package portforward

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/base/retry"
)

// replayLimit is how much of what a client sends is kept until the pod answers.
const replayLimit = 64 << 10

// pair is a connection between a client and a pod.
//
// Until the pod has sent something, what the client sends is kept. When it then turns out that nothing in the pod has
// taken it, because nothing listens on the port or the pod has gone before anything was sent, the connection is opened
// again, to whatever pod is current then: an app that restarts is not noticed by a client that can wait.
type pair struct {
	f        *Forward
	ctx      context.Context // of the connection
	cancel   context.CancelFunc
	deadline time.Time // for reaching a pod
	local    net.Conn

	// Reads from a side are bounded by HalfOpenTimeout once the other has ended, where that side may not notice.
	boundLocal, boundRemote atomic.Bool
	ended                   atomic.Bool // both connections are closed, or being closed

	mu        sync.Mutex
	remote    net.Conn
	target    Target
	sent      []byte // by the client, as long as it can be sent again
	settled   bool   // the connection will not be opened again
	clientEnd bool   // the client sends no more
}

// run copies both ways until both have ended or one has failed.
func (p *pair) run() {
	var wg sync.WaitGroup
	wg.Go(p.upload)
	wg.Go(p.download)
	wg.Wait()
	p.finish()
}

// upload passes on what the client sends.
func (p *pair) upload() {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := p.read(p.local, buf[:], &p.boundLocal)
		if n > 0 && p.toPod(buf[:n]) != nil {
			p.fail()
			return
		}
		if errors.Is(err, io.EOF) {
			p.endUpload()
			return
		}
		if err != nil {
			p.fail()
			return
		}
	}
}

// download passes on what the pod sends, and reopens the connection if need be.
func (p *pair) download() {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	pauses := retry.Backoff{First: firstRetry, Most: lastRetry}
	for {
		remote, target := p.current()
		n, err := p.read(remote, buf[:], &p.boundRemote)
		ended := errors.Is(err, io.EOF)
		if (n > 0 || ended) && p.settle() {
			p.f.setFailure(target, nil)
		}
		if n > 0 && p.write(p.local, buf[:n]) != nil {
			p.fail()
			return
		}
		switch {
		case ended && p.cutOff(target):
			p.fail()
			return
		case ended:
			p.endDownload()
			return
		case err != nil && !p.again(err, pauses.Next()):
			p.fail()
			return
		}
	}
}

// cutOff reports whether what the pod sends has ended because the pod does, as far as can be known.
func (p *pair) cutOff(t Target) bool {
	if p.f.o.Leaving == nil || !p.f.o.Leaving(t) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.clientEnd
}

// read reads from one side, within a bound if there is one.
func (p *pair) read(src net.Conn, buf []byte, bound *atomic.Bool) (int, error) {
	if bound.Load() {
		_ = src.SetReadDeadline(time.Now().Add(p.f.o.HalfOpenTimeout))
	}
	return src.Read(buf)
}

// write writes all of b, for as long as dst takes some of it now and then.
func (p *pair) write(dst net.Conn, b []byte) error {
	for len(b) > 0 {
		_ = dst.SetWriteDeadline(time.Now().Add(p.f.o.WriteTimeout))
		n, err := dst.Write(b)
		if err != nil && (n == 0 || !errors.Is(err, os.ErrDeadlineExceeded) || p.ended.Load()) {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (p *pair) current() (net.Conn, Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.remote, p.target
}

// toPod sends b to the pod and keeps it while it may have to be sent again. An error then does not matter: the side
// that reads from the pod gets to know why, and decides.
func (p *pair) toPod(b []byte) error {
	p.mu.Lock()
	if !p.settled && len(p.sent)+len(b) > replayLimit {
		p.settled, p.sent = true, nil
	}
	settled, remote := p.settled, p.remote
	if !settled {
		p.sent = append(p.sent, b...)
	}
	p.mu.Unlock()
	if err := p.write(remote, b); err != nil && (settled || errors.Is(err, os.ErrDeadlineExceeded)) {
		return err
	}
	return nil
}

// settle ends the time in which the connection can be opened again, and reports whether that time was not over yet.
func (p *pair) settle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.settled
	p.settled, p.sent = true, nil
	return !was
}

// again reopens the connection to the pod, after a pause, if it failed with err before the pod had taken anything.
func (p *pair) again(err error, pause time.Duration) bool {
	p.mu.Lock()
	target := p.target
	idle := len(p.sent) == 0
	possible := !p.settled && !p.ended.Load() && (idle || refused(err)) && !(idle && p.clientEnd) &&
		!errors.Is(err, os.ErrDeadlineExceeded)
	p.mu.Unlock()
	if !possible {
		return false
	}
	p.f.setFailure(target, err)
	if now, retarget := p.f.current(); now != nil && *now == target {
		if !retry.SleepOr(p.ctx, pause, retarget) {
			return false
		}
	}
	remote, target, err := p.f.reach(p.ctx, p.deadline)
	if err != nil {
		return false
	}
	return p.replace(remote, target)
}

// refused reports whether err says that nothing listens on the pod's port.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(err.Error(), "connection refused")
}

// replace switches to another connection to a pod, and sends it what the client has sent.
func (p *pair) replace(remote net.Conn, target Target) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended.Load() || p.settled {
		_ = remote.Close()
		return false
	}
	old := p.remote
	p.remote, p.target = remote, target
	_ = old.Close()
	if p.write(remote, p.sent) != nil {
		return true // reading from it tells why
	}
	if c, ok := remote.(closeWriter); ok && p.clientEnd {
		_ = c.CloseWrite()
	}
	return true
}

type closeWriter interface{ CloseWrite() error }

// endUpload tells the pod that the client sends no more. A pod that cannot be told does not know that it should end,
// and must not keep the connection for ever.
func (p *pair) endUpload() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clientEnd = true
	if c, ok := p.remote.(closeWriter); ok {
		_ = c.CloseWrite()
		return
	}
	bound(&p.boundRemote, p.remote, p.f.o.HalfOpenTimeout)
}

// endDownload tells the client that the pod sends no more. A client that was told may still keep its connection and do
// nothing, which must not last for ever either.
func (p *pair) endDownload() {
	c, ok := p.local.(closeWriter)
	if !ok {
		p.finish()
		return
	}
	if c.CloseWrite() != nil {
		p.fail()
		return
	}
	bound(&p.boundLocal, p.local, p.f.o.HalfOpenTimeout)
}

// bound bounds the reads from src from now on, the one that is under way included.
func bound(flag *atomic.Bool, src net.Conn, d time.Duration) {
	flag.Store(true)
	_ = src.SetReadDeadline(time.Now().Add(d))
}

// finish closes both connections after everything was passed on.
func (p *pair) finish() {
	if p.ended.CompareAndSwap(false, true) {
		p.cancel()
		remote, _ := p.current()
		_ = p.local.Close()
		_ = remote.Close()
	}
}

// fail ends both directions at once. The client sees a reset.
func (p *pair) fail() {
	if p.ended.CompareAndSwap(false, true) {
		p.cancel()
		reset(p.local)
		remote, _ := p.current()
		_ = remote.SetDeadline(time.Unix(1, 0))
		_ = remote.Close()
	}
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}
