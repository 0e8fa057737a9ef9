package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/containers/docker"
)

func testExec(t *testing.T, s Subject) {
	id := s.Container(t, nil)
	var out bytes.Buffer
	if err := s.Client.ContainerExec(t.Context(), id, []string{"echo", "hello"}, nil, &out); err != nil || out.String() != "hello\n" {
		t.Errorf("echo: %q, %v", out.String(), err)
	}
	out.Reset()
	big := strings.Repeat("0123456789abcdef", 1<<14)
	if err := s.Client.ContainerExec(t.Context(), id, []string{"cat"}, strings.NewReader(big), &out); err != nil || out.String() != big {
		t.Errorf("cat: %d bytes of %d, %v", out.Len(), len(big), err)
	}
	if err := s.Client.ContainerExec(t.Context(), id, []string{"true"}, nil, nil); err != nil {
		t.Errorf("true: %v", err)
	}
	r, w := io.Pipe() // a stdin without an end
	defer w.Close()
	if err := s.Client.ContainerExec(t.Context(), id, []string{"true"}, r, nil); err != nil {
		t.Errorf("true with open stdin: %v", err)
	}
}

func testExecErrors(t *testing.T, s Subject) {
	id := s.Container(t, nil)
	var exit *docker.ExitError
	if err := s.Client.ContainerExec(t.Context(), id, []string{"sh", "-c", "exit 42"}, nil, nil); !errors.As(err, &exit) || exit.Code != 42 {
		t.Errorf("exit 42: %v", err)
	}
	if err := s.Client.ContainerExec(t.Context(), "0123456789abcdef", []string{"true"}, nil, nil); !docker.IsNotFound(err) {
		t.Errorf("no container: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Client.ContainerExec(ctx, id, []string{"true"}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func testTerminal(t *testing.T, s Subject) {
	id := s.Container(t, nil)
	var out bytes.Buffer
	if err := s.Client.ExecTerminal(t.Context(), id, []string{"echo", "hello"}, docker.Terminal{Out: &out}); err != nil || out.String() != "hello\r\n" {
		t.Errorf("echo: %q, %v", out.String(), err)
	}
	r, w := io.Pipe() // a stdin without an end
	defer w.Close()
	var exit *docker.ExitError
	if err := s.Client.ExecTerminal(t.Context(), id, []string{"sh", "-c", "exit 42"}, docker.Terminal{In: r, Out: io.Discard}); !errors.As(err, &exit) || exit.Code != 42 {
		t.Errorf("exit 42: %v", err)
	}
	out.Reset()
	if err := s.Client.ExecTerminal(t.Context(), id, []string{"no-such-program"}, docker.Terminal{Out: &out}); !errors.As(err, &exit) ||
		exit.Code != 126 && exit.Code != 127 || !strings.Contains(out.String(), "no-such-program") {
		t.Errorf("a missing program: %q, %v", out.String(), err)
	}
	if err := s.Client.ExecTerminal(t.Context(), "0123456789abcdef", []string{"true"}, docker.Terminal{Out: io.Discard}); !docker.IsNotFound(err) {
		t.Errorf("no container: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Client.ExecTerminal(ctx, id, []string{"true"}, docker.Terminal{Out: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func testCopy(t *testing.T, s Subject) {
	id := s.Container(t, nil)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	text := "copied"
	if err := w.WriteHeader(&tar.Header{Name: "hone.txt", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Client.CopyTo(t.Context(), id, "/tmp", bytes.NewReader(archive.Bytes())); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Client.ContainerExec(t.Context(), id, []string{"cat", "/tmp/hone.txt"}, nil, &out); err != nil || out.String() != text {
		t.Errorf("cat: %q, %v", out.String(), err)
	}
	if changes, err := s.Client.ContainerChanges(t.Context(), id); err != nil || !slices.Contains(changes, "/tmp/hone.txt") {
		t.Errorf("changes: %v, %v", changes, err)
	}
	if changes, err := s.Client.ContainerChanges(t.Context(), s.Container(t, nil)); err != nil || len(changes) > 0 {
		t.Errorf("changes of a container that is as its image: %v, %v", changes, err)
	}
	for p, want := range map[string]byte{"/tmp/hone.txt": tar.TypeReg, "/tmp": tar.TypeDir} {
		if h, err := s.Client.Entry(t.Context(), id, p); err != nil || h == nil || h.Typeflag != want {
			t.Errorf("%s: %+v, %v", p, h, err)
		}
	}
	if h, err := s.Client.Entry(t.Context(), id, "/tmp/none"); err != nil || h != nil {
		t.Errorf("no file: %+v, %v", h, err)
	}
	if err := s.Client.CopyTo(t.Context(), "0123456789abcdef", "/tmp", &archive); !docker.IsNotFound(err) {
		t.Errorf("no container: %v", err)
	}
}
