package state

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Pod is an entry of table pods; its id is the pod's UID.
type Pod struct {
	model.Pod
	// Current is set for a pod of the resource's newest deploy.
	Current bool
	// Selected is set for a pod that belongs to the resource only because of its labels: no object that the resource has
	// applied owns it.
	Selected bool
	// FailingSince is the time since which the pod has looked unable to become ready on its own; zero if it never did, or has become
	// ready since. A restart of a container that fails again does not change it.
	FailingSince time.Time
	// LoopingSince is the time of the first failure of a container in a crash loop: Kubernetes starts the container again after
	// pauses, and no run has lasted yet. It is zero if there is no such container, or once the newest run has lasted.
	LoopingSince time.Time
	// DownSince is the time of the crash of a container that the kubelet starts again; zero if all run. Overdue is set once the
	// start takes longer than announced.
	DownSince time.Time
	Overdue   bool
	// Unhealthy is the kubelet's last report on each probe that has failed since the pod was last ready.
	Unhealthy []ProbeFailure
}

// PodChanged reports the new state of a pod that belongs to a resource.
type PodChanged struct{ Pod Pod }

// PodGone reports that a pod no longer exists or no longer belongs to a resource.
type PodGone struct{ Pod model.Pod }

// ServiceChanged reports the new state of a Service of a resource.
type ServiceChanged struct{ Service model.Service }

// ServiceGone reports that a Service no longer exists.
type ServiceGone struct{ UID string }

// ObjectsChanged reports the status of applied objects.
type ObjectsChanged struct{ Objects []model.ObjectStatus }

// ObjectGone reports that an applied object no longer exists.
type ObjectGone struct{ UID string }

func init() {
	store.On(Pods, func(d *store.Draft[Pod], a PodChanged) {
		next := a.Pod
		was := d.Value(next.UID)
		next.FailingSince = failingSince(was.FailingSince, next.Pod, d.Now())
		next.LoopingSince = loopingSince(was, next, d.Now())
		next.DownSince, next.Overdue = down(was, next.Pod, d.Now())
		next.Unhealthy = stillUnhealthy(was.Unhealthy, next.Pod)
		if d.Ref(next.UID) == nil || !reflect.DeepEqual(was, next) {
			d.PutOwned(next.UID, string(next.Resource), nil, next)
		}
	})
	store.On(Pods, func(d *store.Draft[Pod], a BuildCompleted) {
		if a.Deployed {
			retirePods(d, a)
		}
	})
	store.On(Pods, func(d *store.Draft[Pod], a PodGone) { d.Delete(a.Pod.UID) })
	store.On(Services, func(d *store.Draft[model.Service], a ServiceChanged) {
		if was := d.Ref(a.Service.UID); was == nil || was.Value != a.Service {
			d.PutOwned(a.Service.UID, string(a.Service.Resource), nil, a.Service)
		}
	})
	store.On(Services, func(d *store.Draft[model.Service], a ServiceGone) { d.Delete(a.UID) })
	store.On(Objects, func(d *store.Draft[model.ObjectStatus], a ObjectsChanged) {
		for _, o := range a.Objects {
			if was := d.Ref(o.UID); was == nil || was.Value != o {
				d.PutOwned(o.UID, string(o.Resource), nil, o)
			}
		}
	})
	store.On(Objects, func(d *store.Draft[model.ObjectStatus], a ObjectGone) { d.Delete(a.UID) })
}

// failingSince returns the time since which a pod has been failing, given the value before.
func failingSince(was time.Time, p model.Pod, now time.Time) time.Time {
	_, failing := PodFailure(p)
	switch {
	case failing && was.IsZero():
		return now
	case !failing && (p.Ready || p.Phase == "Succeeded"):
		return time.Time{}
	}
	return was
}

// loopingSince returns the time since which a pod has been in a crash loop, given the pod before.
func loopingSince(was, next Pod, now time.Time) time.Time {
	since := was.LoopingSince
	for _, c := range next.AllContainers() {
		i := slices.IndexFunc(was.Containers, func(o model.Container) bool { return o.Name == c.Name })
		if c.State == model.ContainerTerminated && i >= 0 && c.FinishedAt.Sub(c.StartedAt) >= lasting(was.Containers[i]) {
			since = time.Time{} // a new failure
		}
		if c.State == model.ContainerWaiting && c.Reason == "CrashLoopBackOff" && since.IsZero() {
			since = now
			if !next.FailingSince.IsZero() {
				since = next.FailingSince
			}
		}
	}
	_, failing := PodFailure(next.Pod)
	if over := LastsFrom(next.Pod); !failing && !over.IsZero() && !now.Before(over) {
		return time.Time{}
	}
	return since
}

// The bounds for the time that a run must go on until a crash loop counts as over. Kubernetes itself takes ten minutes.
const leastLasting, mostLasting = 10 * time.Second, 10 * time.Minute

// lasting returns how long a run of a container must go on until it counts as better than the run before, which has failed.
func lasting(c model.Container) time.Duration {
	return max(leastLasting, min(3*c.LastFinishedAt.Sub(c.LastStartedAt), mostLasting))
}

// Relapse returns the container of a pod in a crash loop that runs again, and has not yet run long enough for the loop to count
// as over.
func Relapse(p Pod) (c model.Container, looping bool) {
	if p.LoopingSince.IsZero() {
		return c, false
	}
	for _, c := range p.LastingContainers() {
		if runsAgain(c) {
			return c, true
		}
	}
	return c, false
}

func runsAgain(c model.Container) bool {
	return c.State == model.ContainerRunning && c.Restarts > 0 && c.LastReason != ""
}

// LastsFrom returns the time at which the containers of a pod that run again will have lasted, so that a crash loop is over; zero
// if none runs again.
func LastsFrom(p model.Pod) (at time.Time) {
	for _, c := range p.LastingContainers() {
		if until := c.StartedAt.Add(lasting(c)); runsAgain(c) && until.After(at) {
			at = until
		}
	}
	return at
}

// Stands reports whether the pod belongs to the newest deploy, and stays.
func (p Pod) Stands() bool { return p.Current && !p.Deleting }

// Standing returns the pods that stand.
func Standing(pods []Pod) []Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p Pod) bool { return !p.Stands() })
}

// Present returns the pods that describe the resource now: they stand, and have not failed for good and been followed by another
// pod of the same owner, such as the next try of a Job, or the replacement of an evicted pod. The others remain readable. pods must
// be the pods of the resource.
//
// The result may be pods itself, and must not be changed.
func Present(pods []Pod) []Pod {
	past := func(p Pod) bool { return !p.Stands() || p.followed(pods) }
	if !slices.ContainsFunc(pods, past) {
		return pods
	}
	return slices.DeleteFunc(slices.Clone(pods), past)
}

// followed reports whether a pod that has failed for good was followed by another pod of the same owner.
func (p Pod) followed(pods []Pod) bool {
	return p.Phase == "Failed" && p.Owner != "" && slices.ContainsFunc(pods, func(o Pod) bool {
		return o.Owner == p.Owner && o.Stands() && o.CreatedAt.After(p.CreatedAt)
	})
}

// retirePods marks the pods that a deploy has made old, as part of the deploy itself: until PodWatcher has examined them
// again, they would count as pods of the newest deploy, and the resource as ready.
func retirePods(d *store.Draft[Pod], a BuildCompleted) {
	hashes := map[string]bool{}
	for _, o := range a.Applied {
		hashes[o.TemplateHash] = o.TemplateHash != ""
	}
	for e := range d.Refs() {
		p := e.Value
		old := p.TemplateHash != "" && !hashes[p.TemplateHash]
		if old && p.Current && p.Resource == a.Resource {
			p.Current = false
			d.PutOwned(e.ID, string(p.Resource), nil, p)
		}
	}
}

// PodFailure reports whether a pod cannot become ready on its own, and why: the container, its reason, its exit code and
// its message.
func PodFailure(p model.Pod) (string, bool) {
	if p.OfCompose() {
		failed := p.Phase == "Failed" || p.Restarting()
		status := p.Status
		if status == "OOMKilled" && len(p.Containers) == 1 {
			status = fmt.Sprintf("OOMKilled (exit code %d)", p.Containers[0].ExitCode)
		}
		return describe("container "+p.Name, status, p.Message), failed
	}
	c, failed := FailedContainer(p)
	if p.Phase == "Failed" && (!failed || p.Message != "" || p.Status != c.Reason) {
		why := describe("pod failed", cmp.Or(p.Status, p.Phase), p.Message)
		if failed {
			why += fmt.Sprintf("; container %s: %s, exit code %d", c.Name, c.Reason, c.ExitCode)
		}
		return why, true
	}
	if !failed {
		return "", false
	}
	what := "container " + c.Name
	switch {
	case c.State == model.ContainerTerminated:
		return describe(what, fmt.Sprintf("%s, exit code %d", c.Reason, c.ExitCode), c.Message), true
	case c.Reason != "CrashLoopBackOff" || c.LastReason == "":
		return describe(what, c.Reason, c.Message), true
	case c.LastExitCode == 0:
		return describe(what, "CrashLoopBackOff, ended with exit code 0", "it is meant to keep running"), true
	}
	return describe(what, fmt.Sprintf("CrashLoopBackOff, exit code %d", c.LastExitCode), c.LastReason), true // its message only mentions the back-off
}

// FailedContainer returns the container that keeps a pod from becoming ready on its own, if there is one.
func FailedContainer(p model.Pod) (model.Container, bool) {
	for _, c := range p.AllContainers() {
		ended := c.State == model.ContainerTerminated && (c.ExitCode != 0 || c.Reason == "OOMKilled") // a child may have been killed
		switch {
		case p.OfCompose(), p.Phase == "Failed" && ended:
			return c, true
		case (ended || c.State == model.ContainerWaiting) && model.PodErrorReasons[c.Reason]:
			return c, true
		}
	}
	return model.Container{}, false
}

// WaitsForNode reports whether no node has taken the pod yet.
func WaitsForNode(p Pod) bool { return p.NodeName == "" && p.Phase == "Pending" && !p.OfCompose() }

// RunOf names the run of a container. Kubernetes makes a new container, with a new id, for each run; a container of Compose
// is restarted as it is, and keeps its log.
func RunOf(p model.Pod, c model.Container) string {
	switch {
	case !p.OfCompose():
		return c.ID
	case c.ID == "" || c.StartedAt.IsZero():
		return "" // a container of Compose has its id before it has run
	}
	return c.ID + "@" + c.StartedAt.UTC().Format(time.RFC3339Nano)
}

// LogSpan is the log span of a run of a container; empty for a container that has not run.
func LogSpan(p model.Pod, container, run string) string {
	if run == "" {
		return ""
	}
	return "pod:" + p.Key() + "/" + container + ":" + run
}

// Published returns the ports of this machine that lead to the containers of a Compose service, each once, by number. The
// name and the protocol that the Compose file declares for a port are included. Of a port that the engine chose for IPv4 and
// for IPv6, it returns the one for IPv4: usually both have the same number, but an engine chooses another one for IPv6 if a
// second container starts at the same time.
func Published(m model.Manifest, pods []Pod) []model.ComposePort {
	if m.Compose == nil {
		return nil
	}
	var out []model.ComposePort
	for _, p := range pods {
		if !p.Current || p.Deleting {
			continue
		}
		for _, port := range p.Published {
			same := func(o model.ComposePort) bool { return o.Published == port.Published && o.Protocol == port.Protocol }
			if port.Published == 0 || slices.ContainsFunc(out, same) || chosenAgain(m.Compose.Ports, p.Published, port) {
				continue
			}
			for _, declared := range m.Compose.Ports {
				if declared.Target == port.Target && declared.Protocol == port.Protocol {
					port.Name, port.AppProtocol = declared.Name, declared.AppProtocol
				}
			}
			out = append(out, port)
		}
	}
	slices.SortStableFunc(out, func(a, b model.ComposePort) int { return a.Published - b.Published })
	return out
}

// chosenAgain reports whether a port is the IPv6 twin of a port that the engine chose for IPv4.
func chosenAgain(declared, published []model.ComposePort, port model.ComposePort) bool {
	twin := func(o model.ComposePort) bool {
		return o.HostIP == "0.0.0.0" && o.Target == port.Target && o.Protocol == port.Protocol
	}
	named := func(o model.ComposePort) bool { return o.Published == port.Published }
	return port.HostIP == "::" && slices.ContainsFunc(published, twin) && !slices.ContainsFunc(declared, named)
}

func describe(what, reason, message string) string {
	s := what + ": " + reason
	if message != "" && message != reason {
		s += " (" + message + ")"
	}
	return s
}

// comparePods puts current pods before others, those that stay before those that are being deleted, newer before older.
func comparePods(a, b *Pod) int {
	flag := func(b bool) int {
		if b {
			return 0
		}
		return 1
	}
	return cmp.Or(flag(a.Current)-flag(b.Current), flag(!a.Deleting)-flag(!b.Deleting),
		b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.Name, b.Name))
}
