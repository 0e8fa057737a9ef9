package command

import (
	"errors"
	"io"
	"os"
	"testing"
)

// TestInputCloses checks that a read that waits for an editor ends when the input is closed.
func TestInputCloses(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	in, err := OpenInput(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 8)
	if n, err := in.Read(buf); n != 1 || err != nil {
		t.Fatalf("read %d, %v", n, err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := in.Read(buf)
		failed <- err
	}()
	for range 2 {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-failed; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}
