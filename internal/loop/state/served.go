package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// servedEvery is how often to ask again what the cluster serves, since others install kinds, too.
	servedEvery = time.Minute
	// servedUnknown is that interval as long as the evaluation has had no answer.
	servedUnknown = 5 * time.Second
)

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
	Served  model.Capabilities
	// Failed is set if it has not said.
	Failed bool
}

func init() {
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a ServedReported) {
		d.Update(Only, func(t Tiltfile) Tiltfile {
			if a.AskedAt.After(t.AskedAt) { // than the newest evaluation
				t.AskedAt = a.AskedAt
			}
			t.More = t.More || t.ServesMore(a)
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
	return !a.Failed && s.Told != nil && a.Served.Beyond(*s.Told)
}

// Outdated reports whether the cluster may serve more than it said: something was deployed since, or it was not there.
func (s Served) Outdated(c Cluster) bool {
	if s.Told == nil || !c.Connected {
		return false
	}
	return s.DeployedAt.After(s.AskedAt) || s.Unsaid(c) && c.Since.After(s.AskedAt)
}

// Unsaid reports whether the cluster is there, but has not said what it serves: until then, nobody knows what is declared.
func (s Served) Unsaid(c Cluster) bool { return s.Told != nil && s.Told.Unknown() && c.Connected }

// AskAgain returns when to ask the cluster again what it serves; ok is false if nothing depends on that now.
func (s Served) AskAgain(c Cluster) (at time.Time, ok bool) {
	switch {
	case s.Told == nil || !c.Connected:
		return time.Time{}, false
	case s.Outdated(c):
		return s.AskedAt, true
	case s.Told.Unknown():
		return s.AskedAt.Add(servedUnknown), true
	}
	return s.AskedAt.Add(servedEvery), true
}

// onlyMore reports whether nothing but what the cluster serves requests an evaluation.
func (t Tiltfile) onlyMore() bool { return t.More && t.Changed.Empty() && t.Triggered.IsZero() }
