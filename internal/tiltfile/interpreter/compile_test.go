package interpreter

import (
	"context"
	"errors"
	"testing"
)

// TestCancelledCompiler ends an evaluation while its program is compiled, which takes as long as it takes.
func TestCancelledCompiler(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause, busy := errors.New("the user has gone"), make(chan struct{})
	ended := make(chan struct{})
	_, err := unlessCancelled(ctx, func() (int, error) {
		defer close(ended)
		cancel(cause)
		<-busy
		return 1, nil
	})
	if !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	close(busy)
	<-ended
	if v, err := unlessCancelled(t.Context(), func() (int, error) { return 1, nil }); v != 1 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
	defer func() {
		if p := recover(); p != "broken" {
			t.Errorf("a panic became %v", p)
		}
	}()
	_, _ = unlessCancelled(t.Context(), func() (int, error) { panic("broken") })
}
