package watch

import (
	"time"

	"golang.org/x/sys/unix"
)

// lastTick is the time that the kernel would note for a change now, at the earliest.
func lastTick() time.Time {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) != nil {
		return time.Now()
	}
	return time.Unix(t.Unix())
}
