package screen

import (
	"bytes"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// Remote returns a terminal at the other end of a connection. Its type depends only on the client's environment, except that its
// character set must be supported by both the client and the session. The connection stays open after the screen has ended.
func Remote(remote *terminal.Remote) (Terminal, error) {
	info, err := describe(remote.Description)
	if err != nil {
		return nil, err
	}
	tty := &remoteTTY{remote: remote, quiet: make(chan struct{}, 1)}
	term, err := tcell.NewTerminfoScreenFromTtyTerminfo(newOutlet(tty, remote.Description.Abilities()), info)
	if err != nil {
		return nil, unusable(err)
	}
	term = &farScreen{term, tty}
	if !remote.Description.UTF8 {
		return asciiOnly{term}, nil
	}
	return term, nil
}

// farScreen is a terminal whose suspension is not its end.
type farScreen struct {
	Terminal
	tty *remoteTTY
}

// Suspend implements tcell.Screen.
func (s *farScreen) Suspend() error {
	s.tty.park()
	return s.Terminal.Suspend()
}

// describe returns a copy of tcell's description of a terminal type, without pauses. It is a copy because tcell writes to it.
func describe(d terminal.Description) (*terminfo.Terminfo, error) {
	tcellGlobals.Lock()
	defer tcellGlobals.Unlock()
	tcell.SetEncodingFallback(tcell.EncodingFallbackASCII)
	known, err := tcell.LookupTerminfo(d.Term)
	if err != nil {
		return nil, unusable(fmt.Errorf("TERM=%s: %w", d.Term, err))
	}
	info := unpadded(known)
	if !info.TrueColor {
		// tcell has used the environment of this process, not the client's.
		info.SetFgRGB, info.SetBgRGB, info.SetFgBgRGB = "", "", ""
		if trueColor(d.ColorTerm) {
			info.SetFgRGB = "\x1b[38;2;%p1%d;%p2%d;%p3%dm"
			info.SetBgRGB = "\x1b[48;2;%p1%d;%p2%d;%p3%dm"
			info.SetFgBgRGB = "\x1b[38;2;%p1%d;%p2%d;%p3%d;48;2;%p4%d;%p5%d;%p6%dm"
		}
	}
	return info, nil
}

// trueColor reports whether COLORTERM announces 24-bit colour.
func trueColor(colorterm string) bool {
	return colorterm == "truecolor" || colorterm == "24bit" || colorterm == "24-bit"
}

// asciiOnly is a terminal that shows only ASCII, although tcell could send it more.
type asciiOnly struct{ Terminal }

// CharacterSet implements tcell.Screen.
func (asciiOnly) CharacterSet() string { return "US-ASCII" }

// remoteTTY adapts a remote terminal to tcell's interface.
type remoteTTY struct {
	remote *terminal.Remote
	// quiet has a value when the reader waits in Read, or has received an error.
	quiet chan struct{}
	mu    sync.Mutex
	// drained is set from the beginning of a suspension until Drain, which closes it.
	drained chan struct{}
	// partial is the beginning of a character whose rest has not arrived yet. Only the reader uses it.
	partial []byte
}

var _ tcell.Tty = (*remoteTTY)(nil)

// mouthful is the number of bytes per read. tcell queues several reads, and cannot end while more events are pending than its
// queue has room for.
const mouthful = 8

// Start implements tcell.Tty. The client has already prepared its terminal.
func (t *remoteTTY) Start() error {
	t.partial = nil
	select {
	case <-t.quiet:
	default:
	}
	t.remote.Resume()
	return nil
}

// Stop implements tcell.Tty.
func (*remoteTTY) Stop() error { return nil }

// Drain implements tcell.Tty. The screen is about to be suspended or to end: from now on, nothing may wait long for the client.
func (t *remoteTTY) Drain() error {
	if drained := t.suspension(nil); drained != nil {
		close(drained)
	} else {
		t.remote.Finish()
	}
	return nil
}

// park keeps the reader in Read until Drain. tcell's queues can then empty: it cannot suspend while its reader waits for room.
func (t *remoteTTY) park() {
	t.suspension(make(chan struct{}))
	t.remote.Pause()
	<-t.quiet
}

// suspension replaces drained and returns its old value.
func (t *remoteTTY) suspension(c chan struct{}) (old chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old, t.drained = t.drained, c
	return old
}

// failed is called by the reader with an error. It returns when the error may be reported.
func (t *remoteTTY) failed() {
	t.mu.Lock()
	drained := t.drained
	t.mu.Unlock()
	select {
	case t.quiet <- struct{}{}:
	default:
	}
	if drained != nil {
		<-drained
	}
}

// NotifyResize implements tcell.Tty.
func (t *remoteTTY) NotifyResize(do func()) { t.remote.OnResize(do) }

// WindowSize implements tcell.Tty.
func (t *remoteTTY) WindowSize() (tcell.WindowSize, error) {
	columns, rows := t.remote.Size()
	return tcell.WindowSize{Width: columns, Height: rows}, nil
}

// Read implements tcell.Tty. It passes on valid characters only, because tcell would try to decode anything else forever.
func (t *remoteTTY) Read(p []byte) (int, error) {
	for {
		p = p[:min(len(p), mouthful)]
		had := copy(p, t.partial)
		n, err := t.remote.Read(p[had:])
		if err != nil {
			t.failed()
			return 0, err
		}
		var kept int
		kept, t.partial = characters(p[:had+n])
		if kept > 0 {
			return kept, nil
		}
	}
}

// characters moves the complete characters in b to its beginning, and returns their length in bytes and a copy of an
// incomplete character at the end.
func characters(b []byte) (kept int, partial []byte) {
	for i := 0; i < len(b); {
		if !utf8.FullRune(b[i:]) {
			return kept, bytes.Clone(b[i:])
		}
		r, size := utf8.DecodeRune(b[i:])
		if r != utf8.RuneError || size > 1 {
			kept += copy(b[kept:], b[i:i+size])
		}
		i += size
	}
	return kept, nil
}

// Write implements tcell.Tty.
func (t *remoteTTY) Write(p []byte) (int, error) { return t.remote.Write(p) }

// Close implements tcell.Tty. The connection does not belong to the screen.
func (*remoteTTY) Close() error { return nil }
