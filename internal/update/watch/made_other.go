//go:build !linux

package watch

import "time"

// tick is how much earlier than the change itself a file's change time may be.
const tick time.Duration = 0
