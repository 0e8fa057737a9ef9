package sessioncontroller

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// podGrace is the most by which a pod may appear, and appear to have ended, later than its job.
const podGrace = 3 * time.Second

// serverStays is the time that a server without a readiness probe has to run to count as ready: a server that ends at
// once because of a wrong flag or a port that is taken has also been running.
const serverStays = time.Second

// outage is the time for which ci waits for a cluster or an engine that no longer answers.
const outage = time.Minute

// judgeCI applies the rules of ci: success when every target is updated and its runtime ready, failure on the first
// terminal error, on a resource that does not become ready in time, and when the whole session takes too long. Resources
// that are switched off, or wait for a trigger by the user, do not count.
func judgeCI(v store.View, session state.Session, now time.Time, deployed map[model.ManifestName]time.Time, tries *tries) (*state.SessionEnded, time.Duration) {
	t := state.TheTiltfile(v)
	if t.Loaded && t.Err != "" {
		return &state.SessionEnded{Failure: t.Err, Cause: state.EndTiltfile, Resource: model.TiltfileName}, 0
	}
	settings := t.Result.CI
	limit := cmp.Or(session.CITimeout, settings.Timeout, model.DefaultCISettings.Timeout)
	next := session.StartedAt.Add(limit).Sub(now)
	if next <= 0 {
		return &state.SessionEnded{Failure: timedOut(v, limit), Cause: state.EndTimeout}, 0
	}
	if !t.Good {
		return nil, next
	}
	why, left := cutOff(v, now)
	if why != "" {
		return &state.SessionEnded{Failure: why, Cause: state.EndOutside}, 0
	}
	next = sooner(next, left)
	waiting := false
	pods := state.PodsByResource.In(v)
	for _, e := range state.OrderedUpdates(v) {
		r := subject{name: e.Value.Manifest.Name, manifest: &e.Value.Manifest, update: e.Update, pods: pods[e.Value.Manifest.Name].Values()}
		done, why, left := r.judge(v, settings, now, deployed, tries)
		if why.text != "" {
			return &state.SessionEnded{Failure: why.text, Cause: state.EndResource, Resource: r.name, Span: why.span}, 0
		}
		waiting, next = waiting || !done, sooner(next, left)
	}
	if waiting || state.Evaluating(v) {
		return nil, next
	}
	if why, collecting := leftOver(v, session); collecting {
		if why != "" {
			return &state.SessionEnded{Failure: why, Cause: state.EndOutside}, 0
		}
		return nil, next
	}
	return &state.SessionEnded{}, 0
}

// collectionAttempts is the number of failures in a row to delete leftovers after which ci fails.
const collectionAttempts = 3

// leftOver reports whether objects still have to be deleted: leftovers of earlier sessions, or objects that leave the
// Tiltfile now. why is set when that has failed too often.
func leftOver(v store.View, session state.Session) (why string, collecting bool) {
	cluster := state.TheCluster(v)
	if cluster.Since.IsZero() {
		return "", true // nothing is known of it yet: an empty Tiltfile may have left something there
	}
	c := session.Collection
	if c.Failures >= collectionAttempts {
		return "could not delete what earlier sessions left over: " + c.Err, true
	}
	if !cluster.Connected {
		return "", !c.LocalDone
	}
	return "", !c.LocalDone || !c.Done || state.AnyLeaving(v)
}

// sooner returns the shorter of two times to wait; 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if b > 0 && b < a {
		return b
	}
	return a
}

// need is something that has to answer.
type need struct {
	state.Contact
	starting bool
}

// cutOff returns why the session cannot continue because the cluster or the engine does not answer, or else the time
// after which that may be the case.
func cutOff(v store.View, now time.Time) (why string, left time.Duration) {
	var all []need
	for _, on := range state.NeededClusters(v) {
		c := state.ClusterOn(v, on)
		all = append(all, need{c.Contact, c.Starting})
	}
	if engine := state.TheEngine(v); state.NeedsEngine(v) && !engine.Starting {
		all = append(all, need{engine.Contact, false})
	}
	for _, on := range all {
		if on.Lost.IsZero() {
			continue
		}
		rest := on.Lost.Add(outage).Sub(now)
		if begins := on.Ever || on.starting; !begins || rest <= 0 {
			return on.Err, 0
		}
		if left == 0 || rest < left {
			left = rest
		}
	}
	return "", left
}

// subject is a resource that is judged.
type subject struct {
	name     model.ManifestName
	manifest *model.Manifest
	update   *state.Update
	pods     []state.Pod
}

// failure says why a resource has failed, with the log span of the part that failed.
type failure struct{ text, span string }

// judge returns whether a resource is done, or why it has failed, or else the time after which to look again without a
// change (0: never).
func (s subject) judge(v store.View, settings model.CISettings, now time.Time, deployed map[model.ManifestName]time.Time, tries *tries) (done bool, why failure, again time.Duration) {
	m, u := *s.manifest, *s.update
	if !m.AutoInit && u.Serial == 0 && u.Triggered.IsZero() {
		return true, failure{}, 0
	}
	if last, ok := status.LastOf(v, s.manifest, s.update); ok && last.Err != "" {
		return false, failure{text: fmt.Sprintf("%s: %s", m.Name, last.Err)}, 0
	}
	r := buildcontrol.Runtime(v, m, u, s.pods)
	if r.Final || r.Status.Settled() {
		if left := podsToEnd(v, u, s.pods, now); left > 0 {
			return false, failure{}, left
		}
	}
	if r.Status == buildcontrol.RuntimeError {
		left := settings.GracePeriod - now.Sub(r.FailingSince)
		if r.Final || r.FailingSince.IsZero() || left <= 0 {
			return false, tries.with(m.Name, failure{fmt.Sprintf("%s: %s", m.Name, r.Err), r.Span}), 0
		}
		delete(deployed, m.Name) // the time to become ready begins once it no longer fails
		return false, failure{}, left
	}
	if left := podsToCome(m, u, s.pods, now); left > 0 {
		return false, failure{}, left
	}
	if left := serverToStay(v, m, now); left > 0 {
		return false, failure{}, left
	}
	asked := !u.Triggered.IsZero() || !u.Declared.IsZero()
	idle := u.Current == nil && !asked && !buildcontrol.Outdated(v, &m)
	if idle && u.Succeeded && r.Status.Settled() {
		delete(deployed, m.Name)
		return true, failure{}, 0
	}
	if last, failed := tries.last[m.Name]; failed && settings.FailFast {
		return false, failure{fmt.Sprintf("%s: a try of the Job has failed: %s", m.Name, last.text), last.span}, 0
	}
	text, again := readiness(m, u, r, s.pods, settings, now, deployed)
	return false, failure{text, r.Span}, again
}

// podsToCome returns the remaining time to wait for the pods of a job that was just applied. The job may appear complete
// before its pods appear, and then their logs would be missed; later, the absence of pods means that they have been
// collected.
func podsToCome(m model.Manifest, u state.Update, pods []state.Pod, now time.Time) time.Duration {
	isJob := m.K8s != nil && m.K8s.PodReadiness == model.PodSucceeded
	if !isJob || len(pods) > 0 || u.AppliedAt.IsZero() {
		return 0
	}
	return u.AppliedAt.Add(podGrace).Sub(now)
}

// podsToEnd returns the remaining time to wait for the pods of Jobs that are over: a Job may report its end before its
// pods do, and the last lines of their logs would be missed.
func podsToEnd(v store.View, u state.Update, pods []state.Pod, now time.Time) (left time.Duration) {
	for _, p := range pods {
		if !p.Stands() || p.Ended() || p.Owner == "" {
			continue
		}
		for _, a := range u.Applied {
			e := state.Objects.In(v).Ref(p.Owner)
			isJob := a.Kind == "Job" && a.Group == "batch"
			if e != nil && isJob && a.UID == p.Owner {
				left = max(left, e.Updated.Add(podGrace).Sub(now))
			}
		}
	}
	return left
}

// serverToStay returns the remaining time to watch a server without a readiness probe.
func serverToStay(v store.View, m model.Manifest, now time.Time) time.Duration {
	if m.Local == nil || m.Local.Serve.Empty() || m.Local.Readiness != nil {
		return 0
	}
	p := state.Processes.In(v).Value(string(m.Name))
	if p.State != state.ProcessRunning {
		return 0
	}
	return p.StartedAt.Add(serverStays).Sub(now)
}

// readiness bounds the time that a deployed resource may take to become ready, and returns the failure when that time is
// over. Jobs have no such bound once a node has taken their pods.
func readiness(m model.Manifest, u state.Update, r buildcontrol.RuntimeState, pods []state.Pod, settings model.CISettings, now time.Time,
	deployed map[model.ManifestName]time.Time) (why string, again time.Duration) {
	if !u.Succeeded {
		return "", 0
	}
	if !unscheduled(pods) && m.K8s != nil && m.K8s.PodReadiness == model.PodSucceeded {
		delete(deployed, m.Name)
		return "", 0
	}
	if deployed[m.Name].IsZero() {
		deployed[m.Name] = now
	}
	limit := cmp.Or(settings.ReadinessTimeout, model.DefaultCISettings.ReadinessTimeout)
	left := deployed[m.Name].Add(limit).Sub(now)
	if left <= 0 {
		return fmt.Sprintf("%s did not get ready within %s: %s\n  %sraise the limit with ci_settings(readiness_timeout=…)",
			m.Name, limit, cmp.Or(r.Err, r.Text, string(r.Status)), placing(pods)), 0
	}
	return "", left
}

// timedOut describes the things that ci was still waiting for.
func timedOut(v store.View, limit time.Duration) string {
	return fmt.Sprintf("timed out after %s: %s\n  raise the limit with --timeout or ci_settings(timeout=…)", limit, strings.Join(awaited(v), "; "))
}

// awaited names the things that ci waits for: resources, else the Tiltfile, else the deletion of leftovers.
func awaited(v store.View) []string {
	var open []string
	for _, r := range status.All(v) {
		unasked := !r.Manifest.AutoInit && r.Updates.Serial == 0 && r.Hold == nil
		if !unasked && !r.Settled() {
			open = append(open, fmt.Sprintf("%s %s", r.Manifest.Name, r.Missing()))
		}
	}
	switch t := state.TheTiltfile(v); {
	case len(open) > 0:
	case !t.Loaded:
		open = []string{"the Tiltfile is not loaded yet"}
	case state.Evaluating(v):
		open = []string{"the Tiltfile is being evaluated again"}
	default:
		open = []string{uncollected(v)}
	}
	return open
}

// uncollected names the leftovers that still exist when everything that is declared is ready.
func uncollected(v store.View) string {
	going := state.TheSession(v).Collection.Going
	if len(going) == 0 {
		return "what earlier sessions left over was not looked for yet"
	}
	names := make([]string, len(going))
	for i, name := range going {
		names[i] = string(name)
	}
	return "what is no longer declared is still being deleted: " + strings.Join(names, ", ")
}
