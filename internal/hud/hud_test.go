package hud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"github.com/gdamore/tcell/v2"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session is a HUD in a running session.
type session struct {
	t     *testing.T
	scene *hudtest.Scene
	term  tcell.SimulationScreen
	out   bytes.Buffer
	quits int
	stop  func() error
}

// start runs the HUD under a supervisor; it must be called in a bubble of synctest.
func start(t *testing.T, scene *hudtest.Scene, change ...func(*Options)) *session {
	t.Helper()
	logs, err := logstore.New(logstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, scene: scene, term: tcell.NewSimulationScreen("UTF-8")}
	began := time.Now()
	o := Options{Logs: logs, Screen: s.term, Out: &s.out, Stats: scene.Store.Stats(), Quit: func() { s.quits++ },
		Now: func() time.Time { return hudtest.ShopTime.Add(time.Since(began)) }}
	for _, f := range change {
		f(&o)
	}
	sup, err := store.NewSupervisor(scene.Store, slog.New(slog.DiscardHandler), New(o), hudtest.Others{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- sup.Run(ctx) }()
	synctest.Wait()
	s.stop = func() error {
		cancel()
		return errors.Join(<-done, logs.Close())
	}
	return s
}

func (s *session) text() string {
	cells, width, height := s.term.GetContents()
	defer s.term.GetContents() // its lock orders this reading before the next drawing
	var b strings.Builder
	for y := range height {
		for x := range width {
			b.Write(cells[y*width+x].Bytes)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (s *session) shows(want string) {
	s.t.Helper()
	time.Sleep(time.Second) // in a bubble: no real time passes
	synctest.Wait()
	if got := s.text(); !strings.Contains(got, want) {
		s.t.Errorf("the screen does not show %q:\n%s", want, got)
	}
}

func (s *session) press(k tcell.Key, r rune) {
	s.term.InjectKey(k, r, tcell.ModNone)
	synctest.Wait()
}

func TestSessionIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, hudtest.Shop())
		s.shows("waits for worker to be ready")
		s.scene.At(42*time.Minute, state.BuildCompleted{Resource: "worker", Serial: 2, At: hudtest.ShopTime, Mode: "image", Err: "exit 1"})
		s.shows("exit 1")
		s.scene.At(43*time.Minute, state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev", Namespace: "default"}, Err: "connection refused"})
		s.shows("cluster kind-dev does not answer  connection refused")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if want := "worker  update failed: exit 1\n"; !strings.Contains(s.out.String(), want) {
			t.Errorf("the summary lacks %q:\n%s", want, s.out.String())
		}
	})
}

func TestTriggerIsDispatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, hudtest.Shop())
		s.shows("handler.go")
		s.press(tcell.KeyDown, 0) // the heading of its group
		s.press(tcell.KeyDown, 0)
		s.press(tcell.KeyRune, 't')
		if u := state.Updates.In(s.scene.Store.Snapshot().All()).Value("api"); u.Triggered.IsZero() {
			t.Error("api was not triggered")
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestQuit checks that the summary shows the state that the user saw when quitting, not the state after stopping.
func TestQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, hudtest.Shop())
		s.shows("handler.go")
		s.press(tcell.KeyCtrlC, 0)
		if s.quits != 1 {
			t.Errorf("quit %d times", s.quits)
		}
		s.shows("stopping…")
		s.scene.At(42*time.Minute, state.BuildCompleted{Resource: "worker", Serial: 2, At: hudtest.ShopTime, Err: "killed"})
		s.shows("killed")
		s.press(tcell.KeyCtrlC, 0) // leaves the screen; the session continues until it has stopped
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if got := s.out.String(); strings.Contains(got, "killed") || !strings.HasPrefix(got, "6 ok, 1 updating, 1 waiting, 1 failed\n  mailer  runtime failed: ") {
			t.Errorf("summary:\n%s", got)
		}
	})
}

func TestLostTerminalQuits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, hudtest.Shop())
		if err := s.term.PostEvent(tcell.NewEventError(errors.New("input/output error"))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s.quits != 1 {
			t.Errorf("quit %d times", s.quits)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestOpenBrowserRefusesWhatIsNoWebAddress(t *testing.T) {
	for _, address := range []string{"", "file:///etc/passwd", "javascript:alert(1)", "vscode://x", "http://", "-h"} {
		if err := OpenBrowser(t.Context(), address); err == nil {
			t.Errorf("%q was opened", address)
		}
	}
}

// TestOpenBrowserRuns uses a fake browser.
func TestOpenBrowserRuns(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is an xdg-open on Linux only")
	}
	dir := t.TempDir()
	seen := dir + "/seen"
	script := "#!/bin/sh\necho \"$1\" > " + seen + ".new\nmv " + seen + ".new " + seen + "\n"
	if err := os.WriteFile(dir+"/xdg-open", []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if err := OpenBrowser(t.Context(), "http://localhost:8080/?a=b&c=$(id)"); err != nil {
		t.Fatal(err)
	}
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		if got, err := os.ReadFile(seen); err == nil {
			if string(got) != "http://localhost:8080/?a=b&c=$(id)\n" {
				t.Errorf("opened %q", got)
			}
			return
		}
		select {
		case <-look.C:
		case <-deadline.C:
			t.Fatal("the browser was not started")
		}
	}
}

// ptyTerminal opens the slave side of a new pseudo terminal, and returns the output read from its master side so far.
func ptyTerminal(t *testing.T) (screen.Terminal, *os.File, <-chan string) {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("LANG", "C.UTF-8")
	t.Setenv("LC_ALL", "C.UTF-8")
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 34, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	side := pollable(t, master)
	tty, err := tcell.NewDevTtyFromDev(slave.Name())
	if err != nil {
		t.Fatal(err)
	}
	term, err := tcell.NewTerminfoScreenFromTty(tty)
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan string, 1000)
	t.Cleanup(func() {
		_ = slave.Close()
		_ = side.Close()
		for range written {
		}
	})
	go func() {
		defer close(written)
		buf := make([]byte, 64<<10)
		for {
			n, err := side.Read(buf)
			if n > 0 {
				written <- string(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return term, side, written
}

// pollable replaces a file by one whose reads end when it is closed.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

// await reads until the text was written.
func await(t *testing.T, written <-chan string, want string) (all string) {
	t.Helper()
	timeout := time.NewTimer(20 * time.Second)
	defer timeout.Stop()
	for !strings.Contains(all, want) {
		select {
		case s, ok := <-written:
			if !ok {
				t.Fatalf("the terminal was closed before %q came:\n%q", want, all)
			}
			all += s
		case <-timeout.C:
			t.Fatalf("%q was not written:\n%q", want, all)
		}
	}
	return all
}

// TestRealTerminalIsRestored runs on a pseudo terminal, as a user would see it.
func TestRealTerminalIsRestored(t *testing.T) {
	const enter, leave = "\x1b[?1049h", "\x1b[?1049l"
	for _, tt := range []struct {
		name string
		end  func(cancel func(), keys io.Writer)
	}{
		{"context ends", func(cancel func(), _ io.Writer) { cancel() }},
		{"user quits", func(_ func(), keys io.Writer) { fmt.Fprint(keys, "\x03") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			term, master, written := ptyTerminal(t)
			logs, err := logstore.New(logstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer logs.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var out bytes.Buffer
			scene := hudtest.Shop()
			h := New(Options{Logs: logs, Screen: term, Out: &out, Quit: cancel})
			sup, err := store.NewSupervisor(scene.Store, slog.New(slog.DiscardHandler), h, hudtest.Others{})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- sup.Run(ctx) }()
			if first := await(t, written, "mailer"); !strings.Contains(first, enter) {
				t.Errorf("no alternate screen in %q", first)
			}
			tt.end(cancel, master)
			await(t, written, leave)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if !strings.Contains(out.String(), "mailer") {
				t.Errorf("summary %q", out.String())
			}
		})
	}
}
