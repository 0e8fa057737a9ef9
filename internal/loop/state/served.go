package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// servedEvery is the interval at which a cluster is asked again for the APIs that it serves, since others install APIs, too.
const servedEvery = time.Minute

// Served is the Tiltfile's knowledge of the APIs that clusters serve: the charts that look at .Capabilities depend on it as on a file.
// Clusters are named as in model.K8sTarget. The maps must not be changed.
type Served struct {
	// Told are the capabilities that the last evaluation used, of the clusters on which it depended in this way.
	Told map[string]model.Capabilities `json:"-"`
	// AskedAt are the times at which the newest answer of each cluster was requested, and DeployedAt the times of the last deploy there: it
	// may have installed APIs.
	AskedAt, DeployedAt map[string]time.Time
	// More is set once a cluster serves more than the last evaluation was told.
	More bool
}

// ServedReported reports the APIs that a cluster serves.
type ServedReported struct {
	// On is the cluster, as in model.K8sTarget.
	On string
	// AskedAt is the time at which it was asked.
	AskedAt time.Time
	// Served is unknown if it has not said.
	Served model.Capabilities
}

func init() {
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a ServedReported) {
		d.Update(Only, func(t Tiltfile) Tiltfile {
			if a.AskedAt.After(t.AskedAt[a.On]) { // than the newest evaluation
				t.AskedAt = with(t.AskedAt, a.On, a.AskedAt)
			}
			if t.ServesMore(a) {
				t.More = true
			}
			return t
		})
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a BuildCompleted) {
		t := d.Value(Only)
		if _, depends := t.Told[a.Cluster]; depends && a.Deployed {
			t.DeployedAt = with(t.DeployedAt, a.Cluster, d.Now())
			d.Put(Only, t)
		}
	})
}

// told records the end of an evaluation that began at the given time, and was told of its own cluster and of others.
func (s *Served) told(own *model.Capabilities, by map[string]model.Capabilities, began time.Time) {
	s.Told, s.AskedAt = by, nil
	if own != nil {
		s.Told = with(by, "", *own)
	}
	for on := range s.Told {
		s.AskedAt = with(s.AskedAt, on, began)
	}
}

// ServesMore reports whether an answer contains more than the capabilities that the last evaluation used.
func (s Served) ServesMore(a ServedReported) bool {
	told, depends := s.Told[a.On]
	return depends && a.Served.Beyond(told)
}

// asks reports whether the Tiltfile depends on the APIs that a cluster serves, and the cluster is there.
func (s Served) asks(v store.View, on string) bool {
	_, depends := s.Told[on]
	return depends && ClusterOn(v, on).Connected
}

// outdated reports whether something was deployed to a cluster since it was asked for the APIs that it serves.
func (s Served) outdated(v store.View, on string) bool {
	return s.asks(v, on) && s.DeployedAt[on].After(s.AskedAt[on])
}

// Unsaid reports whether a cluster is there, but has not named the APIs that it serves: until then, the declarations are unknown.
func (s Served) Unsaid(v store.View) bool {
	for on, told := range s.Told {
		if told.Unknown() && s.asks(v, on) {
			return true
		}
	}
	return false
}

// AskAgain returns when to ask a cluster again for the APIs that it serves; ok is false if nothing depends on that now.
func (s Served) AskAgain(v store.View, on string) (at time.Time, ok bool) {
	switch {
	case !s.asks(v, on):
		return time.Time{}, false
	case s.outdated(v, on):
		return s.AskedAt[on], true
	case s.Told[on].Unknown():
		return s.AskedAt[on].Add(RetryPause(1)), true
	}
	return s.AskedAt[on].Add(servedEvery), true
}

// asked reports whether changed files or the user request an evaluation.
func (t Tiltfile) asked() bool { return !t.Changed.Empty() || !t.Triggered.IsZero() }

// onlyMore reports whether new APIs of a cluster are the only reason for an evaluation.
func (t Tiltfile) onlyMore() bool { return t.More && !t.asked() }

// Evaluating reports whether the Tiltfile is being evaluated, or may soon be because of new APIs of a cluster.
func Evaluating(v store.View) bool {
	t := TheTiltfile(v)
	outdated := false
	for on := range t.Told {
		outdated = outdated || t.outdated(v, on)
	}
	return t.Running() || t.More || outdated
}
