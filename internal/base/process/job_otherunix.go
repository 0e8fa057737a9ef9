//go:build unix && !linux

package process

import "os"

// catchStops does nothing here: only Linux has the means for it.
func catchStops(chan<- os.Signal) {}

func leaveStops(chan<- os.Signal) {}
