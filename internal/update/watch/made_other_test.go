//go:build !linux

package watch

import "time"

// lastTick is now: other systems are not known to record an earlier time.
func lastTick() time.Time { return time.Now() }
