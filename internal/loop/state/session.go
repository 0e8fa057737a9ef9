package state

import (
	"cmp"
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
	// PID is the process that runs the session, and Version the version of its program.
	PID     int
	Version string
	// URL is the address of the session's API; empty without one.
	URL string
	// Collection is the progress of deleting the leftovers of earlier sessions.
	Collection Collection
	// PausedAt is the time at which the user paused the session: no update begins on its own. It is zero otherwise.
	PausedAt time.Time
	// PruneGuard keeps the session from deleting much at once.
	PruneGuard PruneGuard
	// Shown is set if the user has looked at a plan of all that the session does.
	Shown bool
	// Confirmation keeps it from changing anything that the user has not looked at.
	Confirmation Confirmation
	// DeployLocks are held by the other processes that deploy the project now.
	DeployLocks []DeployLock
	// Ended is set when the session has reached its end: ci has finished, or the user quit.
	Ended *Ending
}

// Paused reports whether the user has paused the session.
func (s Session) Paused() bool { return !s.PausedAt.IsZero() }

// SessionPaused is the user's request that no update begins on its own until SessionResumed.
type SessionPaused struct{}

// SessionResumed is the user's request to continue with automatic updates.
type SessionResumed struct{}

// Collection is the progress of deleting objects that earlier sessions applied and the Tiltfile no longer declares.
type Collection struct {
	// Done is set once all of them are gone, or belong to another running session. LocalDone is set once the down commands of local
	// resources have run that the Tiltfile no longer declares.
	Done, LocalDone bool
	// Failures counts the failed attempts since the last success; Err is why the newest failed.
	Failures int
	Err      string
	// Going are the resources that are being deleted as a whole.
	Going []model.ManifestName
}

// CollectionReported reports the result of an attempt to delete the leftovers of earlier sessions. Err is empty if it
// succeeded.
//
// With Local, only the down commands of local resources have been run. With Going, the attempt has only begun, or some of its deletions
// have ended.
type CollectionReported struct {
	Err   string
	Local bool
	Going []model.ManifestName
}

// Ending reports how a session ended.
type Ending struct {
	// Failure is empty when all went well.
	Failure string
	// Cause is the kind of failure, and Resource the resource that failed, if it was one.
	Cause    EndCause
	Resource model.ManifestName
	// Span is the log span of the container that failed; empty if none did.
	Span string
	At   time.Time
}

// EndCause is the kind of failure that ended a session.
type EndCause string

// The causes. EndWell is none.
const (
	EndWell     EndCause = ""
	EndResource EndCause = "resource" // a resource failed, or did not become ready in time
	EndTimeout  EndCause = "timeout"  // the session as a whole took too long
	EndTiltfile EndCause = "tiltfile" // the Tiltfile has an error
	EndOutside  EndCause = "outside"  // the command line, the cluster or the engine
)

// SessionStarted opens the session. It is the first action of all.
type SessionStarted struct{ Session Session }

// SessionEnded reports that the session is over, and why, as in Ending.
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
	store.On(Sessions, func(d *store.Draft[Session], _ SessionPaused) {
		d.Update(Only, func(s Session) Session {
			s.PausedAt = cmp.Or(s.PausedAt, d.Now())
			return s
		})
	})
	store.On(Sessions, func(d *store.Draft[Session], _ SessionResumed) {
		d.Update(Only, func(s Session) Session {
			s.PausedAt = time.Time{}
			return s
		})
	})
	store.On(Sessions, func(d *store.Draft[Session], a CollectionReported) {
		d.Update(Only, func(s Session) Session {
			switch {
			case len(a.Going) > 0:
				s.Collection.Going = a.Going
			case a.Err != "":
				s.Collection = Collection{Failures: s.Collection.Failures + 1, Err: a.Err}
			case a.Local:
				s.Collection.LocalDone = true
			default:
				s.Collection = Collection{Done: true, LocalDone: true}
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

// TheSession returns the session in v; zero before SessionStarted.
func TheSession(v store.View) Session { return Sessions.In(v).Value(Only) }
