package eventwatcher

import (
	"regexp"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// slowRollout is the time after which a rollout is reported, and the interval of further reports.
const slowRollout = 10 * time.Second

// rollout is an object that has not reached its desired state yet.
type rollout struct {
	since time.Time
	// said is the last reported progress, empty if none was reported.
	said   string
	saidAt time.Time
}

// rollingOut reports the progress of slow objects, and returns the time after which there may be more to report.
func (t *reporter) rollingOut(v store.View) (left time.Duration) {
	objects := state.Objects.In(v)
	for e := range objects.Refs() {
		o := &e.Value
		r := t.rollouts[e.ID]
		if o.Health != model.HealthInProgress || o.Group == "batch" {
			if r != nil && r.said != "" && o.Health == model.HealthCurrent {
				t.say(o.Resource, logstore.LevelInfo, "["+rolls(o)+"] rolled out after "+t.now().Sub(r.since).Round(time.Second).String())
			}
			delete(t.rollouts, e.ID)
			continue
		}
		if r == nil {
			r = &rollout{since: t.now(), saidAt: t.now()}
			t.rollouts[e.ID] = r
		}
		how := progress(o.Message)
		if how == "" || how == r.said {
			continue
		}
		if wait := r.saidAt.Add(slowRollout).Sub(t.now()); wait > 0 {
			left = soonest(left, wait)
			continue
		}
		t.say(o.Resource, logstore.LevelInfo, "["+rolls(o)+"] "+how)
		r.said, r.saidAt = how, t.now()
	}
	for uid := range t.rollouts {
		if objects.Ref(uid) == nil {
			delete(t.rollouts, uid)
		}
	}
	return left
}

func rolls(o *model.ObjectStatus) string {
	return "rollout: " + strings.ToLower(o.Kind) + " " + o.Namespace + "/" + o.Name
}

// counted matches kstatus' report of replicas: "Updated: 2/5".
var counted = regexp.MustCompile(`^(\w+): (\d+)/(\d+)$`)

// progress describes the progress of an object. It is empty for details that only matter to Kubernetes' controllers.
func progress(message string) string {
	m := counted.FindStringSubmatch(message)
	switch {
	case m == nil && strings.Contains(message, "generation"):
		return ""
	case m == nil:
		return message
	case m[1] == "Replicas":
		m[1] = "created"
	}
	return m[2] + " of " + m[3] + " " + strings.ToLower(m[1])
}
