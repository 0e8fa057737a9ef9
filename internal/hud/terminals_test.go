package hud

import (
	"context"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// attachable is a session to which terminals attach. It runs in real time, because the time of a synctest bubble stands still
// while a goroutine waits for a lock that another goroutine holds, as happens with a slow terminal.
type attachable struct {
	t     *testing.T
	scene *hudtest.Scene
	hud   *Terminals
	// stop ends the session, and waits for it.
	stop func()
}

func newAttachable(t *testing.T) *attachable {
	t.Helper()
	logs, err := logstore.New(logstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := &attachable{t: t, scene: hudtest.Shop(), hud: NewTerminals(TerminalsOptions{Logs: logs, Session: "shop"})}
	sup, err := store.NewSupervisor(a.scene.Store, slog.New(slog.DiscardHandler), a.hud, hudtest.Others{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- sup.Run(ctx) }()
	a.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := logs.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(a.stop)
	return a
}

// client is the other end of an attached terminal.
type client struct {
	*terminal.Conn
	t     *testing.T
	done  chan struct{} // closed when the session has released the connection
	shown strings.Builder
}

// attach opens a terminal that is not read yet.
func (a *attachable) attach(term string, columns, rows int) *client {
	a.t.Helper()
	near, far := net.Pipe()
	c := &client{Conn: terminal.NewConn(near), t: a.t, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		_ = a.hud.Attach(a.t.Context(), far)
		_ = far.Close()
	}()
	a.t.Cleanup(func() {
		_ = c.Close()
		<-c.done
	})
	if err := c.SendHello(terminal.Description{Term: term, Columns: columns, Rows: rows, UTF8: true, NoColor: true}); err != nil {
		a.t.Fatal(err)
	}
	return c
}

// moves matches the cursor movements that replace blanks between words.
var moves, codes = regexp.MustCompile("\x1b\\[[0-9;]*H"), regexp.MustCompile("\x1b(\\[[0-9;?>]*[a-zA-Z]|\\(B)")

// plain is what was drawn since the last call of shows, without colours.
func (c *client) plain() string {
	return codes.ReplaceAllString(moves.ReplaceAllString(c.shown.String(), " "), "")
}

// shows reads until all texts were drawn since the last call, in any order.
func (c *client) shows(want ...string) {
	c.t.Helper()
	for _, w := range want {
		for !strings.Contains(c.plain(), w) {
			f, err := c.Next()
			if err != nil || f.Kind == terminal.End {
				c.t.Fatalf("%v %q before %q was shown:\n%q", err, f.Content, w, c.plain())
			}
			c.shown.Write(f.Content)
		}
	}
	c.shown.Reset()
}

// types sends keys.
func (c *client) types(keys string) {
	c.t.Helper()
	if err := c.Send(terminal.Text, []byte(keys)); err != nil {
		c.t.Fatal(err)
	}
}

// ends reads to the end, and checks that the terminal was restored and which message the user gets after that.
func (c *client) ends(want string) {
	c.t.Helper()
	for {
		f, err := c.Next()
		if err != nil {
			c.t.Fatalf("%v before the end", err)
		}
		if f.Kind == terminal.End {
			if string(f.Content) != want {
				c.t.Errorf("the last message is %q, want %q", f.Content, want)
			}
			break
		}
		c.shown.Write(f.Content)
	}
	if last := c.shown.String(); !strings.Contains(last, "\x1b[?1049l") || !strings.Contains(last, "\x1b[?25h") {
		c.t.Errorf("the terminal was not restored: %q", last)
	}
}

// TestTerminals attaches terminals of different sizes and kinds: each has its own selection and pages, and leaves alone.
func TestTerminals(t *testing.T) {
	a := newAttachable(t)
	one, two := a.attach("xterm-256color", 120, 34), a.attach("screen", 80, 24)
	one.shows("waits for worker to be ready", "detach")
	two.shows("worker", "detach")

	one.types("?")
	one.shows("IN THE TABLE", "leave this screen; the session keeps running")
	one.types("q") // closes the help
	one.shows("NAME")

	two.types("\x1b[B\x1b[Bt")
	two.shows("api will be updated")
	wake, done := a.scene.Store.Watch()
	for state.Updates.In(a.scene.Store.Snapshot().All()).Value("api").Triggered.IsZero() {
		<-wake // the screen confirms the request before the store has it
	}
	done()
	if err := two.SendSize(140, 30); err != nil {
		t.Fatal(err)
	}
	two.shows(strings.Repeat("─", 140))

	one.types("q")
	one.ends("Detached from session shop, which keeps running.")
	<-one.done
	two.types("\x03")
	two.ends("Detached from session shop, which keeps running.")
	three := a.attach("xterm-256color", 100, 30)
	three.shows("worker")
	go a.stop()
	three.ends("Session shop is over.")
}

// TestSlowTerminal attaches a terminal whose client does not read: neither the session nor other terminals nor the end of the
// session wait for it.
func TestSlowTerminal(t *testing.T) {
	a := newAttachable(t)
	a.attach("xterm-256color", 120, 34)
	one := a.attach("xterm-256color", 120, 34)
	one.shows("waits for worker to be ready")
	for i := range 4 * 26 {
		a.scene.At(time.Duration(i)*time.Minute, state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev"}, Err: strings.Repeat(string(rune('a'+i%26)), 8)})
	}
	one.shows("zzzzzzzz")
	go a.stop() // waits only for the screens, which stop waiting for a client that does not read
	one.ends("Session shop is over.")
}

// TestTerminalGoesAway closes one connection without notice, and sends nonsense over another.
func TestTerminalGoesAway(t *testing.T) {
	a := newAttachable(t)
	one, two := a.attach("xterm", 120, 34), a.attach("xterm", 80, 24)
	one.shows("worker")
	_ = one.Close()
	<-one.done
	two.shows("worker")
	two.types(strings.Repeat("\x1b[<nonsense\xff\xfe\x00;;;~", 100))
	_ = two.Close()
	<-two.done
	a.attach("xterm", 80, 24).shows("worker")
}

func TestUnknownTerminal(t *testing.T) {
	c := newAttachable(t).attach("no-such-terminal", 80, 24)
	f, err := c.Next()
	if err != nil || f.Kind != terminal.End || !strings.Contains(string(f.Content), "TERM=no-such-terminal") {
		t.Errorf("%v, %q", err, f.Content)
	}
}
