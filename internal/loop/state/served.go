package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// servedEvery is how often to ask again what the cluster serves, since others install kinds, too.
const servedEvery = time.Minute

// Served is what the Tiltfile knows of what the cluster serves: the charts that look at .Capabilities depend on it as on
// a file.
type Served struct {
	// Told is what the last evaluation was told; nil if it did not depend on that.
	Told *model.Capabilities `json:"-"`
	// AskedAt is when the newest answer was requested, and DeployedAt is when something was last deployed: it may have
	// installed kinds.
	AskedAt, DeployedAt time.Time
	// More is set once the cluster serves more than the last evaluation was told.
	More bool
}

// ServedReported reports what the cluster serves.
type ServedReported struct {
	// AskedAt is when it was asked.
	AskedAt time.Time
	// Served is unknown if it has not said.
	Served model.Capabilities
}

func init() {
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a ServedReported) {
		d.Update(Only, func(t Tiltfile) Tiltfile {
			if a.AskedAt.After(t.AskedAt) { // than the newest evaluation
				t.AskedAt = a.AskedAt
			}
			if t.ServesMore(a) {
				t.More = true
			}
			return t
		})
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a BuildCompleted) {
		if t := d.Value(Only); t.Told != nil && a.Deployed {
			t.DeployedAt = d.Now()
			d.Put(Only, t)
		}
	})
}

// told records the end of an evaluation that began at the given time.
func (s *Served) told(served *model.Capabilities, began time.Time) {
	s.Told, s.AskedAt = served, began
}

// ServesMore reports whether an answer goes beyond what the last evaluation was told.
func (s Served) ServesMore(a ServedReported) bool {
	return s.Told != nil && a.Served.Beyond(*s.Told)
}

// asks reports whether the Tiltfile depends on what the cluster serves, and the cluster is there.
func (s Served) asks(c Cluster) bool { return s.Told != nil && c.Connected }

// outdated reports whether something was deployed since the cluster said what it serves.
func (s Served) outdated(c Cluster) bool { return s.asks(c) && s.DeployedAt.After(s.AskedAt) }

// Unsaid reports whether the cluster is there, but has not said what it serves: until then, nobody knows what is declared.
func (s Served) Unsaid(c Cluster) bool { return s.asks(c) && s.Told.Unknown() }

// AskAgain returns when to ask the cluster again what it serves; ok is false if nothing depends on that now.
func (s Served) AskAgain(c Cluster) (at time.Time, ok bool) {
	switch {
	case !s.asks(c):
		return time.Time{}, false
	case s.outdated(c):
		return s.AskedAt, true
	case s.Told.Unknown():
		return s.AskedAt.Add(RetryPause(1)), true
	}
	return s.AskedAt.Add(servedEvery), true
}

// asked reports whether changed files or the user request an evaluation.
func (t Tiltfile) asked() bool { return !t.Changed.Empty() || !t.Triggered.IsZero() }

// onlyMore reports whether nothing but what the cluster serves requests an evaluation.
func (t Tiltfile) onlyMore() bool { return t.More && !t.asked() }

// Evaluating reports whether the Tiltfile is being evaluated, or may soon be because of what the cluster serves.
func Evaluating(v store.View) bool {
	t := TheTiltfile(v)
	return t.Running() || t.More || t.outdated(TheCluster(v))
}
