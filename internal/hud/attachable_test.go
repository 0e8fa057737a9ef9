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
	hudtest.ShopLogs(logs)
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
	a.until(func(v store.View) bool { return state.Updates.In(v).Value("worker").Current != nil }) // the story of the shop is over
	return a
}

// until waits until the store's state satisfies ok.
func (a *attachable) until(ok func(store.View) bool) {
	a.t.Helper()
	wake, done := a.scene.Store.Watch()
	defer done()
	over := time.After(patience)
	for !ok(a.scene.Store.Snapshot().All()) {
		select {
		case <-wake:
		case <-over:
			a.t.Fatal("the store does not come to what the test waits for")
		}
	}
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
	return a.attachAs(terminal.Description{Term: term, Columns: columns, Rows: rows, UTF8: true, NoColor: true, Programs: true, Suspends: true})
}

func (a *attachable) attachAs(d terminal.Description) *client {
	a.t.Helper()
	return a.connect(d, false)
}

func (a *attachable) connect(d terminal.Description, readOnly bool) *client {
	a.t.Helper()
	near, remote := net.Pipe()
	if err := near.SetReadDeadline(time.Now().Add(patience)); err != nil {
		a.t.Fatal(err)
	}
	c := &client{Conn: terminal.NewConn(near), t: a.t, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		_ = a.hud.Attach(a.t.Context(), remote, readOnly)
		_ = remote.Close()
	}()
	a.t.Cleanup(func() {
		_ = c.Close()
		<-c.done
	})
	if err := c.SendHello(d); err != nil {
		a.t.Fatal(err)
	}
	return c
}

// moves matches the cursor movements that replace blanks between words.
var moves, codes = regexp.MustCompile("\x1b\\[[0-9;]*H"), regexp.MustCompile("\x1b(\\[[0-9;?>]*[a-zA-Z]|\\(B)")

// plain is the text that was drawn since the last call of shows, without colours.
func (c *client) plain() string {
	return codes.ReplaceAllString(moves.ReplaceAllString(c.shown.String(), " "), "")
}

// patience is the life of a terminal in a test: after it, reading fails, and so does the test, with the text that was read so
// remote.
const patience = time.Minute

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

// lent reads until the session has restored the terminal and asked for a program, and returns that request.
func (c *client) lent() (kind terminal.Kind, path string, line int) {
	c.t.Helper()
	for {
		f, err := c.Next()
		if err != nil {
			c.t.Fatalf("%v before a program was asked for:\n%q", err, c.plain())
		}
		if f.Kind == terminal.Text {
			c.shown.Write(f.Content)
			continue
		}
		if shown := c.shown.String(); strings.LastIndex(shown, "\x1b[?1049l") < strings.LastIndex(shown, "\x1b[?1049h") || !strings.Contains(shown, "\x1b[?25h") {
			c.t.Errorf("the terminal was not restored: %q", shown)
		}
		c.shown.Reset()
		if f.Kind != terminal.Rest {
			path, line = f.Place()
		}
		return f.Kind, path, line
	}
}

// ends reads to the end, and checks that the terminal was restored, and the message that the user then gets.
func (c *client) ends(want string) {
	c.t.Helper()
	if got := c.last(); got != want {
		c.t.Errorf("the last message is %q, want %q", got, want)
	}
}

// last reads to the end, checks that the terminal was restored, and returns the message that the user gets after that.
func (c *client) last() string {
	c.t.Helper()
	for {
		f, err := c.Next()
		if err != nil {
			c.t.Fatalf("%v before the end:\n%q", err, c.plain())
		}
		if f.Kind == terminal.End {
			if shown := c.shown.String(); !strings.Contains(shown, "\x1b[?1049l") || !strings.Contains(shown, "\x1b[?25h") {
				c.t.Errorf("the terminal was not restored: %q", shown)
			}
			return string(f.Content)
		}
		c.shown.Write(f.Content)
	}
}

// over reads the last message. Nothing may come before it.
func (c *client) over(want string) {
	c.t.Helper()
	if f, err := c.Next(); err != nil || f.Kind != terminal.End || string(f.Content) != want {
		c.t.Errorf("%v, %q %q, want the end with %q", err, f.Kind, f.Content, want)
	}
}

// commanded reads until the session asks for a command.
func (c *client) commanded() terminal.Request {
	c.t.Helper()
	for {
		f, err := c.Next()
		if err != nil {
			c.t.Fatalf("%v before a command was asked for:\n%q", err, c.plain())
		}
		if f.Kind != terminal.Command {
			c.shown.Write(f.Content)
			continue
		}
		r, err := f.Request()
		if err != nil {
			c.t.Fatal(err)
		}
		return r
	}
}

// awaits reads until the session has sent some bytes since the last call.
func (c *client) awaits(want string) {
	c.t.Helper()
	for !strings.Contains(c.shown.String(), want) {
		f, err := c.Next()
		if err != nil || f.Kind == terminal.End {
			c.t.Fatalf("%v %q before %q was sent", err, f.Content, want)
		}
		c.shown.Write(f.Content)
	}
	c.shown.Reset()
}
