package watch

import (
	"os"
	"testing"
	"time"
)

// TestMade checks that the time of a save is found, whatever modification time a program sets.
func TestMade(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for name, act := range map[string]func(r *rig){
		"saved":                     func(r *rig) { write(t, r.path("f"), "new") },
		"unpacked with an old time": func(r *rig) { write(t, r.path("f"), "new"); do(t, os.Chtimes(r.path("f"), old, old)) },
		"unpacked with a later time": func(r *rig) {
			write(t, r.path("f"), "new")
			do(t, os.Chtimes(r.path("f"), time.Now(), time.Now().Add(time.Hour)))
		},
		"moved to its place": func(r *rig) { do(t, os.Rename(r.path("../waiting"), r.path("f"))) },
		"removed":            func(r *rig) { do(t, os.Remove(r.path("f"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, newBackend())
			write(t, r.path("f"), "old")
			write(t, r.path("../waiting"), "new")
			age(t, r.dir)
			r.set(r.spec("a", []string{"."}))
			r.run()
			r.hashedAll()
			// No change time is earlier than the last tick of the clock, which comes late on a busy machine.
			before := earlier(time.Now(), lastTick().Add(tick))
			act(r)
			var b Batch
			r.await("the change", func() bool {
				for _, b = range r.last {
					if b.Changes[0].ID == target("a") {
						return true
					}
				}
				return false
			})
			// The length of a tick is known to a few percent only.
			if b.Made.Before(before.Add(-time.Millisecond)) || b.Made.After(b.At) {
				t.Errorf("made %v before the act began, noticed %v after that", before.Sub(b.Made), b.At.Sub(before))
			}
		})
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
