package screen

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// wire is a terminal that keeps everything that is written to it, and whose user types the text that is sent.
type wire struct {
	typed   chan string
	drained chan struct{}
	// trip is the time that the terminal takes to report that it has shown the output; silent if it never does.
	trip   time.Duration
	silent bool

	mu      sync.Mutex
	written bytes.Buffer
	frames  int // writes that are longer than a question
}

func newWire() *wire { return &wire{typed: make(chan string, 10), drained: make(chan struct{})} }

func (w *wire) Start() error        { return nil }
func (w *wire) Stop() error         { return nil }
func (w *wire) Drain() error        { close(w.drained); return nil }
func (w *wire) NotifyResize(func()) {}
func (w *wire) Close() error        { return nil }

func (w *wire) WindowSize() (tcell.WindowSize, error) {
	return tcell.WindowSize{Width: 120, Height: 34}, nil
}

func (w *wire) Read(p []byte) (int, error) {
	select {
	case s := <-w.typed:
		return copy(p, s), nil
	case <-w.drained:
		return 0, io.EOF
	}
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(p) > 20 {
		w.frames++
	}
	if strings.Contains(string(p), askStatus) && !w.silent {
		time.AfterFunc(w.trip, func() {
			select {
			case w.typed <- statusAnswer:
			case <-w.drained:
			}
		})
	}
	return w.written.Write(p)
}

// take returns the output since the last call.
func (w *wire) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.written.String()
	w.written.Reset()
	return s
}

// on runs a screen on a wire to a terminal with abilities.
func on(t *testing.T, w *wire, term string, about terminal.Description, change ...func(*driver, *Options)) *driver {
	t.Helper()
	known, err := tcell.LookupTerminfo(term)
	if err != nil {
		t.Fatal(err)
	}
	info := unpadded(known)
	if !info.TrueColor {
		info.SetFgRGB, info.SetBgRGB = "\x1b[38;2;%p1%d;%p2%d;%p3%dm", "\x1b[48;2;%p1%d;%p2%d;%p3%dm"
		info.SetFgBgRGB = "\x1b[38;2;%p1%d;%p2%d;%p3%d;48;2;%p4%d;%p5%d;%p6%dm"
	}
	about.Term = term
	screen, err := tcell.NewTerminfoScreenFromTtyTerminfo(newOutlet(w, about.Abilities()), info)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, shop(t), newTerminal("UTF-8", 120, 34), append(change, func(_ *driver, o *Options) { o.Terminal, o.About = screen, about })...)
}

// The colour of a status that is well: the terminal's green, the dark theme's, and the light theme's.
const ownGood, darkGood, lightGood = "\x1b[32m", "\x1b[38;2;126;201;126m", "\x1b[38;2;26;112;48m"

// TestBackgroundIsFollowed: the first frame does not wait for the terminal's answer, which then gives the colours; keys that
// are typed before and after it count; and when the terminal changes its colours, so does the screen.
func TestBackgroundIsFollowed(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		d := on(t, w, "xterm-256color", terminal.Description{})
		first := w.take()
		if !strings.Contains(first, askBackground) || !strings.Contains(first, followColours) {
			t.Errorf("the terminal was not asked: %q", first[:min(300, len(first))])
		}
		if !strings.Contains(first, ownGood) || strings.Contains(first, darkGood) {
			t.Error("the first frame is not in the terminal's own colours")
		}
		w.typed <- "?\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b"
		d.after(time.Second)
		if got := w.take(); !strings.Contains(got, darkGood) || !strings.Contains(got, "HERE") {
			t.Errorf("the colours for a dark background or the help are missing: %v %v", strings.Contains(got, darkGood), strings.Contains(got, "HERE"))
		}
		w.typed <- "\x1b[?997;2n"
		d.after(time.Second)
		got := w.take()
		if !strings.Contains(got, lightGood) || !strings.Contains(got, askBackground) {
			t.Errorf("the colours did not follow those of the terminal")
		}
		w.typed <- "\x1b]11;rgb:0000/0000/0000\x1b\\" // the background is dark anyway
		d.after(time.Second)
		if got := w.take(); !strings.Contains(got, darkGood) {
			t.Errorf("the preference counts more than the background")
		}
		if err := d.stop(); err != nil {
			t.Error(err)
		}
		if end := w.take(); !strings.Contains(end, leaveColours) || strings.Contains(end, askBackground) {
			t.Errorf("the end: %q", end)
		}
	})
}

// TestAnswerOfAnEndingScreen: a screen that ends before the answer has come waits for it, but not long.
func TestAnswerOfAnEndingScreen(t *testing.T) {
	for _, answers := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWire()
			d := on(t, w, "xterm-256color", terminal.Description{})
			began := time.Now()
			if answers {
				time.AfterFunc(answerTime/2, func() { w.typed <- "\x1b]11;rgb:0/0/0\x1b\\" })
			}
			if err := d.stop(); err != nil {
				t.Error(err)
			}
			took := time.Since(began)
			if answers && len(w.typed) > 0 {
				t.Error("the answer was not read")
			}
			if took > answerTime+frameTime || !answers && took < answerTime-frameTime {
				t.Errorf("the end took %v", took)
			}
		})
	}
}

// TestOldTerminals: a terminal that would show questions as text gets none.
func TestOldTerminals(t *testing.T) {
	for _, term := range []string{"linux", "screen-256color"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWire()
			d := on(t, w, term, terminal.Description{})
			d.after(time.Second)
			if err := d.stop(); err != nil {
				t.Error(err)
			}
			got := w.take()
			for _, s := range []string{askBackground, followColours, leaveColours, linkStart} {
				if strings.Contains(got, s) {
					t.Errorf("%s gets %q", term, s)
				}
			}
		})
	}
}

// TestNoColourButTheirs: tcell shows no colours if the session's process has NO_COLOR, and reverses text in a dark one. The
// screen then uses none.
func TestNoColourButTheirs(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		d := on(t, w, "xterm-256color", terminal.Description{})
		w.typed <- "\x1b]11;rgb:0/0/0\x1b\\"
		d.after(time.Second)
		if err := d.stop(); err != nil {
			t.Error(err)
		}
		got := w.take()
		if strings.Contains(got, ownGood) || strings.Contains(got, darkGood) {
			t.Error("there are colours")
		}
		if !strings.Contains(got, "\x1b[1mcrash loop") {
			t.Errorf("what fails is not just bold")
		}
	})
}

// failing is a terminal that cannot be written to.
type failing struct{ *wire }

func (failing) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestLinksEnd(t *testing.T) {
	open := "\x1b]8;;http://localhost:8080\x1b\\8080"
	for in, want := range map[string]string{
		"text":                         "text",
		open:                           open + linkEnd,
		open + linkEnd + "more":        open + linkEnd + "more",
		open + linkEnd + open:          open + linkEnd + open + linkEnd,
		"\x1b]8;id=1;file:///x\x1b\\x": "\x1b]8;id=1;file:///x\x1b\\x" + linkEnd,
	} {
		w := newWire()
		o := newOutlet(w, terminal.Abilities{})
		if n, err := o.Write([]byte(in)); n != len(in) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if got := w.take(); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	if _, err := newOutlet(failing{newWire()}, terminal.Abilities{}).Write([]byte(open)); err == nil {
		t.Error("no error")
	}
}

// TestNoPauses draws on a vt100 without the pauses that its description asks for, which are 50 ms for each time it is cleared.
func TestNoPauses(t *testing.T) {
	known, err := tcell.LookupTerminfo("vt100")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		info, began := unpadded(known), time.Now()
		info.TPuts(&out, info.Clear)
		if took := time.Since(began); took > 0 || out.String() != "\x1b[H\x1b[J" {
			t.Errorf("%q after %s", out.String(), took)
		}
		began = time.Now()
		known.TPuts(&out, known.Clear)
		if time.Since(began) == 0 {
			t.Error("the description has no pauses any more: unpadded is not needed")
		}
	})
}
