package k8stest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

func testDialPod(t *testing.T, f Fixture) {
	f.StartPod(t, "dial")
	dial := func(t *testing.T, port int) net.Conn {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		conn, err := f.Client.DialPod(ctx, f.Namespace, "dial", port)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(wait))
		return conn
	}
	t.Run("echo", func(t *testing.T) {
		conn := dial(t, EchoPort)
		for _, text := range []string{"a", "hello", strings.Repeat("x", 100_000)} {
			if err := echo(conn, text); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("half close", func(t *testing.T) {
		conn := dial(t, EchoPort)
		if _, err := io.WriteString(conn, "all of it"); err != nil {
			t.Fatal(err)
		}
		hc, ok := conn.(k8s.HalfCloser)
		if !ok {
			t.Fatalf("%T cannot be half-closed", conn)
		}
		if err := hc.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(conn); string(got) != "all of it" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("deadline", func(t *testing.T) {
		conn := dial(t, EchoPort)
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		if err := echo(conn, "still there"); err != nil {
			t.Error(err)
		}
	})
	t.Run("parallel", func(t *testing.T) {
		errs := make(chan error)
		const n = 20
		conns := make([]net.Conn, n)
		for i := range conns {
			conns[i] = dial(t, EchoPort)
			// One after the other until here: the listen queue of busybox' nc holds two.
			if err := echo(conns[i], "accepted"); err != nil {
				t.Fatal(err)
			}
		}
		for i, conn := range conns {
			go func() { errs <- errors.Join(echo(conn, strings.Repeat(fmt.Sprint(i), 200_000)), conn.Close()) }()
		}
		for range n {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("readers that stop", func(t *testing.T) {
		var conns []net.Conn
		for range 3 {
			conn := dial(t, EchoPort)
			if err := echo(conn, "accepted"); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
		}
		chunk := []byte(strings.Repeat("x", 64<<10))
		for _, conn := range conns[:2] { // until all buffers are full
			for {
				_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
				if _, err := conn.Write(chunk); err != nil {
					break
				}
			}
		}
		if err := echo(conns[2], strings.Repeat("x", 100_000)); err != nil {
			t.Errorf("beside two without a reader: %v", err)
		}
	})
	t.Run("closed port", func(t *testing.T) {
		conn := dial(t, ClosedPort)
		if _, err := io.ReadAll(conn); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("got %v", err)
		}
		if err := echo(dial(t, EchoPort), "others are not concerned"); err != nil {
			t.Error(err)
		}
	})
	t.Run("missing pod", func(t *testing.T) {
		if _, err := f.Client.DialPod(t.Context(), f.Namespace, "nobody", EchoPort); !k8s.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("dead context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := f.Client.DialPod(ctx, f.Namespace, "dial", EchoPort); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("end of the pod", func(t *testing.T) {
		conn := dial(t, EchoPort)
		if err := echo(conn, "alive"); err != nil {
			t.Fatal(err)
		}
		f.DeletePod(t, "dial")
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want the end", err)
		}
	})
}

// echo sends text and expects the same text back.
func echo(conn net.Conn, text string) error {
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(conn, text)
		sent <- err
	}()
	got := make([]byte, len(text))
	_, err := io.ReadFull(conn, got)
	if err == nil && string(got) != text {
		err = errors.New("other bytes came back")
	}
	return errors.Join(err, <-sent)
}
