package k8stest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

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
	for _, p := range []program{speak, exit3, cat, forever} {
		if strings.Join(p.argv, "\x00") == strings.Join(req.Argv, "\x00") {
			return p.emulate(ctx, req)
		}
	}
	return &k8s.ExitError{Code: 127, Message: "executable file not found in $PATH"}
}

func testExec(t *testing.T, f Fixture) {
	f.StartPod(t, "exec")
	run := func(ctx context.Context, argv []string, stdin io.Reader) (stdout, stderr string, err error) {
		var out, errs bytes.Buffer
		err = f.Client.Exec(ctx, k8s.ExecRequest{
			Namespace: f.Namespace, Pod: "exec", Container: "main", Argv: argv, Stdin: stdin, Stdout: &out, Stderr: &errs,
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
		if err := f.Client.Exec(t.Context(), k8s.ExecRequest{Namespace: f.Namespace, Pod: "exec", Argv: speak.argv}); err != nil {
			t.Error(err)
		}
	})
	t.Run("exit code", func(t *testing.T) {
		out, _, err := run(t.Context(), exit3.argv, nil)
		var exit *k8s.ExitError
		if out != "bye\n" || !errors.As(err, &exit) || exit.Code != 3 || k8s.IsNotFoundCommand(err) {
			t.Errorf("got %q, %v", out, err)
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
		if _, _, err := run(t.Context(), []string{"no-such-command"}, nil); !k8s.IsNotFoundCommand(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no command", func(t *testing.T) {
		if _, _, err := run(t.Context(), nil, nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("missing pod", func(t *testing.T) {
		err := f.Client.Exec(t.Context(), k8s.ExecRequest{Namespace: f.Namespace, Pod: "nobody", Argv: speak.argv})
		if !k8s.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		err := f.Client.Exec(ctx, k8s.ExecRequest{
			Namespace: f.Namespace, Pod: "exec", Argv: forever.argv,
			Stdout: writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil }),
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
