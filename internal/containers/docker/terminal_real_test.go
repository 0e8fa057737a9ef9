package docker_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
)

// transcript is the output that a terminal has shown. Any goroutine may use it.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// waits waits until the terminal has shown a text the given number of times. Meanwhile it keeps calling ask.
func (t *transcript) waits(tb testing.TB, text string, times int, ask func()) {
	tb.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	deadline := time.After(30 * time.Second)
	for {
		t.mu.Lock()
		shown := t.text.String()
		t.mu.Unlock()
		if strings.Count(shown, text) >= times {
			return
		}
		ask()
		select {
		case <-look.C:
		case <-deadline:
			tb.Fatalf("the terminal does not show %q:\n%q", text, shown)
		}
	}
}

// TestEngineTerminal uses a terminal in a container: its size follows, keys go to it one by one, and interrupts reach the program.
func TestEngineTerminal(t *testing.T) {
	e := dockertest.Real(t)
	id := realContainer(t, e, nil)
	r, in := io.Pipe()
	defer r.Close()
	shown, sizes, ended := &transcript{}, make(chan terminal.Extent, 1), make(chan error, 1)
	sizes <- terminal.Extent{Columns: 100, Rows: 30}
	go func() {
		ended <- e.ExecTerminal(t.Context(), id, []string{"sh"}, docker.Terminal{In: r, Out: shown, Sizes: sizes})
	}()
	types := func(s string) func() {
		return func() {
			if _, err := io.WriteString(in, s); err != nil {
				t.Fatal(err)
			}
		}
	}
	types("stty size\n")()
	shown.waits(t, "\r\n30 100\r\n", 1, func() {}) // keys are answered in a terminal that has its size
	sizes <- terminal.Extent{Columns: 61, Rows: 17}
	shown.waits(t, "\r\n17 61\r\n", 1, types("stty size\n"))
	types("echo la$((1+1))st\n")()
	shown.waits(t, "\r\nla2st\r\n", 1, func() {})
	types("\x10")() // Ctrl-P shows the last command at once: the engine does not wait for a second key
	shown.waits(t, "echo la$((1+1))st", 2, func() {})
	// The shell shows the end of a line before it gives the terminal back to programs: an interrupt before that is a key like others.
	types("\x03sh -c 'echo sle$((1+1))ps; exec sleep 1000'\n")()
	shown.waits(t, "\r\nsle2ps\r\n", 1, func() {})
	types("\x03exit 7\n")()
	if err := <-ended; fmt.Sprint(err) != fmt.Sprint(&docker.ExitError{Code: 7}) {
		t.Errorf("the shell ended with %v", err)
	}
}
