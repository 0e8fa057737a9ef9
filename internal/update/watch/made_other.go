//go:build !linux

package watch

import "time"

// tick is how much earlier than a change the time that the file system notes for it may be.
const tick time.Duration = 0
