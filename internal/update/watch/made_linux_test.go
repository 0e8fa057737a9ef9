package watch

import (
	"time"

	"golang.org/x/sys/unix"
)

// lastTick returns the earliest change time that the kernel would record now.
func lastTick() time.Time {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) != nil {
		return time.Now()
	}
	return time.Unix(t.Unix())
}
