package buildcontrol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// The runtime state of a resource is not stored. Runtime computes it from one snapshot: from the update (what was applied), the pods, the
// objects, the processes and the synclets. Nothing here waits or remembers; a state that depends on time, such as an overdue start, arrives
// in the snapshot as a fact. The kind of the resource selects the function:
//
//	local    localRuntime    the process of serve_cmd
//	Compose  composeRuntime  the containers of the service (compose.go)
//	k8s      Runtime itself  the first fact in the list at Runtime that applies
//	other    not applicable
//
// The status moves like this. None is the state before the first deploy, and after the objects were taken down:
//
//	none ──applied──> pending ──ready, completed, or nothing to wait for──> ok
//	                    │  ↑                                                 │
//	                    ↓  └──────────────a new pod, a new process───────────┤
//	                  error <──────────a pod, a Job or a process fails───────┘
//
// An error is Final if only the user can end it. Pods of a Job are tries: the Job says whether one of them is a failure (splitTries), so
// they count neither as ready nor as failed pods of their own. Callers that only want to know whether a resource has been ready ask
// readyNow and NewlyReady in hold.go.

// RuntimeStatus is the status of the deployed objects or processes, in the words that scripts know.
type RuntimeStatus string

// The values of RuntimeStatus.
const (
	RuntimeUnknown       RuntimeStatus = "unknown"
	RuntimeOK            RuntimeStatus = "ok"
	RuntimePending       RuntimeStatus = "pending"
	RuntimeError         RuntimeStatus = "error"
	RuntimeNotApplicable RuntimeStatus = "not_applicable"
	RuntimeNone          RuntimeStatus = "none"
)

// Settled reports whether nothing is left to wait for.
func (s RuntimeStatus) Settled() bool { return s == RuntimeOK || s == RuntimeNotApplicable }

// Open reports whether the outcome is still open.
func (s RuntimeStatus) Open() bool { return s == RuntimePending || s == RuntimeUnknown }

// RuntimeState is a status with its explanation.
type RuntimeState struct {
	Status RuntimeStatus
	// Text is the status for people: "running 1/1", "crash loop ×4".
	Text string
	// Err explains RuntimeError and, where possible, RuntimePending.
	Err string
	// FailingSince is the time at which an error began to show; zero if unknown or if there is none.
	FailingSince time.Time
	// Pod is the UID of the pod that Err is about; empty if it is about none. Span is the log span of the container; empty if none
	// has run.
	Pod, Span string
	// Final is set when waiting cannot help: a job has failed, a server has exited. Again is set when the failed container is
	// started again at once, as after a first crash; after several crashes, the kubelet or the supervisor pauses first.
	Final, Again bool
}

// Message returns the explanation, else the text.
func (r RuntimeState) Message() string { return cmp.Or(r.Err, r.Text) }

// Runtime returns the runtime state of a resource. pods are its pods as PodsOf sorts them.
//
// For objects of Kubernetes, the first of these that applies decides: others have deleted the objects; the user ignores the pods
// (pod_readiness); a watch does not work; a Job has given up; a Job's pod cannot start; another pod fails; a supervised process
// has ended; a pod is not ready; an object that should have run to an end was removed; the status of the objects.
func Runtime(v store.View, m model.Manifest, u state.Update, pods []state.Pod) RuntimeState {
	switch {
	case m.IsLocal():
		return localRuntime(v, m, u)
	case m.IsCompose():
		return composeRuntime(v, m, u, pods)
	case !m.IsK8s():
		return RuntimeState{Status: RuntimeNotApplicable}
	case u.AppliedAt.IsZero():
		return RuntimeState{Status: RuntimeNone}
	}
	if r, gone := goneRuntime(v, m.Name, u); gone {
		return r
	}
	if m.K8s.PodReadiness == model.PodIgnore {
		return RuntimeState{Status: RuntimeOK, Text: "applied"}
	}
	if w, blind := state.Blinding(v, m.Name); blind {
		return RuntimeState{Status: RuntimeError, Text: "cannot be watched", Err: w.Problem.Text(), FailingSince: w.Since}
	}
	objects := objectsOf(v, u)
	current := state.Present(pods)
	if i := slices.IndexFunc(objects, givenUp); i >= 0 {
		return failedJob(objects[i], pods)
	}
	others, tries := splitTries(current, objects)
	if r, stuck := cannotStart(tries); stuck {
		return r
	}
	work := podsRuntime(m, others)
	if len(others) > 0 && work.Status == RuntimeError {
		return work
	}
	if r, ended := processRuntime(v, current); ended {
		return r
	}
	if len(others) > 0 && work.Status != RuntimeOK {
		return work
	}
	if i := slices.IndexFunc(objects, func(o model.ObjectStatus) bool { return vanished(o) && matters(m, o, tries) }); i >= 0 {
		return removedRuntime(v, u, objects[i])
	}
	return objectsRuntime(m, u, others, tries, objects)
}

// splitTries separates the pods of Jobs, which their Jobs account for, from all others.
func splitTries(pods []state.Pod, objects []model.ObjectStatus) (others, tries []state.Pod) {
	if !slices.ContainsFunc(objects, isJob) {
		return pods, nil
	}
	for _, p := range pods {
		if p.Owner != "" && slices.ContainsFunc(objects, func(o model.ObjectStatus) bool { return isJob(o) && o.UID == p.Owner }) {
			tries = append(tries, p)
		} else {
			others = append(others, p)
		}
	}
	return others, tries
}

func isJob(o model.ObjectStatus) bool { return o.Group == "batch" && o.Kind == "Job" }

// cannotStart returns the state for a pod of a Job whose container cannot start, so that the Job neither fails nor
// completes. A failed container or pod is left to the Job, which may try again.
func cannotStart(tries []state.Pod) (r RuntimeState, stuck bool) {
	for _, p := range tries {
		for _, c := range p.AllContainers() {
			if c.State != model.ContainerWaiting || !model.PodErrorReasons[c.Reason] || c.Reason == "CrashLoopBackOff" {
				continue
			}
			if _, failing := state.PodFailure(p.Pod); failing {
				return failedPod(p), true
			}
		}
	}
	return r, false
}

// failedJob returns the state for a Job that Kubernetes will not try again, with the newest of its failed pods.
func failedJob(o model.ObjectStatus, pods []state.Pod) RuntimeState {
	r := RuntimeState{Status: RuntimeError, Text: "failed", Err: o.ObjectID.String() + ": " + o.Message, Final: true}
	newest := slices.SortedStableFunc(slices.Values(pods), func(a, b state.Pod) int { return b.CreatedAt.Compare(a.CreatedAt) })
	for _, p := range newest {
		if _, failing := state.PodFailure(p.Pod); failing && p.Owner == o.UID {
			f := failedPod(p)
			r.Err, r.Pod, r.Span = r.Err+"; "+f.Err, f.Pod, f.Span
			break
		}
	}
	return r
}

// failedPod returns the state for a pod that cannot become ready on its own.
func failedPod(p state.Pod) RuntimeState {
	why, _ := state.Trouble(p)
	r := RuntimeState{Status: RuntimeError, Text: failureText(p), Err: why, FailingSince: p.FailingSince, Pod: p.UID}
	if !p.OfCompose() {
		r.Err = "pod " + p.Name + ": " + why
	}
	if c, ok := state.FailedContainer(p.Pod); ok {
		r.Again = p.Phase != "Failed" && c.State == model.ContainerTerminated
		r.Span = state.LogSpan(p.Pod, c.Name, state.RunOf(p.Pod, c))
	}
	return r
}

// unreadyPod returns the state for the first pod that is not ready yet, with the number of ready pods: "Running 1/2".
func unreadyPod(pods []state.Pod, ready int) RuntimeState {
	p := pods[slices.IndexFunc(pods, func(p state.Pod) bool { return !p.Ready && p.Phase != "Succeeded" })]
	word := p.Status
	if !p.UnreadySince.IsZero() {
		word = "not ready"
	}
	r := RuntimeState{Status: RuntimePending, Text: fmt.Sprintf("%s %d/%d", word, ready, len(pods)), Err: state.NotReady(p), FailingSince: p.UnreadySince, Pod: p.UID}
	if r.Err != "" && !p.OfCompose() {
		r.Err = "pod " + p.Name + ": " + r.Err
	}
	for _, c := range p.LastingContainers() {
		if !c.Ready {
			r.Span = state.LogSpan(p.Pod, c.Name, state.RunOf(p.Pod, c))
			break
		}
	}
	return r
}

// jobRuntime returns the state of a Job that is not complete, given its pods.
func jobRuntime(o model.ObjectStatus, tries []state.Pod) RuntimeState {
	r := RuntimeState{Status: RuntimePending, Text: "starting", Err: o.ObjectID.String() + ": " + cmp.Or(o.Message, "not seen yet")}
	for _, p := range tries {
		if p.Owner != o.UID {
			continue
		}
		r.Text = p.Status
		if _, failing := state.PodFailure(p.Pod); failing {
			f := failedPod(p)
			r.Text, r.Err, r.Pod, r.Span = f.Text, r.Err+"; "+f.Err, f.Pod, f.Span
		} else if state.WaitsForNode(p) && p.Message != "" {
			r.Err, r.Pod = r.Err+"; pod "+p.Name+": "+p.Message, p.UID
		}
		return r
	}
	if strings.Contains(o.Message, "suspended") {
		r.Text = "suspended"
	}
	return r
}

func localRuntime(v store.View, m model.Manifest, u state.Update) RuntimeState {
	if m.Local.Serve.Empty() {
		return RuntimeState{Status: RuntimeNotApplicable}
	}
	rows := state.Processes.In(v)
	p, known := rows.Value(string(m.Name)), rows.Ref(string(m.Name)) != nil
	switch {
	case !known && !u.Succeeded:
		return RuntimeState{Status: RuntimeNone}
	case !known || p.State == state.ProcessStarting:
		return RuntimeState{Status: RuntimePending, Text: "starting"}
	case p.Build < u.SucceededSerial, p.Restart < state.Restarts.In(v).Value(string(m.Name)).Serial, p.State == state.ProcessStopping, p.State == state.ProcessStopped:
		return RuntimeState{Status: RuntimePending, Text: "restarting"}
	case p.State == state.ProcessFailed:
		return RuntimeState{Status: RuntimeError, Text: "failed", Err: p.Err, Final: true}
	case p.Ready:
		return RuntimeState{Status: RuntimeOK, Text: fmt.Sprintf("pid %d", p.PID)}
	}
	return RuntimeState{Status: RuntimePending, Text: fmt.Sprintf("pid %d, not ready", p.PID), Err: p.Detail, FailingSince: p.FailingSince}
}

// objectsOf returns the status of the objects that the resource applied last. An object without an entry has a kind without a
// status, or has not been seen yet. An entry from before the apply is ignored: over a slow line, the answer to an apply arrives
// well before the change that a watch reports.
func objectsOf(v store.View, u state.Update) []model.ObjectStatus {
	rows := state.Objects.In(v)
	var out []model.ObjectStatus
	for _, a := range u.Applied {
		if e := rows.Ref(a.UID); e != nil && (e.Value.Generation == 0 || e.Value.Generation >= a.Generation) {
			out = append(out, e.Value)
		} else if HasStatus(a.ObjectID) {
			out = append(out, model.ObjectStatus{ObjectID: a.ObjectID, UID: a.UID, Health: model.HealthUnknown})
		}
	}
	return out
}

// HasStatus reports whether objects of this kind report a status, so that watching them is worthwhile. Kinds that are
// complete as soon as they exist do not.
func HasStatus(id model.ObjectID) bool {
	switch id.Group {
	case "":
		return id.Kind == "Pod" || id.Kind == "PersistentVolumeClaim" || id.Kind == "ReplicationController"
	case "rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io",
		"networking.k8s.io", "node.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "policy", "autoscaling",
		"flowcontrol.apiserver.k8s.io", "events.k8s.io":
		return false
	case "batch":
		return id.Kind == "Job"
	}
	return true
}

func podsRuntime(m model.Manifest, pods []state.Pod) RuntimeState {
	if len(pods) == 0 {
		return RuntimeState{Status: RuntimeOK}
	}
	var failed RuntimeState
	ready, total, done := 0, 0, 0
	for _, p := range pods {
		total++
		if _, failing := state.PodFailure(p.Pod); failing {
			if failed.Status == "" { // the newest
				failed = failedPod(p)
			}
			continue
		}
		switch {
		case p.Phase == "Succeeded":
			done++
		case p.Ready:
			ready++
		}
	}
	switch {
	case failed.Status != "":
		return failed
	case m.K8s.PodReadiness == model.PodSucceeded && done > 0:
		return RuntimeState{Status: RuntimeOK, Text: "completed"}
	case m.K8s.PodReadiness == model.PodSucceeded:
		return RuntimeState{Status: RuntimePending, Text: pods[0].Status}
	case ready+done == total:
		return RuntimeState{Status: RuntimeOK, Text: readyText(ready, done, total)}
	}
	return unreadyPod(pods, ready+done)
}

// processRuntime returns the state for a process that has ended under the synclet's supervisor, in a container that keeps
// running.
func processRuntime(v store.View, pods []state.Pod) (r RuntimeState, ended bool) {
	synclets := state.Synclets.In(v)
	for _, p := range pods {
		for _, c := range p.LastingContainers() {
			s := synclets.Value(c.ID)
			if c.State != model.ContainerRunning || !s.Supervised || s.Running {
				continue
			}
			text := fmt.Sprintf("exited %d", s.ExitCode)
			if s.Crashes > 1 {
				text += fmt.Sprintf(" ×%d", s.Crashes)
			}
			what := "pod"
			if p.OfCompose() {
				what = "container"
			}
			return RuntimeState{Status: RuntimeError, Text: text, Err: fmt.Sprintf("%s %s: %s", what, p.Name, s.Ended()),
				FailingSince: s.EndedAt, Final: s.Again == 0, Again: s.Again != 0 && s.Crashes < 2, Pod: p.UID, Span: state.LogSpan(p.Pod, c.Name, state.RunOf(p.Pod, c))}, true
		}
	}
	return RuntimeState{}, false
}

func failureText(p state.Pod) string {
	if n := p.Restarts(); n > 0 {
		return fmt.Sprintf("%s ×%d", p.Status, n)
	}
	return p.Status
}

func readyText(ready, done, total int) string {
	if ready == 0 && done > 0 {
		return "completed"
	}
	return fmt.Sprintf("running %d/%d", ready, total)
}

// objectsRuntime derives the state from the objects themselves, once no pod contradicts it. The status of a workload shows
// whether it should have pods and has none yet; for some kinds only events tell that they are refused. The status of a Job
// decides about its pods (tries). A running Job is enough if the user wants no more than ready pods.
func objectsRuntime(m model.Manifest, u state.Update, pods, tries []state.Pod, objects []model.ObjectStatus) RuntimeState {
	for _, o := range objects {
		if why, refused := u.Refusal(o); refused {
			return RuntimeState{Status: RuntimeError, Text: "failed", Err: o.ObjectID.String() + ": " + why}
		}
		if isJob(o) && o.Health != model.HealthCurrent {
			if vanished(o) || runsOnly(m, o, tries, objects) {
				continue
			}
			return jobRuntime(o, tries)
		}
		switch o.Health {
		case model.HealthFailed:
			return RuntimeState{Status: RuntimeError, Text: "failed", Err: o.ObjectID.String() + ": " + o.Message}
		case model.HealthInProgress, model.HealthUnknown, model.HealthTerminating:
			return RuntimeState{Status: RuntimePending, Text: "rolling out", Err: cmp.Or(o.Message, o.ObjectID.String())}
		}
	}
	if len(pods) > 0 {
		return podsRuntime(m, pods)
	}
	if m.K8s.PodReadiness != model.PodSucceeded && len(tries) > 0 {
		return podsRuntime(m, tries)
	}
	if m.K8s.PodReadiness == model.PodSucceeded {
		return RuntimeState{Status: RuntimeOK, Text: "completed"}
	}
	return RuntimeState{Status: RuntimeOK, Text: "applied"}
}

// givenUp reports whether an object is a Job that Kubernetes will not try again.
func givenUp(o model.ObjectStatus) bool { return isJob(o) && o.Health == model.HealthFailed }

// runsOnly reports whether a Job is the only object of a resource, needs no more than ready pods, and has them.
func runsOnly(m model.Manifest, o model.ObjectStatus, tries []state.Pod, objects []model.ObjectStatus) bool {
	return m.K8s.PodReadiness == model.PodWait && len(objects) == 1 && len(tries) > 0 && o.Health == model.HealthInProgress &&
		podsRuntime(m, tries).Status == RuntimeOK
}
