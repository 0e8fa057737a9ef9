package sessioncontroller

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/buildcontrol"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/model"
)

// podGrace is how much later than its job a pod may be seen.
const podGrace = 3 * time.Second

// judgeCI applies the rules of ci: 0 when every target is updated and its runtime ready, 1 on the first terminal error,
// on a resource that does not get ready in its time, and when the whole takes too long.
func judgeCI(v store.View, session state.Session, now time.Time, deployed map[model.ManifestName]time.Time) (*state.SessionEnded, time.Duration) {
	t := state.TheTiltfile(v)
	if t.Loaded && t.Err != "" {
		return &state.SessionEnded{Failure: t.Err}, 0
	}
	settings := t.Result.CI
	limit := cmp.Or(session.CITimeout, settings.Timeout, model.DefaultCISettings.Timeout)
	next := session.StartedAt.Add(limit).Sub(now)
	if next <= 0 {
		return &state.SessionEnded{Failure: timedOut(v, limit)}, 0
	}
	if !t.Good {
		return nil, next
	}
	waiting := false
	pods := state.PodsByResource(v)
	for _, e := range state.OrderedUpdates(v) {
		m, u := e.Value.Manifest, *e.Update
		if !m.AutoInit && u.Serial == 0 {
			continue
		}
		if last, ok := u.Last(); ok && last.Err != "" {
			return &state.SessionEnded{Failure: fmt.Sprintf("%s: %s", m.Name, last.Err)}, 0
		}
		r := buildcontrol.Runtime(v, m, u, pods[m.Name])
		if r.Status == buildcontrol.RuntimeError {
			left := settings.GracePeriod - now.Sub(r.FailingSince)
			if r.Final || r.FailingSince.IsZero() || left <= 0 {
				return &state.SessionEnded{Failure: fmt.Sprintf("%s: %s", m.Name, r.Err)}, 0
			}
			next = min(next, left)
		}
		if left := podsToCome(m, u, pods[m.Name], now); left > 0 {
			waiting, next = true, min(next, left)
			continue
		}
		if u.Succeeded && u.Current == nil && r.Status.Settled() {
			delete(deployed, m.Name)
			continue
		}
		waiting = true
		if end, left := readiness(m, u, r, settings, now, deployed); end != nil {
			return end, 0
		} else if left > 0 {
			next = min(next, left)
		}
	}
	if waiting {
		return nil, next
	}
	return &state.SessionEnded{}, 0
}

// podsToCome returns how much longer to wait for the pods of a job that was just applied. The job may be seen to be
// complete before its pods are seen at all, and then their logs would be missed; later, no pods means that they have been
// collected.
func podsToCome(m model.Manifest, u state.Update, pods []state.Pod, now time.Time) time.Duration {
	if m.K8s == nil || m.K8s.PodReadiness != model.PodSucceeded || len(pods) > 0 || u.AppliedAt.IsZero() {
		return 0
	}
	return u.AppliedAt.Add(podGrace).Sub(now)
}

// readiness bounds how long a deployed resource may take to get ready. Jobs may take as long as they like.
func readiness(m model.Manifest, u state.Update, r buildcontrol.RuntimeState, settings model.CISettings, now time.Time,
	deployed map[model.ManifestName]time.Time) (*state.SessionEnded, time.Duration) {
	if !u.Succeeded || m.K8s != nil && m.K8s.PodReadiness == model.PodSucceeded {
		return nil, 0
	}
	if deployed[m.Name].IsZero() {
		deployed[m.Name] = now
	}
	limit := cmp.Or(settings.ReadinessTimeout, model.DefaultCISettings.ReadinessTimeout)
	left := deployed[m.Name].Add(limit).Sub(now)
	if left <= 0 {
		return &state.SessionEnded{Failure: fmt.Sprintf("%s did not get ready within %s: %s", m.Name, limit, cmp.Or(r.Err, r.Text, string(r.Status)))}, 0
	}
	return nil, left
}

// timedOut says what ci was still waiting for.
func timedOut(v store.View, limit time.Duration) string {
	holds := buildcontrol.Decide(v, nil).Holds
	var open []string
	for _, e := range state.Ordered(v) {
		m := e.Value.Manifest
		u := state.Updates.In(v).Value(e.ID)
		r := buildcontrol.RuntimeOf(v, m.Name)
		switch hold, held := holds[m.Name]; {
		case u.Current != nil:
			open = append(open, fmt.Sprintf("%s is being updated (%s)", m.Name, cmp.Or(u.Current.Stage, "started")))
		case held:
			open = append(open, fmt.Sprintf("%s %s", m.Name, hold))
		case m.AutoInit && !r.Status.Settled():
			open = append(open, fmt.Sprintf("%s is %s", m.Name, cmp.Or(r.Err, r.Text, string(r.Status))))
		}
	}
	if len(open) == 0 {
		open = []string{"the Tiltfile was not loaded"}
	}
	return fmt.Sprintf("timed out after %s: %s\n  raise the limit with --timeout or ci_settings(timeout=…)", limit, strings.Join(open, "; "))
}
