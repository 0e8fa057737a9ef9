package buildanddeploy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestRoom: as many deploys as there is room for are in memory at once, the next one enters when one leaves, and one that takes long keeps
// nobody out.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		began := time.Now()
		var leave []func()
		enter := func() time.Duration {
			t.Helper()
			l, err := r.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, l)
			return time.Since(began)
		}
		for range roomFor {
			if waited := enter(); waited != 0 {
				t.Fatalf("entered after %s", waited)
			}
		}
		time.AfterFunc(time.Second, leave[0])
		if waited := enter(); waited != time.Second {
			t.Errorf("entered after %s, not when one left", waited)
		}
		if waited := enter(); waited != roomTime {
			t.Errorf("entered after %s, not when the first ones took long", waited)
		}
		for _, l := range leave {
			l()
			l()
		}
		if len(r) != 0 {
			t.Errorf("%d are left", len(r))
		}
		for range roomFor {
			enter()
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		time.AfterFunc(time.Millisecond, func() { cancel(stop) })
		if _, err := r.enter(ctx); !errors.Is(err, stop) {
			t.Errorf("a cancelled deploy entered: %v", err)
		}
		for _, l := range leave {
			l()
		}
	})
}
