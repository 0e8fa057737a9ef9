package buildcontrol

import (
	gocmp "cmp"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// serves is the server of a local resource after the given build.
func serves(name string, build int, ready bool) state.ProcessChanged {
	p := state.Process{Resource: model.ManifestName(name), State: state.ProcessRunning, PID: 7, Build: build, Ready: ready}
	if !ready {
		p.Detail = "connection refused"
	}
	return state.ProcessChanged{Process: p}
}

// TestServerRuntime judges the server of a local resource in its states.
func TestServerRuntime(t *testing.T) {
	process := func(change func(*state.Process)) state.ProcessChanged {
		a := serves("a", 1, true)
		change(&a.Process)
		return a
	}
	for _, tc := range []struct {
		name    string
		actions []store.Action
		builds  int
		want    RuntimeState
	}{
		{"not built", nil, 0, RuntimeState{Status: RuntimeNone}},
		{"not seen yet", nil, 1, RuntimeState{Status: RuntimePending, Text: "starting"}},
		{"starting", []store.Action{process(func(p *state.Process) { p.State, p.Ready = state.ProcessStarting, false })}, 1,
			RuntimeState{Status: RuntimePending, Text: "starting"}},
		{"ready", []store.Action{serves("a", 1, true)}, 1, RuntimeState{Status: RuntimeOK, Text: "pid 7"}},
		{"not ready", []store.Action{serves("a", 1, false)}, 1, RuntimeState{Status: RuntimePending, Text: "pid 7, not ready", Err: "connection refused"}},
		{"of the update before", []store.Action{serves("a", 1, true)}, 2, RuntimeState{Status: RuntimePending, Text: "restarting"}},
		{"stopping", []store.Action{process(func(p *state.Process) { p.State, p.Ready = state.ProcessStopping, false })}, 1,
			RuntimeState{Status: RuntimePending, Text: "restarting"}},
		{"exited", []store.Action{process(func(p *state.Process) {
			p.State, p.Ready, p.Err = state.ProcessFailed, false, "serve_cmd ended: exit code 0"
		})}, 1,
			RuntimeState{Status: RuntimeError, Text: "failed", Err: "serve_cmd ended: exit code 0", Final: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := up(func(m map[string]*model.Manifest) { m["a"].Local.Serve = model.Cmd{Argv: []string{"serve"}} }, statetest.Local("a"))
			for range tc.builds {
				s.Begin("a").Finish("a", nil)
			}
			if diff := cmp.Diff(tc.want, runtimeOf(s.Then(tc.actions...).View(), "a")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRuntime(t *testing.T) {
	k8s := statetest.K8s
	pod := func(change func(*state.Pod)) state.PodChanged {
		p := statetest.Pod("a", "p", "c1", "x")
		change(&p.Pod)
		return p
	}
	deployed := func(change func(m map[string]*model.Manifest), actions ...store.Action) *statetest.State {
		return up(change, k8s("a")).Deployed("a").Then(actions...)
	}
	supervised := func(s state.Synclet) state.SyncletChanged {
		s.Resource, s.Container, s.Supervised = "a", "main", true
		return state.SyncletChanged{ID: "c1", Synclet: s}
	}
	// changed was deployed twice, and a watch has reported one of the generations.
	changed := func(seen int64) *statetest.State {
		reported := statetest.Healthy("a")
		reported.Objects[0].Generation = seen
		return deployed(same, reported).Begin("a").Finish("a", func(b *state.BuildCompleted) {
			b.Mode, b.Deployed = "image", true
			b.Applied = []model.AppliedObject{{ObjectID: reported.Objects[0].ObjectID, APIVersion: "apps/v1", UID: "uid-a", TemplateHash: "other", Generation: 2}}
		})
	}
	for _, tc := range []struct {
		name  string
		state *statetest.State
		want  RuntimeState
	}{
		{"rolled out before the change", changed(1), RuntimeState{Status: RuntimePending, Text: "rolling out", Err: "deployment/default/a"}},
		{"rolled out since the change", changed(2), RuntimeState{Status: RuntimeOK, Text: "applied"}},
		{"not deployed", up(same, k8s("a")), RuntimeState{Status: RuntimeNone}},
		{"a Compose service that was not started", up(same, statetest.Compose("a")), RuntimeState{Status: RuntimeNone}},
		{"not seen yet", deployed(same), RuntimeState{Status: RuntimePending, Text: "rolling out", Err: "deployment/default/a"}},
		{"no replicas", deployed(same, statetest.Healthy("a")), RuntimeState{Status: RuntimeOK, Text: "applied"}},
		{"running", deployed(same, statetest.Healthy("a"), statetest.Pod("a", "p", "c", "x")), RuntimeState{Status: RuntimeOK, Text: "running 1/1"}},
		{"ready pod, rollout not through", deployed(same, statetest.Pod("a", "p", "c", "x")), RuntimeState{Status: RuntimePending, Text: "rolling out", Err: "deployment/default/a"}},
		{"ignored", deployed(func(m map[string]*model.Manifest) { m["a"].K8s.PodReadiness = model.PodIgnore }), RuntimeState{Status: RuntimeOK, Text: "applied"}},
		{"crash loop", deployed(same, statetest.Healthy("a"), pod(func(p *state.Pod) {
			p.Ready, p.Status = false, "CrashLoopBackOff"
			p.Containers[0] = model.Container{Name: "main", State: model.ContainerWaiting, Reason: "CrashLoopBackOff", Restarts: 4}
		})), RuntimeState{Status: RuntimeError, Text: "CrashLoopBackOff ×4", Err: "pod p: container main: CrashLoopBackOff"}},
		{"process ended", deployed(same, statetest.Healthy("a"), statetest.Pod("a", "p", "c1", "x"), supervised(state.Synclet{ExitCode: 3, Crashes: 1})),
			RuntimeState{Status: RuntimeError, Text: "exited 3", Err: "pod p: the process in main ended with exit code 3; the next change restarts it", Final: true, Span: "pod:default/p/main:c1"}},
		{"process ends at once, and the pod is not ready", deployed(same, statetest.Healthy("a"), pod(func(p *state.Pod) { p.Ready, p.Status = false, "Running" }),
			supervised(state.Synclet{ExitCode: 3, Crashes: 4, Again: time.Minute})),
			RuntimeState{Status: RuntimeError, Text: "exited 3 ×4", Err: "pod p: the process in main ended with exit code 3, 4 times in a row; the next change restarts it, or else it is tried again after 1m0s",
				Span: "pod:default/p/main:c1"}},
		{"process runs again", deployed(same, statetest.Healthy("a"), statetest.Pod("a", "p", "c1", "x"), supervised(state.Synclet{Running: true, ExitCode: 3, Crashes: 4})),
			RuntimeState{Status: RuntimeOK, Text: "running 1/1"}},
		{"process of a container that is gone", deployed(same, statetest.Healthy("a"), statetest.Pod("a", "p", "c2", "x"), supervised(state.Synclet{ExitCode: 3})),
			RuntimeState{Status: RuntimeOK, Text: "running 1/1"}},
		{"ended", deployed(same, pod(func(p *state.Pod) {
			p.Ready, p.Status = false, "Error"
			p.Containers[0] = model.Container{Name: "main", ID: "c1", State: model.ContainerTerminated, Reason: "Error", ExitCode: 3}
		})), RuntimeState{Status: RuntimeError, Text: "Error", Err: "pod p: container main: Error, exit code 3", Span: "pod:default/p/main:c1", Again: true}},
		{"a probe fails", deployed(same, pod(func(p *state.Pod) {
			p.Ready, p.Status = false, "Running"
			p.Containers[0] = model.Container{Name: "main", ID: "c1", State: model.ContainerRunning, Started: true,
				Probes: []model.ContainerProbe{{Kind: model.ProbeReadiness, Calls: "tcpSocket :80"}}}
		}), state.ProbeFailed{Pod: "uid-p", Failure: state.ProbeFailure{Container: "main", Kind: model.ProbeReadiness, Answer: "refused"}}),
			RuntimeState{Status: RuntimePending, Text: "Running 0/1", Err: "pod p: container main: readiness probe tcpSocket :80 fails: refused", Span: "pod:default/p/main:c1"}},
		{"image pull", deployed(same, pod(func(p *state.Pod) {
			p.Ready, p.Status, p.Phase = false, "ImagePullBackOff", "Pending"
			p.Containers[0] = model.Container{Name: "main", State: model.ContainerWaiting, Reason: "ImagePullBackOff", Message: "no such image"}
		})), RuntimeState{Status: RuntimeError, Text: "ImagePullBackOff", Err: "pod p: container main: ImagePullBackOff (no such image)"}},
		{"starting", deployed(same, pod(func(p *state.Pod) { p.Ready, p.Status = false, "ContainerCreating" })),
			RuntimeState{Status: RuntimePending, Text: "ContainerCreating 0/1"}},
		{"an older pod crashes", deployed(same, statetest.Healthy("a"), statetest.Pod("a", "p", "c", "x"), state.PodChanged{Pod: state.Pod{Pod: model.Pod{
			UID: "old", Name: "old", Resource: "a", Phase: "Failed"}}}), RuntimeState{Status: RuntimeOK, Text: "running 1/1"}},
		{"failed object", deployed(same, state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "a"},
			UID: "uid-a", Health: model.HealthFailed, Message: "progress deadline exceeded"}}}),
			RuntimeState{Status: RuntimeError, Text: "failed", Err: "deployment/default/a: progress deadline exceeded"}},
		{"refused pods", refusedPods("StatefulSet", "apps"), RuntimeState{Status: RuntimeError, Text: "failed", Err: "statefulset/default/a: its pods cannot be created: exceeded quota: small"}},
		{"refused pods of a job, which may still come", refusedPods("Job", "batch"), RuntimeState{Status: RuntimeError, Text: "failed", Err: "job/default/a: its pods cannot be created: exceeded quota: small"}},
		{"completed", deployed(func(m map[string]*model.Manifest) { m["a"].K8s.PodReadiness = model.PodSucceeded }, statetest.Healthy("a"),
			pod(func(p *state.Pod) { p.Ready, p.Phase, p.Status = false, "Succeeded", "Completed" })), RuntimeState{Status: RuntimeOK, Text: "completed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := runtimeOf(tc.state.View(), "a")
			tc.want.FailingSince, tc.want.Pod = got.FailingSince, got.Pod
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// refusedPods is a session whose resource a applies an object of a kind that is refused its pods.
func refusedPods(kind, group string) *statetest.State {
	id, at := model.ObjectID{Group: group, Kind: kind, Namespace: "default", Name: "a"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return up(same, statetest.K8s("a")).Begin("a").Finish("a", func(b *state.BuildCompleted) {
		b.Deployed, b.Mode, b.Applied = true, "deploy", []model.AppliedObject{{ObjectID: id, UID: "uid-a"}}
	}).Then(
		state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: id, UID: "uid-a", Resource: "a", Health: model.HealthInProgress, PodsMissingSince: at}}},
		state.KubeEventsSeen{Events: map[model.ManifestName][]state.KubeEvent{"a": {{UID: "e", Reason: "FailedCreate", Object: id, ObjectUID: "uid-a", LastSeen: at,
			Message: `Error creating: pods "a-" is forbidden: exceeded quota: small`}}}})
}

// TestJobs: the status of a Job in Kubernetes counts, not the end of its containers and pods.
func TestJobs(t *testing.T) {
	const job = "uid-job"
	says := func(health, message string) state.ObjectsChanged {
		return state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: model.ObjectID{Group: "batch", Kind: "Job", Namespace: "default", Name: "a"},
			UID: job, Resource: "a", Health: health, Message: message}}}
	}
	try := func(name, phase string, containers ...model.Container) state.PodChanged {
		return state.PodChanged{Pod: state.Pod{Current: true, Pod: model.Pod{Name: name, UID: name, Resource: "a", Owner: job, Phase: phase, Status: phase,
			Ready: phase == "Running" && len(containers) == 0, Containers: containers}}}
	}
	runs := says(model.HealthInProgress, "active 1, succeeded 0, failed 0")
	pulls := model.Container{Name: "main", State: model.ContainerWaiting, Reason: "ImagePullBackOff", Message: "no such image"}
	loops := model.Container{Name: "main", State: model.ContainerWaiting, Reason: "CrashLoopBackOff", Restarts: 2}
	ended := model.Container{Name: "main", State: model.ContainerTerminated, Reason: "Error", ExitCode: 1}
	for _, tc := range []struct {
		name      string
		readiness model.PodReadiness
		actions   []store.Action
		want      string // status, text, error
	}{
		{"not seen yet", "", nil, `pending "starting" "job/default/a: not seen yet"`},
		{"no pod yet", "", []store.Action{runs}, `pending "starting" "job/default/a: active 1, succeeded 0, failed 0"`},
		{"its pod runs", "", []store.Action{runs, try("p", "Running")}, `pending "Running" "job/default/a: active 1, succeeded 0, failed 0"`},
		{"a pod has ended well, of several", "", []store.Action{says(model.HealthInProgress, "active 1, succeeded 1 of 2, failed 0"), try("p", "Succeeded"), try("q", "Running")},
			`pending "Succeeded" "job/default/a: active 1, succeeded 1 of 2, failed 0"`},
		{"complete", "", []store.Action{says(model.HealthCurrent, "CompletionsReached"), try("p", "Succeeded")}, `ok "completed" ""`},
		{"complete after a failure", "", []store.Action{says(model.HealthCurrent, ""), try("p", "Failed"), try("q", "Succeeded")}, `ok "completed" ""`},
		{"complete, and pods removed", "", []store.Action{says(model.HealthCurrent, "")}, `ok "completed" ""`},
		{"its container is tried again", "", []store.Action{runs, try("p", "Running", loops)},
			`pending "Running ×2" "job/default/a: active 1, succeeded 0, failed 0; pod p: container main: CrashLoopBackOff"`},
		{"its container has ended, and its pod has not", "", []store.Action{runs, try("p", "Running", ended)},
			`pending "Running" "job/default/a: active 1, succeeded 0, failed 0; pod p: container main: Error, exit code 1"`},
		{"its pod has failed", "", []store.Action{runs, try("p", "Failed")},
			`pending "Failed" "job/default/a: active 1, succeeded 0, failed 0; pod p: pod failed: Failed"`},
		{"given up", "", []store.Action{says(model.HealthFailed, "BackoffLimitExceeded: no"), try("p", "Failed")},
			`error "failed" "job/default/a: BackoffLimitExceeded: no; pod p: pod failed: Failed" final`},
		{"given up, with how its container ended", "", []store.Action{says(model.HealthFailed, "BackoffLimitExceeded: no"), try("p", "Failed", ended)},
			`error "failed" "job/default/a: BackoffLimitExceeded: no; pod p: pod failed: Failed; container main: Error, exit code 1" final`},
		{"given up, and its pods removed", "", []store.Action{says(model.HealthFailed, "BackoffLimitExceeded: no")},
			`error "failed" "job/default/a: BackoffLimitExceeded: no" final`},
		{"no image: nothing will come of it", "", []store.Action{runs, try("p", "Pending", pulls)},
			`error "Pending" "pod p: container main: ImagePullBackOff (no such image)"`},
		{"suspended", "", []store.Action{says(model.HealthInProgress, "is suspended")}, `pending "suspended" "job/default/a: is suspended"`},
		{"removed before anything was known", "", []store.Action{says(model.HealthGone, "was removed before hone saw how it ended")},
			`error "gone" "job/default/a was removed before hone saw how it ended; a trigger runs it again" final`},
		{"removed, but its pod is known to have ended well", "", []store.Action{says(model.HealthGone, "was removed before hone saw how it ended"), try("p", "Succeeded")},
			`ok "completed" ""`},
		{"deleted before its end", "", []store.Action{says(model.HealthDeleted, "was deleted before its end")},
			`error "gone" "job/default/a was deleted before its end; a trigger runs it again" final`},
		{"deleted before its end, though ready is enough for the user", model.PodWait, []store.Action{says(model.HealthDeleted, "was deleted before its end")},
			`error "gone" "job/default/a was deleted before its end; a trigger runs it again" final`},
		{"removed before anything was known, and ready is enough for the user", model.PodWait, []store.Action{says(model.HealthGone, "was removed before hone saw how it ended")},
			`ok "applied" ""`},
		{"ready is enough for the user", model.PodWait, []store.Action{runs, try("p", "Running")}, `ok "running 1/1" ""`},
		{"and not yet so", model.PodWait, []store.Action{runs, try("p", "Pending")}, `pending "Pending" "job/default/a: active 1, succeeded 0, failed 0"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := statetest.K8s("a")
			m.K8s.PodReadiness = model.PodReadiness(gocmp.Or(string(tc.readiness), string(model.PodSucceeded)))
			s := up(same, m).Begin("a").Finish("a", func(b *state.BuildCompleted) {
				b.Deployed, b.Mode = true, "deploy"
				b.Applied = []model.AppliedObject{{ObjectID: model.ObjectID{Group: "batch", Kind: "Job", Namespace: "default", Name: "a"}, APIVersion: "batch/v1", UID: job}}
			}).Then(tc.actions...)
			r := runtimeOf(s.View(), "a")
			got := fmt.Sprintf("%s %q %q", r.Status, r.Text, r.Err)
			if r.Final {
				got += " final"
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// runtimeOf returns the runtime state of a resource in v.
func runtimeOf(v store.View, name model.ManifestName) RuntimeState {
	r := state.Resources.In(v).Value(string(name))
	return Runtime(v, r.Manifest, state.Updates.In(v).Value(string(name)), state.PodsOf(v, name))
}
