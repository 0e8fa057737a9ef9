package k8stest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// program is a command that pods must support, and its emulation for the fake.
type program struct {
	argv    []string
	emulate func(ctx context.Context, req k8s.ExecRequest) error
}

var (
	speak = program{[]string{"sh", "-c", "echo out; echo err >&2"}, func(_ context.Context, r k8s.ExecRequest) error {
		return errors.Join(say(r.Stdout, "out\n"), say(r.Stderr, "err\n"))
	}}
	exit3 = program{[]string{"sh", "-c", "echo bye; exit 3"}, func(_ context.Context, r k8s.ExecRequest) error {
		return errors.Join(say(r.Stdout, "bye\n"), &k8s.ExitError{Code: 3})
	}}
	cat = program{[]string{"cat"}, func(_ context.Context, r k8s.ExecRequest) error {
		if r.Stdin == nil {
			return nil
		}
		_, err := io.Copy(r.Stdout, r.Stdin)
		return err
	}}
	forever = program{[]string{"sh", "-c", "echo started; sleep 1000"}, func(ctx context.Context, r k8s.ExecRequest) error {
		if err := say(r.Stdout, "started\n"); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}}
	// onTerminal, sized and patient run on a terminal: the first tells whether it has one, the second answers each line with the
	// terminal's size, until Ctrl-D, and the third runs until Ctrl-C.
	onTerminal = program{[]string{"sh", "-c", "test -t 0 && test -t 1 && test -t 2 && echo all; echo err >&2; exit 3"}, func(_ context.Context, r k8s.ExecRequest) error {
		if !r.TTY {
			return errors.Join(say(r.Stderr, "err\n"), &k8s.ExitError{Code: 3})
		}
		return errors.Join(say(r.Stdout, "all\r\nerr\r\n"), &k8s.ExitError{Code: 3})
	}}
	sized = program{[]string{"sh", "-c", "stty -echo; while read -r line; do stty size; done"}, func(ctx context.Context, r k8s.ExecRequest) error {
		lines := make(chan bool)
		go func() {
			defer close(lines)
			in := bufio.NewReader(r.Stdin)
			for {
				c, err := in.ReadByte()
				if err != nil || c == ctrlD {
					return
				}
				if c == '\n' {
					lines <- true
				}
			}
		}()
		var now terminal.Extent
		for {
			select {
			case now = <-r.Sizes:
			case _, ok := <-lines:
				if !ok {
					return nil
				}
				if err := say(r.Stdout, fmt.Sprintf("%d %d\r\n", now.Rows, now.Columns)); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}}
	patient = program{[]string{"sh", "-c", "echo started; exec sleep 1000"}, func(_ context.Context, r k8s.ExecRequest) error {
		if err := say(r.Stdout, "started\r\n"); err != nil {
			return err
		}
		for b := make([]byte, 1); ; {
			if _, err := r.Stdin.Read(b); err != nil || b[0] == ctrlC {
				return errors.Join(err, &k8s.ExitError{Code: 130})
			}
		}
	}}
)

// The characters that end the input and the program on a terminal.
const (
	ctrlC = 3
	ctrlD = 4
)

func say(w io.Writer, s string) error {
	if w == nil {
		return nil
	}
	_, err := io.WriteString(w, s)
	return err
}

// Emulate is an ExecFunc that runs the programs of the suite. It rejects all other commands.
func Emulate(ctx context.Context, req k8s.ExecRequest) error {
	for _, p := range []program{speak, exit3, cat, forever, onTerminal, sized, patient} {
		if strings.Join(p.argv, "\x00") == strings.Join(req.Argv, "\x00") {
			return p.emulate(ctx, req)
		}
	}
	return &k8s.ExitError{Code: 127, Message: "executable file not found in $PATH"}
}

func testExec(t *testing.T, f Fixture) {
	f.StartPod(t, "exec")
	t.Run("any protocol", func(t *testing.T) { testExecBy(t, f, false) })
	t.Run("quick", func(t *testing.T) { testExecBy(t, f, true) })
	t.Run("terminal", func(t *testing.T) { testExecTerminal(t, f) })
}

// testExecBy runs commands without a terminal.
func testExecBy(t *testing.T, f Fixture, quick bool) {
	run := func(ctx context.Context, argv []string, stdin io.Reader) (stdout, stderr string, err error) {
		var out, errs bytes.Buffer
		err = f.Client.Exec(ctx, k8s.ExecRequest{
			Namespace: f.Namespace, Pod: "exec", Container: "main", Argv: argv, Stdin: stdin, Stdout: &out, Stderr: &errs, Quick: quick,
		})
		return out.String(), errs.String(), err
	}
	t.Run("streams", func(t *testing.T) {
		out, errs, err := run(t.Context(), speak.argv, nil)
		if out != "out\n" || errs != "err\n" || err != nil {
			t.Errorf("got %q, %q, %v", out, errs, err)
		}
	})
	t.Run("no writers", func(t *testing.T) {
		if err := f.Client.Exec(t.Context(), k8s.ExecRequest{Namespace: f.Namespace, Pod: "exec", Argv: speak.argv, Quick: quick}); err != nil {
			t.Error(err)
		}
	})
	t.Run("exit code", func(t *testing.T) {
		out, _, err := run(t.Context(), exit3.argv, nil)
		var exit *k8s.ExitError
		if !errors.As(err, &exit) || exit.Code != 3 || noCommand(err) {
			t.Error(err)
		}
		if out != "bye\n" {
			t.Errorf("got %q", out)
		}
	})
	t.Run("stdin", func(t *testing.T) {
		for _, size := range []int{0, 1, 100_000, 3_000_000} {
			in := strings.Repeat("x", size)
			out, _, err := run(t.Context(), cat.argv, strings.NewReader(in))
			if err != nil || out != in {
				t.Errorf("of %d bytes %d came back, %v", size, len(out), err)
			}
		}
	})
	t.Run("unread stdin", func(t *testing.T) {
		in, end := io.Pipe()
		defer func() { _ = end.Close() }()
		if out, _, err := run(t.Context(), speak.argv, in); out != "out\n" || err != nil {
			t.Errorf("got %q, %v", out, err)
		}
	})
	t.Run("missing command", func(t *testing.T) {
		if _, _, err := run(t.Context(), []string{"no-such-command"}, nil); !noCommand(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no command", func(t *testing.T) {
		if _, _, err := run(t.Context(), nil, nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("missing pod", func(t *testing.T) {
		err := f.Client.Exec(t.Context(), k8s.ExecRequest{Namespace: f.Namespace, Pod: "nobody", Argv: speak.argv, Quick: quick})
		if !k8s.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		err := f.Client.Exec(ctx, k8s.ExecRequest{
			Namespace: f.Namespace, Pod: "exec", Argv: forever.argv, Quick: quick,
			Stdout: writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil }),
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

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

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// testExecTerminal runs commands that have a terminal.
func testExecTerminal(t *testing.T, f Fixture) {
	start := func(t *testing.T, p program, certain bool) (shown *transcript, in *io.PipeWriter, sizes chan terminal.Extent, end func() error) {
		shown, sizes = &transcript{}, make(chan terminal.Extent, 1)
		r, in := io.Pipe()
		ended := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		go func() {
			ended <- f.Client.Exec(ctx, k8s.ExecRequest{Namespace: f.Namespace, Pod: "exec", Container: "main", Argv: p.argv, Stdin: r, Stdout: shown,
				TTY: true, Sizes: sizes, Certain: certain})
		}()
		return shown, in, sizes, func() error {
			defer cancel()
			defer func() { _ = r.Close() }()
			return <-ended
		}
	}
	both := func(t *testing.T, run func(t *testing.T, certain bool)) {
		for name, certain := range map[string]bool{"any protocol": false, "SPDY": true} {
			t.Run(name, func(t *testing.T) { run(t, certain) })
		}
	}
	t.Run("streams", func(t *testing.T) {
		both(t, func(t *testing.T, certain bool) {
			shown, _, _, end := start(t, onTerminal, certain)
			var exit *k8s.ExitError
			if err := end(); !errors.As(err, &exit) || exit.Code != 3 || shown.String() != "all\r\nerr\r\n" {
				t.Errorf("%q, %v", shown, err)
			}
		})
	})
	t.Run("size", func(t *testing.T) {
		both(t, func(t *testing.T, certain bool) {
			shown, in, sizes, end := start(t, sized, certain)
			for _, e := range []terminal.Extent{{Columns: 100, Rows: 30}, {Columns: 61, Rows: 17}} {
				sizes <- e
				Eventually(t, fmt.Sprintf("the size %v", e), func() error { // a size may arrive after a line that was typed later
					if _, err := in.Write([]byte("\n")); err != nil {
						return err
					}
					if !strings.Contains(shown.String(), fmt.Sprintf("%d %d\r\n", e.Rows, e.Columns)) {
						return errors.New(shown.String())
					}
					return nil
				})
			}
			if _, err := in.Write([]byte{ctrlD}); err != nil {
				t.Error(err)
			}
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("interrupt", func(t *testing.T) {
		both(t, func(t *testing.T, certain bool) {
			shown, in, _, end := start(t, patient, certain)
			Eventually(t, "the start", func() error {
				if !strings.Contains(shown.String(), "started") {
					return errors.New(shown.String())
				}
				return nil
			})
			if _, err := in.Write([]byte{ctrlC}); err != nil {
				t.Error(err)
			}
			var exit *k8s.ExitError
			if err := end(); !errors.As(err, &exit) || exit.Code != 130 {
				t.Errorf("%v", err)
			}
		})
	})
	t.Run("missing command", func(t *testing.T) {
		both(t, func(t *testing.T, certain bool) {
			shown, _, _, end := start(t, program{argv: []string{"no-such-shell"}}, certain)
			var exit *k8s.ExitError
			if err := end(); !errors.As(err, &exit) || !noCommand(err) || exit.Message == "" {
				t.Error(err)
			}
			if shown.String() != "" {
				t.Errorf("%q", shown)
			}
		})
	})
}

// noCommand reports whether err means that the container does not have the command or cannot execute it. A shell ends with the same
// codes.
func noCommand(err error) bool {
	exit, ok := errors.AsType[*k8s.ExitError](err)
	return ok && (exit.Code == 126 || exit.Code == 127)
}
