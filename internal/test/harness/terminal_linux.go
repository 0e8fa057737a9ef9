package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A screen asks after each frame whether the terminal has shown it.
const (
	askStatus    = "\x1b[5n"
	statusAnswer = "\x1b[0n"
)

// Terminal is a terminal in which one program runs. It answers at once that it has shown everything.
type Terminal struct {
	// near is the side of the person, far the side of the program.
	near, far *os.File
	seen      chan []byte
	ended     chan struct{}
}

// OpenTerminal opens a terminal with a number of columns and rows. The caller closes it.
func OpenTerminal(columns, rows uint16) (*Terminal, error) {
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	far, err := farSide(near, columns, rows)
	if err != nil {
		_ = near.Close()
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	t := &Terminal{near: near, far: far, seen: make(chan []byte, 1024), ended: make(chan struct{})}
	go t.pump()
	return t, nil
}

func farSide(near *os.File, columns, rows uint16) (*os.File, error) {
	conn, err := near.SyscallConn()
	if err != nil {
		return nil, err
	}
	var number int
	var failed error
	err = conn.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed != nil {
			return
		}
		if failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); failed != nil {
			return
		}
		number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
	})
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	return os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
}

// pump answers the questions of the program and keeps its output for Press.
func (t *Terminal) pump() {
	defer close(t.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.near.Read(buf)
		for range bytes.Count(buf[:n], []byte(askStatus)) {
			_, _ = t.near.WriteString(statusAnswer)
		}
		if err != nil {
			return
		}
		select {
		case t.seen <- bytes.Clone(buf[:n]):
		default:
		}
	}
}

// Run makes the terminal the one of a command, which has not begun.
func (t *Terminal) Run(c *exec.Cmd) {
	c.Stdin, c.Stdout, c.Stderr = t.far, t.far, t.far
	c.Env = append(c.Env, "TERM=xterm-256color")
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setsid, c.SysProcAttr.Setctty = true, true
}

// atLast is the number of bytes that an error shows.
const atLast = 1000

// Press presses keys and waits until the program has written a text. It returns the time between the two.
func (t *Terminal) Press(keys, want string, limit time.Duration) (time.Duration, error) {
	for len(t.seen) > 0 {
		<-t.seen // of before
	}
	var written strings.Builder
	deadline := time.After(limit)
	began := time.Now()
	if _, err := t.near.WriteString(keys); err != nil {
		return 0, err
	}
	for {
		select {
		case part := <-t.seen:
			at := time.Now()
			if written.Write(part); strings.Contains(written.String(), want) {
				return at.Sub(began), nil
			}
		case <-deadline:
			text := written.String()
			return 0, fmt.Errorf("after %q the terminal did not show %q within %s, at last:\n%q", keys, want, limit, text[max(0, len(text)-atLast):])
		}
	}
}

// Close closes the terminal and waits until nothing reads from it.
func (t *Terminal) Close() {
	_ = t.far.Close()
	_ = t.near.Close()
	<-t.ended
}
