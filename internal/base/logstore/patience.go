package logstore

import "time"

// A command that waits in silence names its wait after SayAfter, and repeats that every SayAgain.
const (
	SayAfter = 2 * time.Second
	SayAgain = 30 * time.Second
)
