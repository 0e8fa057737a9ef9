package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
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
	// Collection says how far the deletion of what earlier sessions left over is.
	Collection Collection
	// Ended is set when the session has reached its end: ci is through, or the user quit.
	Ended *Ending
}

// Collection is how far a session has come with what earlier sessions applied and the Tiltfile no longer declares.
type Collection struct {
	// Done is set once all of it is gone, or belongs to another session that runs.
	Done bool
	// Failures counts the attempts that failed since the last good one; Err is why the newest did.
	Failures int
	Err      string
}

// CollectionReported says how an attempt to delete what earlier sessions left over has ended. Err is empty when it was good.
type CollectionReported struct{ Err string }

// Ending says how a session ended.
type Ending struct {
	// Failure is empty when all went well.
	Failure string
	// Cause is what kind of failure that is, and Resource whose, where it is one resource's.
	Cause    EndCause
	Resource model.ManifestName
	// Span is where the container that failed says what it says in the log; empty where it was none.
	Span string
	At   time.Time
}

// EndCause is what kind of failure ended a session.
type EndCause string

// The causes. EndWell is none.
const (
	EndWell     EndCause = ""
	EndResource EndCause = "resource" // a resource failed, or did not get ready in its time
	EndTimeout  EndCause = "timeout"  // the session as a whole took too long
	EndTiltfile EndCause = "tiltfile" // the Tiltfile has a fault
	EndOutside  EndCause = "outside"  // the command line, the cluster or the engine
)

// SessionStarted opens the session. It is the first action of all.
type SessionStarted struct{ Session Session }

// SessionEnded says that the session is over, and why, as in Ending.
type SessionEnded struct {
	Failure  string
	Cause    EndCause
	Resource model.ManifestName
	Span     string
}

func init() {
	store.On(Sessions, func(d *store.Draft[Session], a SessionStarted) {
		s := a.Session
		s.StartedAt = d.Now()
		d.Put(Only, s)
	})
	store.On(Sessions, func(d *store.Draft[Session], a CollectionReported) {
		d.Update(Only, func(s Session) Session {
			if a.Err == "" {
				s.Collection = Collection{Done: true}
			} else {
				s.Collection = Collection{Failures: s.Collection.Failures + 1, Err: a.Err}
			}
			return s
		})
	})
	store.On(Sessions, func(d *store.Draft[Session], a SessionEnded) {
		d.Update(Only, func(s Session) Session {
			if s.Ended == nil {
				s.Ended = &Ending{Failure: a.Failure, Cause: a.Cause, Resource: a.Resource, Span: a.Span, At: d.Now()}
			}
			return s
		})
	})
}

// TheSession returns the session as of v; zero before SessionStarted.
func TheSession(v store.View) Session { return Sessions.In(v).Value(Only) }
