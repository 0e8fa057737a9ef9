package state

import (
	"time"

	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Command is the verb that the session runs.
type Command string

// The verbs that run a session.
const (
	CommandUp Command = "up"
	CommandCI Command = "ci"
)

// Session is the one entry of table sessions.
type Session struct {
	Command    Command
	Tiltfile   string // absolute path
	Args       []string
	UpdateMode model.UpdateMode
	// CITimeout bounds "hone ci"; 0 leaves it to ci_settings.
	CITimeout time.Duration
	StartedAt time.Time
	// Project identifies the Tiltfile and context in labels and in the ledger.
	Project string
	// RunID is unique to this run of hone.
	RunID string
	// PID is the process that runs the session, and Version that of its program.
	PID     int
	Version string
	// URL is where the session's API answers; empty without one.
	URL string
	// Ended is set when the session has reached its end: ci is through, or the user quit.
	Ended *Ending
}

// Ending says how a session ended.
type Ending struct {
	// Failure is empty when all went well.
	Failure string
	At      time.Time
}

// SessionStarted opens the session. It is the first action of all.
type SessionStarted struct{ Session Session }

// SessionEnded says that the session is over.
type SessionEnded struct{ Failure string }

func init() {
	store.On(Sessions, func(d *store.Draft[Session], a SessionStarted) {
		s := a.Session
		s.StartedAt = d.Now()
		d.Put(Only, s)
	})
	store.On(Sessions, func(d *store.Draft[Session], a SessionEnded) {
		d.Update(Only, func(s Session) Session {
			if s.Ended == nil {
				s.Ended = &Ending{Failure: a.Failure, At: d.Now()}
			}
			return s
		})
	})
}

// TheSession returns the session as of v; zero before SessionStarted.
func TheSession(v store.View) Session { return Sessions.In(v).Value(Only) }
