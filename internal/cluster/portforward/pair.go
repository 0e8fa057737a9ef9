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

// replayLimit bounds the bytes of a client's data that are kept until the pod answers.
const replayLimit = 64 << 10

// pair is a connection between a client and a pod.
//
// Until the pod has sent something, the client's data is kept. If it turns out that the pod has not received any of it,
// because nothing listens on the port or the pod had gone before anything was sent, the connection is opened again to
// the pod that is current then. A client that can wait does not notice the restart of an app.
type pair struct {
	f        *Forward
	ctx      context.Context // ends with the connection
	cancel   context.CancelFunc
	deadline time.Time // for reaching a pod
	local    net.Conn

	// Reads from a side are bounded by HalfOpenTimeout once the other side has ended, if the first may not notice that
	// end.
	boundLocal, boundRemote atomic.Bool
	ended                   atomic.Bool // both connections are closed, or being closed

	mu        sync.Mutex
	remote    net.Conn
	target    Target
	sent      []byte // the client's data, while it can be sent again
	settled   bool   // the connection will not be opened again
	clientEnd bool   // the client has closed its sending side
}

// run copies in both directions until both have ended or one has failed.
func (p *pair) run() {
	var wg sync.WaitGroup
	wg.Go(p.upload)
	wg.Go(p.download)
	wg.Wait()
	p.finish()
}

// upload copies the client's data to the pod.
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

// download copies the pod's data to the client, and reopens the connection if necessary.
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

// cutOff reports whether the pod's data probably ended because the pod is being stopped.
func (p *pair) cutOff(t Target) bool {
	if p.f.o.Leaving == nil || !p.f.o.Leaving(t) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.clientEnd
}

// read reads from one side, with a time limit if bound is set.
func (p *pair) read(src net.Conn, buf []byte, bound *atomic.Bool) (int, error) {
	if bound.Load() {
		_ = src.SetReadDeadline(time.Now().Add(p.f.o.HalfOpenTimeout))
	}
	return src.Read(buf)
}

// write writes all of b. It fails when dst accepts nothing for WriteTimeout.
func (p *pair) write(dst net.Conn, b []byte) error {
	for len(b) > 0 {
		_ = dst.SetWriteDeadline(time.Now().Add(p.f.o.WriteTimeout))
		n, err := dst.Write(b)
		slow := n > 0 && errors.Is(err, os.ErrDeadlineExceeded)
		if err != nil && (!slow || p.ended.Load()) {
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

// toPod sends b to the pod and keeps it while it may have to be sent again. In that time it ignores errors: download
// sees the error as well, and decides.
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

// settle ends the time in which the connection can be reopened. It returns false if that time was already over.
func (p *pair) settle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.settled
	p.settled, p.sent = true, nil
	return !was
}

// again reopens the connection to the pod, after a pause, if it failed with err before the pod had received anything. A program that
// resets a connection has answered it.
func (p *pair) again(err error, pause time.Duration) bool {
	p.mu.Lock()
	target := p.target
	idle := len(p.sent) == 0
	open := !p.settled && !p.ended.Load()
	received := !idle && !refused(err)
	done := idle && p.clientEnd // the client wanted nothing
	p.mu.Unlock()
	possible := open && !received && !done && !errors.Is(err, os.ErrDeadlineExceeded)
	byProgram := strings.Contains(err.Error(), "the program reset the connection")
	if possible || byProgram {
		p.f.setFailure(target, err)
	}
	if !possible || byProgram {
		return false
	}
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

// refused reports whether err means that nothing listens on the pod's port.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(err.Error(), "connection refused")
}

// replace switches to another connection to a pod, and sends the client's data on it.
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
		return true // reading from it returns the reason
	}
	if c, ok := remote.(closeWriter); ok && p.clientEnd {
		_ = c.CloseWrite()
	}
	return true
}

type closeWriter interface{ CloseWrite() error }

// endUpload closes the stream to the pod. If the connection cannot do that, the pod does not notice the end, and must
// not keep the connection open forever.
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

// endDownload closes the stream to the client. The client may still keep its connection open without using it, which
// must not last forever either.
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

// bound limits the time of all reads from src from now on, including the current one.
func bound(flag *atomic.Bool, src net.Conn, d time.Duration) {
	flag.Store(true)
	_ = src.SetReadDeadline(time.Now().Add(d))
}

// finish closes both connections after all data was copied.
func (p *pair) finish() {
	if p.ended.CompareAndSwap(false, true) {
		p.cancel()
		remote, _ := p.current()
		_ = p.local.Close()
		_ = remote.Close()
	}
}

// fail ends both directions immediately. The client sees a reset.
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
