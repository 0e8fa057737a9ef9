package synclet

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/bug"
)

// Exec runs a command in one container until it ends, as liveupdate.PodExecer does. A non-zero exit is an error with a
// method ExitCode or of type *k8s.ExitError.
type Exec func(ctx context.Context, argv []string, stdin io.Reader, stdout, stderr io.Writer) error

// Way is a way of getting the program into a container.
type Way string

// The ways, in the order in which they are tried.
const (
	// WayVolume starts the program that the pod was given when it was deployed.
	WayVolume Way = "volume"
	// WayShell sends the program to a shell that becomes it: one exec for everything.
	WayShell Way = "shell"
	// WayTar unpacks the program with tar and starts it with a second exec.
	WayTar Way = "tar"
	// WayEphemeral starts it in an ephemeral container next to the target, whose files it reaches from there.
	WayEphemeral Way = "ephemeral"
)

// The exit codes of the script: there is no folder for the program, or it could not be received.
const (
	exitNoFolder = 97
	exitNoHead   = 96
)

// script finds, by trying, a folder from which programs may be started, receives the program there and becomes it. The
// program removes itself when it starts. Without such a folder the script still reads the program: the runtime may hang
// on input that is never read.
const script = `for d in "$TMPDIR" /tmp /var/tmp /dev/shm /run "$HOME" "$PWD" /; do
  [ -n "$d" ] && [ -d "$d" ] && [ -w "$d" ] || continue
  f="$d/.hone-synclet-$$"
  (umask 077; echo '#!/bin/sh' >"$f" && chmod 700 "$f" && "$f") 2>/dev/null && break
  rm -f "$f" 2>/dev/null
  f=
done
[ -n "$f" ] || { head -c "$1" >/dev/null 2>&1; exit 97; }
if command -v head >/dev/null; then head -c "$1" >"$f"; else dd bs=1 count="$1" of="$f" 2>/dev/null; fi || { rm -f "$f"; exit 96; }
exec "$f" serve --unlink`

// again is a script that starts the program of a synclet which still runs in the container, and fails if there is none. Such a
// synclet may have lost its connection without an error, and not know it.
const again = `for p in /proc/[0-9]*; do
  case "$(readlink "$p/exe" 2>/dev/null)" in */.hone-synclet-*) exec "$p/exe" serve ;; esac
done
exit 94`

// stream is a running exec.
type stream struct {
	in     *io.PipeWriter
	out    *io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
	err    error // set before done is closed
	stderr tail
}

// startExec starts a command whose input and output are the stream.
func startExec(ctx context.Context, exec Exec, argv []string) *stream {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it outlives the call; Close ends it
	s := &stream{in: in, out: out, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.err = exec(ctx, argv, stdin, stdout, &s.stderr)
		_ = stdout.CloseWithError(s.end())
		_ = stdin.CloseWithError(io.ErrClosedPipe)
	}()
	return s
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) { return s.out.Read(p) }

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close ends the exec and waits for it.
func (s *stream) Close() error {
	_ = s.in.Close()
	_ = s.out.Close()
	s.cancel()
	<-s.done
	return nil
}

// tail keeps the first 2000 bytes that are written to it.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 2000 - t.b.Len(); room > 0 {
		t.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.b.String())
}

// begin starts the program in one way and returns the stream for the conversation with it.
func begin(ctx context.Context, exec Exec, way Way, program []byte) (*stream, error) {
	switch way {
	case WayShell:
		s := startExec(ctx, exec, []string{"sh", "-c", script, "sh", fmt.Sprint(len(program))})
		stop := context.AfterFunc(ctx, func() { _ = s.in.CloseWithError(context.Cause(ctx)) })
		defer stop()
		if _, err := s.Write(program); err != nil {
			_ = s.Close()
			return nil, s.failure(err)
		}
		return s, nil
	case WayTar:
		return beginTar(ctx, exec, program)
	case WayVolume, WayEphemeral: // start another way: see open
	}
	return nil, bug.Reportf("way %q does not send the synclet into a container", way)
}

// failure returns why the exec ended, or err if it has not.
func (s *stream) failure(err error) error {
	if s.err != nil && !errors.Is(s.err, context.Canceled) {
		err = s.err
	}
	if said := s.stderr.String(); said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// beginTar unpacks the program into /tmp or, if that fails, into /, and starts it there.
func beginTar(ctx context.Context, exec Exec, program []byte) (*stream, error) {
	name := ".hone-synclet-" + uuid.NewString()[:8]
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o700, Size: int64(len(program)), ModTime: time.Now()})
	if err == nil {
		_, err = w.Write(program)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	var all []error
	for _, dir := range []string{"/tmp", "/"} {
		var said tail
		if err := exec(ctx, []string{"tar", "-C", dir, "-x", "-f", "-"}, bytes.NewReader(archive.Bytes()), io.Discard, &said); err != nil {
			all = append(all, err)
			continue
		}
		return startExec(ctx, exec, []string{strings.TrimSuffix(dir, "/") + "/" + name, "serve", "--unlink"}), nil
	}
	return nil, errors.Join(all...)
}
