package buildcontroller

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestRoom: as many deploys as there is room for are in memory at once, the next one enters when one leaves, and one that takes long no
// longer counts.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		began := time.Now()
		var leave []func()
		enter := func() time.Duration {
			t.Helper()
			leave = append(leave, r.enter(t.Context()))
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
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		r.enter(ctx)()
		if len(r) != roomFor {
			t.Errorf("a cancelled deploy has left what it had not entered: %d", len(r))
		}
		for _, l := range leave {
			l()
		}
		room(nil).enter(ctx)()
	})
}
