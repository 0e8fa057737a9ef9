package eventwatcher

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// slowPull is the duration from which the pull of an image is worth more than one line.
const slowPull = time.Second

// The reasons of Kubernetes' events that are not mere warnings.
const (
	scheduled = "Scheduled"
	pulling   = "Pulling"
	pulled    = "Pulled"
	killing   = "Killing"
	unhealthy = "Unhealthy"
)

// worthTelling reports whether an event may interest people: warnings, image pulls, and containers that are ended because a
// probe fails. The creation and start of a container are expected and not reported.
func worthTelling(e k8s.KubeEvent) bool {
	switch {
	case e.Warning():
		return true
	case e.Object.Kind != "Pod":
		return false
	case e.Reason == pulled:
		return !strings.Contains(e.Message, "already present")
	case e.Reason == killing:
		return strings.Contains(e.Message, " probe")
	}
	return e.Reason == scheduled || e.Reason == pulling
}

// reporter decides which events are reported, and when. It belongs to Run's goroutine.
type reporter struct {
	say func(name model.ManifestName, level logstore.Level, text string)
	now func() time.Time
	// pending are the events whose resource is not known yet, in the order in which they came.
	pending []k8s.KubeEvent
	news    dedup
	// scheduled are the events about where pods run, by pod, until a pull is reported; pulls are the pulls under way.
	scheduled map[string]k8s.KubeEvent
	pulls     map[place]*pull
	// quick are the images whose quick pull was reported, by resource.
	quick map[[2]string]bool
	// unready are the pods that were reported as not ready, by UID.
	unready  map[string]*unready
	rollouts map[string]*rollout
}

// place is a container of a pod, as events name it.
type place struct{ pod, fieldPath string }

// pull is an image that is being pulled.
type pull struct {
	resource model.ManifestName
	pod      state.Pod
	event    k8s.KubeEvent
	// due is the time from which the pull counts as slow and is reported; told is set once it was.
	due  time.Time
	told bool
}

// unready is a pod that was reported as not ready.
type unready struct {
	resource model.ManifestName
	// before is set if it had been ready, seen if it was seen not ready since.
	before, seen bool
}

func newReporter(say func(model.ManifestName, logstore.Level, string), now func() time.Time) *reporter {
	return &reporter{say: say, now: now, news: dedup{}, scheduled: map[string]k8s.KubeEvent{}, pulls: map[place]*pull{},
		quick: map[[2]string]bool{}, unready: map[string]*unready{}, rollouts: map[string]*rollout{}}
}

// take records an event, or a newer state of one.
func (t *reporter) take(e k8s.KubeEvent) {
	t.pending = append(slices.DeleteFunc(t.pending, func(o k8s.KubeEvent) bool { return o.UID == e.UID }), e)
}

// tell writes the events that are due. It returns actions for failed probes, and the time after which more may be due
// (0: never). owners maps UIDs to resources.
func (t *reporter) tell(v store.View, owners map[string]model.ManifestName) (probes []store.Action, left time.Duration) {
	if len(t.pending) > 0 {
		var rest []k8s.KubeEvent
		for _, e := range t.pending {
			switch name, pod, is := owner(v, owners, e); {
			case is == ours && e.Object.Kind == "Pod" && pod != nil:
				probes = append(probes, t.ofPod(name, *pod, e)...)
			case is == ours:
				t.warn(name, nil, e)
			case is == unknown && t.now().Sub(e.LastSeen) < waitForOwner:
				rest = append(rest, e)
			}
		}
		t.pending = rest
	}
	t.readyAgain(v)
	return probes, soonest(t.slowPulls(v), t.rollingOut(v))
}

// soonest returns the shorter of two times to wait; 0 is none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// verdict says whether an event concerns a resource.
type verdict int

const (
	unknown verdict = iota
	ours
	past // a pod that is being deleted, whose probes fail because it ends
)

// owner returns the resource that an event is about, and the pod if it is about one. A pod must belong to the newest
// update.
func owner(v store.View, owners map[string]model.ManifestName, e k8s.KubeEvent) (model.ManifestName, *state.Pod, verdict) {
	if row := state.Pods.In(v).Ref(e.ObjectUID); row != nil {
		p := row.Value
		switch {
		case p.Deleting:
			return p.Resource, &p, past
		case !p.Current:
			return p.Resource, &p, unknown // it may later turn out to belong to the newest update
		}
		return p.Resource, &p, ours
	}
	if name, ok := owners[e.ObjectUID]; ok {
		return name, nil, ours
	}
	return "", nil, unknown
}

// ofPod reports an event of a pod, and returns an action if it is about a probe or a pulled image.
func (t *reporter) ofPod(name model.ManifestName, p state.Pod, e k8s.KubeEvent) []store.Action {
	at := place{p.UID, e.Object.FieldPath}
	switch e.Reason {
	case scheduled:
		if !e.Warning() {
			t.scheduled[p.UID] = e
			return nil
		}
	case pulling:
		if t.pulls[at] == nil && t.news.pass(e) > 0 {
			due := t.now().Add(slowPull)
			if t.now().Sub(e.LastSeen) > 2*slowPull { // the times of events are rounded to seconds
				due = t.now()
			}
			t.pulls[at] = &pull{resource: name, pod: p, event: e, due: due}
		}
		return nil
	case pulled:
		image, took, known := pullOf(e.Message)
		t.hasPulled(name, p, e, t.pulls[at])
		delete(t.pulls, at)
		if !known {
			return nil
		}
		return []store.Action{state.ImagePulled{Resource: name, Pod: p.Name, Image: image, Took: took}}
	case unhealthy:
		f, ok := probeFailure(e)
		if !ok {
			break
		}
		t.warn(name, &p, e)
		if f.Kind != model.ProbeLiveness {
			t.wasUnready(name, p)
		}
		return []store.Action{state.ProbeFailed{Pod: p.UID, Failure: f}}
	}
	if e.Warning() {
		delete(t.pulls, at) // it could not be pulled
	}
	t.warn(name, &p, e)
	return nil
}

// warn reports an event if it is news.
func (t *reporter) warn(name model.ManifestName, p *state.Pod, e k8s.KubeEvent) {
	if count := t.news.pass(e); count > 0 {
		t.write(name, p, e, logstore.LevelWarn, count)
	}
}

// write reports an event that has happened count times.
func (t *reporter) write(name model.ManifestName, p *state.Pod, e k8s.KubeEvent, level logstore.Level, count int) {
	about := fmt.Sprintf("%s %s/%s", strings.ToLower(e.Object.Kind), e.Object.Namespace, e.Object.Name)
	if c := containerOf(e); c != "" && p != nil && len(p.AllContainers()) > 1 {
		about += ", container " + c
	}
	line := fmt.Sprintf("[event: %s] %s", about, words.ClipChars(words.OneLine(e.Message), longest))
	if count > 1 {
		line += fmt.Sprintf(" (×%d)", count)
	}
	t.say(name, level, line)
}

// longest bounds the text of probes' answers and of events, in characters.
const longest = 1000

// pulledIn is Kubernetes' message about a pulled image: its name, and how long the pull took.
var pulledIn = regexp.MustCompile(`image "([^"]*)" in ([0-9.hmsµn]+)`)

// pullOf reads Kubernetes' message about a pulled image; ok is false if it does not tell the time.
func pullOf(message string) (image string, took time.Duration, ok bool) {
	m := pulledIn.FindStringSubmatch(message)
	if m == nil {
		return "", 0, false
	}
	took, err := time.ParseDuration(m[2])
	return m[1], took, err == nil
}

// hasPulled reports a pulled image: after a slow pull with all preceding events, after a quick pull with one line, and only
// once for each image of a resource, even if many pods pull it.
func (t *reporter) hasPulled(name model.ManifestName, p state.Pod, e k8s.KubeEvent, began *pull) {
	image, took, known := pullOf(e.Message)
	silent := began == nil || !began.told
	quick := known && took < slowPull && silent
	switch {
	case quick && t.quick[[2]string{string(name), image}]:
		return
	case quick:
		t.quick[[2]string{string(name), image}] = true
	case began != nil:
		t.tellPull(began)
	}
	t.write(name, &p, e, logstore.LevelInfo, 1)
}

// tellPull reports that an image is being pulled, and where its pod runs.
func (t *reporter) tellPull(p *pull) {
	if p.told {
		return
	}
	p.told = true
	if e, ok := t.scheduled[p.pod.UID]; ok {
		t.write(p.resource, &p.pod, e, logstore.LevelInfo, 1)
		delete(t.scheduled, p.pod.UID)
	}
	t.write(p.resource, &p.pod, p.event, logstore.LevelInfo, 1)
	t.wasUnready(p.resource, p.pod)
}

// slowPulls reports slow pulls, and returns after which time the next pull becomes slow.
func (t *reporter) slowPulls(v store.View) (left time.Duration) {
	pods := state.Pods.In(v)
	for uid := range t.scheduled {
		if p := pods.Ref(uid); p == nil || p.Value.Ready {
			delete(t.scheduled, uid)
		}
	}
	for at, p := range t.pulls {
		if pods.Ref(at.pod) == nil {
			delete(t.pulls, at)
		} else if wait := p.due.Sub(t.now()); wait > 0 {
			left = soonest(left, wait)
		} else {
			t.tellPull(p)
		}
	}
	return left
}

// wasUnready records that a pod was reported as not ready.
func (t *reporter) wasUnready(name model.ManifestName, p state.Pod) {
	if t.unready[p.UID] == nil {
		t.unready[p.UID] = &unready{resource: name, before: p.Ready, seen: !p.Ready}
	}
}

// readyAgain reports pods that have become ready since.
func (t *reporter) readyAgain(v store.View) {
	for uid, u := range t.unready {
		pods := state.Pods.In(v)
		p := pods.Value(uid)
		switch {
		case pods.Ref(uid) == nil || p.Deleting || p.Phase == "Succeeded":
			delete(t.unready, uid)
		case !p.Ready:
			u.seen = true
		case u.seen:
			line := "pod " + p.Name + " is ready"
			if age := t.now().Sub(p.CreatedAt).Round(time.Second); u.before {
				line += " again"
			} else if !p.CreatedAt.IsZero() && age > 0 {
				line += fmt.Sprintf(", %s after it was created", age)
			}
			t.say(u.resource, logstore.LevelInfo, line)
			delete(t.unready, uid)
			t.news.calm(uid)
		}
	}
}

// Kubernetes names the probe in the message, and the container in the path.
var (
	probeFails = regexp.MustCompile(`(?s)(Startup|Readiness|Liveness) probe [^:]*: *(.*)`)
	inBraces   = regexp.MustCompile(`\{(.*)\}$`)
)

// probeFailure parses an event about a probe.
func probeFailure(e k8s.KubeEvent) (state.ProbeFailure, bool) {
	m := probeFails.FindStringSubmatch(e.Message)
	if m == nil {
		return state.ProbeFailure{}, false
	}
	return state.ProbeFailure{Container: containerOf(e), Kind: model.ProbeKind(strings.ToLower(m[1])), Answer: words.ClipChars(words.OneLine(m[2]), longest), At: e.LastSeen}, true
}

// containerOf returns the container that an event of a pod is about, empty if it is about none.
func containerOf(e k8s.KubeEvent) string {
	if m := inBraces.FindStringSubmatch(e.Object.FieldPath); m != nil {
		return m[1]
	}
	return ""
}
