package watch

import (
	"time"

	"golang.org/x/sys/unix"
)

// tick is the longest time by which a file's change time may precede the change itself: the kernel takes it from the last tick of
// the clock, except where Linux 6.13 or later finds that the file was looked at since. The two cases cannot be distinguished.
var tick = func() time.Duration {
	var t unix.Timespec
	if unix.ClockGetres(unix.CLOCK_REALTIME_COARSE, &t) != nil {
		return 10 * time.Millisecond // the longest there is
	}
	return time.Duration(t.Nano())
}()
