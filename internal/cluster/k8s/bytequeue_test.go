package k8s

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestByteQueueKeepsBytesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newByteQueue()
		want := make([]byte, 5*queueLimit)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range want {
			want[i] = byte(rng.Uint32())
		}
		go func() {
			for rest := want; len(rest) > 0; {
				n := min(len(rest), 1+int(rng.Uint32N(100_000)))
				if _, err := q.Write(rest[:n]); err != nil {
					t.Error(err)
					return
				}
				rest = rest[n:]
			}
			q.finish(io.EOF)
		}()
		synctest.Wait()
		if !q.full() {
			t.Error("a queue that nobody reads is not full")
		}
		got, err := io.ReadAll(q)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes came, %v", len(got), err)
		}
		if q.full() || cap(q.buf) > 64<<10 {
			t.Error("the memory is kept")
		}
	})
}

func TestByteQueueDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newByteQueue()
		start := time.Now()
		q.setReadDeadline(start.Add(time.Second))
		if _, err := q.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("read: %v after %v", err, time.Since(start))
		}
		q.setWriteDeadline(time.Now().Add(time.Second))
		n, err := q.Write(make([]byte, queueLimit+1))
		if n != queueLimit || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write: %d, %v", n, err)
		}
		if _, err := q.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("an old deadline does not count: %v", err)
		}
		q.setReadDeadline(time.Time{})
		if n, err := q.Read(make([]byte, 10)); n != 10 || err != nil {
			t.Errorf("without deadline: %d, %v", n, err)
		}
		// A deadline that is set while a read waits counts for it.
		empty := newByteQueue()
		done := make(chan error)
		go func() { _, err := empty.Read(make([]byte, 1)); done <- err }()
		synctest.Wait()
		empty.setReadDeadline(time.Now().Add(-time.Second))
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("waiting read: %v", err)
		}
	})
}

func TestByteQueueEnds(t *testing.T) {
	q := newByteQueue()
	boom := errors.New("boom")
	_, _ = q.Write([]byte("ab"))
	q.finish(boom)
	q.finish(io.EOF)
	if _, err := q.Write([]byte("c")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write after the end: %v", err)
	}
	if got, err := io.ReadAll(q); string(got) != "ab" || !errors.Is(err, boom) {
		t.Errorf("got %q, %v", got, err)
	}
	q.abandon(net.ErrClosed)
	if _, err := q.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read after abandon: %v", err)
	}
	if _, err := q.Write([]byte("c")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write after abandon: %v", err)
	}
}
