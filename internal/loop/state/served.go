package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// servedEvery is the interval at which the cluster is asked again for the APIs that it serves, since others install APIs, too.
const servedEvery = time.Minute

// Served is the Tiltfile's knowledge of the APIs that the cluster serves: the charts that look at .Capabilities depend on it as
// on a file.
type Served struct {
	// Told are the capabilities that the last evaluation used; nil if it did not depend on them.
	Told *model.Capabilities `json:"-"`
	// AskedAt is the time at which the newest answer was requested, and DeployedAt the time of the last deploy: it may have
	// installed APIs.
	AskedAt, DeployedAt time.Time
	// More is set once the cluster serves more than the last evaluation was told.
	More bool
}

// ServedReported reports the APIs that the cluster serves.
type ServedReported struct {
	// AskedAt is the time at which it was asked.
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

// ServesMore reports whether an answer contains more than the capabilities that the last evaluation used.
func (s Served) ServesMore(a ServedReported) bool {
	return s.Told != nil && a.Served.Beyond(*s.Told)
}

// asks reports whether the Tiltfile depends on the APIs that the cluster serves, and the cluster is there.
func (s Served) asks(c Cluster) bool { return s.Told != nil && c.Connected }

// outdated reports whether something was deployed since the cluster was asked for the APIs that it serves.
func (s Served) outdated(c Cluster) bool { return s.asks(c) && s.DeployedAt.After(s.AskedAt) }

// Unsaid reports whether the cluster is there, but has not named the APIs that it serves: until then, the declarations are
// unknown.
func (s Served) Unsaid(c Cluster) bool { return s.asks(c) && s.Told.Unknown() }

// AskAgain returns when to ask the cluster again for the APIs that it serves; ok is false if nothing depends on that now.
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

// onlyMore reports whether new APIs of the cluster are the only reason for an evaluation.
func (t Tiltfile) onlyMore() bool { return t.More && !t.asked() }

// Evaluating reports whether the Tiltfile is being evaluated, or may soon be because of new APIs of the cluster.
func Evaluating(v store.View) bool {
	t := TheTiltfile(v)
	return t.Running() || t.More || t.outdated(TheCluster(v))
}
