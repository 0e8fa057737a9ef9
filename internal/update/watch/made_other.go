//go:build !linux

package watch

import "time"

// tick is the longest time by which a file's change time may precede the change itself.
const tick time.Duration = 0
