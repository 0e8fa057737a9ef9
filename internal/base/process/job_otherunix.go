//go:build unix && !linux

package process

import "os"

// catchStops does nothing here: what Linux has for it does not exist.
func catchStops(chan<- os.Signal) {}

func leaveStops(chan<- os.Signal) {}
