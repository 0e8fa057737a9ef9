package state

import "time"

// Contact says whether the cluster or the container engine answers.
type Contact struct {
	Connected bool
	// Ever is set once it has answered.
	Ever bool
	// Err is why it does not answer, empty when it does or has not been contacted yet.
	Err string
	// Problem is Err in structured form; empty if unknown.
	Problem Problem
	// Since is the time at which Connected or Err last changed.
	Since time.Time
	// Lost is the time since which it has not answered, for any reason; zero while it answers, and before it was contacted.
	Lost time.Time
}

// Broken reports whether it has answered, and does not any more.
func (c Contact) Broken() bool { return c.Ever && !c.Connected }

// reported returns the contact after a report that arrives now. heard is the time at which something last arrived from one that no longer
// answers; zero if that is unknown.
func (c Contact) reported(connected bool, err string, p Problem, heard, now time.Time) Contact {
	next := Contact{Connected: connected, Ever: c.Ever || connected, Err: err, Problem: p, Since: now}
	if !c.Since.IsZero() && c.Connected == connected && c.Err == err {
		next.Since = c.Since
	}
	switch {
	case connected || err == "":
	case !c.Lost.IsZero():
		next.Lost = c.Lost
	case !heard.IsZero():
		next.Lost = heard
	default:
		next.Lost = now
	}
	return next
}

// missed returns the contact after something else than its monitor has not got an answer, and says why. The monitor then asks at once.
func (c Contact) missed(why string, now time.Time) Contact {
	if !c.Connected {
		return c
	}
	return c.reported(false, why, Problem{}, time.Time{}, now)
}
