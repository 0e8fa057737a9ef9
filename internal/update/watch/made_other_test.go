//go:build !linux

package watch

import "time"

// lastTick returns the present time: other systems are not known to record an earlier one.
func lastTick() time.Time { return time.Now() }
