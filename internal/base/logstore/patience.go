package logstore

import "time"

// How long nothing may be said while something outside is awaited, until the user is told what it is, and until that is repeated.
const (
	SayAfter = 2 * time.Second
	SayAgain = 30 * time.Second
)
