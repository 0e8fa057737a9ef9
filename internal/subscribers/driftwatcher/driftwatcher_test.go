package driftwatcher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// comparer answers with steps that the test has set, and records its calls.
type comparer struct {
	mu    sync.Mutex
	steps map[string]api.PlanStep
	err   error
	asked []string
	hold  chan struct{}
	// accepted are the objects and fields that were accepted, and holdAccept keeps that from ending.
	accepted   []string
	acceptErr  error
	holdAccept chan struct{}
}

func (c *comparer) Accept(ctx context.Context, _ string, resource model.ManifestName, fields map[model.ObjectID][]string) (map[model.ObjectID][]string, error) {
	c.mu.Lock()
	hold := c.holdAccept
	c.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.acceptErr != nil {
		return nil, c.acceptErr
	}
	for id, paths := range fields {
		c.accepted = append(c.accepted, fmt.Sprint(resource, " ", id.Name, " ", paths))
		delete(c.steps, id.Name)
	}
	return fields, nil
}

func (c *comparer) Differences(ctx context.Context, _ string, resource model.ManifestName, ids []model.ObjectID) ([]api.PlanStep, error) {
	c.mu.Lock()
	hold := c.hold
	var out []api.PlanStep
	names := []string{string(resource) + ":"}
	for _, id := range ids {
		names = append(names, id.Name)
		if s, ok := c.steps[id.Name]; ok {
			s.Object = api.PlanObject{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
			out = append(out, s)
		}
	}
	c.asked = append(c.asked, strings.Join(names, " "))
	err := c.err
	c.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return out, err
}

func (c *comparer) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// took returns the calls since the last call of took.
func (c *comparer) took() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.asked
	c.asked = nil
	slices.Sort(out)
	return out
}

type fixture struct {
	*statetest.Alone
	t       *testing.T
	cluster *k8stest.Fake
	*comparer
	logs *logstore.Store
}

func (f *fixture) see(name, uid, owned, revision string) {
	f.cluster.SetMetadata("v1", k8s.MetadataEvent{ID: id(name), UID: uid, Owned: owned, Revision: revision,
		Labels: map[string]string{deploy.LabelManagedBy: deploy.ManagedByHone}})
}

// check lets time pass and checks the comparisons meanwhile, and the table.
func (f *fixture) check(what string, asked []string, want ...string) {
	f.t.Helper()
	time.Sleep(5 * time.Second)
	synctest.Wait()
	if diff := cmp.Diff(asked, f.took()); diff != "" {
		f.t.Errorf("%s: compared (-want +got):\n%s", what, diff)
	}
	var got []string
	for e := range state.Drifts.In(f.View()).Refs() {
		for _, o := range e.Value.Objects {
			line := fmt.Sprintf("%s: %s %s", e.ID, o.Object.Name, o.What)
			for _, c := range o.Fields {
				line += fmt.Sprintf(" %s=%v by %s", c.Path, c.From, c.Manager)
			}
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func id(name string) model.ObjectID {
	return model.ObjectID{Kind: "ConfigMap", Namespace: "default", Name: name}
}

func objectNamed(name, uid string) model.AppliedObject {
	return model.AppliedObject{ObjectID: id(name), APIVersion: "v1", UID: uid}
}

func changed(uid, value string) api.PlanStep {
	return api.PlanStep{UID: uid, Action: api.ActionUpdate, Fields: []api.FieldChange{{Path: "data.k", Class: api.ChangeDrift, From: value, To: "v", Manager: "kubectl-edit"}}}
}

func start(t *testing.T) *fixture {
	f := &fixture{t: t, cluster: k8stest.New(), comparer: &comparer{steps: map[string]api.PlanStep{}}, logs: statetest.Logs(t)}
	f.Alone = statetest.Start(t, New(f.cluster, f.comparer, f.logs))
	return f
}

func (f *fixture) deploy(name string, serial int, objects ...model.AppliedObject) {
	f.Then(state.BuildStarted{Resource: model.ManifestName(name), Serial: serial},
		state.BuildCompleted{Resource: model.ManifestName(name), Serial: serial, Deployed: true, Applied: objects})
}

// TestKeep: a change of others to a kept object asks for an update, unless they change it again and again, or the
// object is theirs.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.see("a", "u1", "o1", "r1")
		f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
		f.deploy("web", 1, objectNamed("a", "u1"))
		f.check("compared once", []string{"web: a"})
		serial, revision := 1, 1
		theirs := func(value string) {
			revision++
			step := changed("u1", value)
			step.Keep = true
			f.set(func() { f.steps["a"] = step })
			f.see("a", "u1", "o2", fmt.Sprint("r", revision))
		}
		asked := func() bool { return !state.Updates.In(f.View()).Value("web").Keep.IsZero() }
		restored := func() {
			revision++
			serial++
			f.set(func() { delete(f.steps, "a") })
			f.Then(state.BuildStarted{Resource: "web", Serial: serial, At: time.Now()},
				state.BuildCompleted{Resource: "web", Serial: serial, At: time.Now(), Deployed: true, Applied: []model.AppliedObject{objectNamed("a", "u1")}})
			f.see("a", "u1", "o1", fmt.Sprint("r", revision))
		}
		for i := range mostKept {
			theirs(fmt.Sprint(i))
			f.check("changed", []string{"web: a"}, fmt.Sprintf("web: a changed data.k=%d by kubectl-edit", i))
			if !asked() {
				t.Errorf("change %d asks for nothing", i+1)
			}
			restored()
			f.check("restored", []string{"web: a"})
			if asked() {
				t.Error("the deploy does not answer it")
			}
		}
		theirs("z")
		f.check("changed again", []string{"web: a"}, "web: a changed data.k=z by kubectl-edit")
		if asked() {
			t.Error("it goes on forever")
		}
		if got := strings.Join(statetest.Texts(f.logs, "web"), "\n"); !strings.Contains(got, "configmap/a is to be kept, but kubectl-edit changes it again and again") {
			t.Errorf("the log has %q", got)
		}
		restored()
		f.check("restored by the user", []string{"web: a"})
		time.Sleep(keptWithin)
		theirs("y")
		f.check("changed after a while", []string{"web: a"}, "web: a changed data.k=y by kubectl-edit")
		if !asked() {
			t.Error("it is kept no more")
		}
		restored()
		f.check("restored", []string{"web: a"})
		f.set(func() {
			f.steps["a"] = api.PlanStep{UID: "u2", Action: api.ActionBlocked, Keep: true}
		})
		f.cluster.DeleteObject("v1", "ConfigMap", "default", "a")
		f.check("made again", []string{"web: a"}, "web: a made again")
		if asked() {
			t.Error("it takes what belongs to others")
		}
	})
}

func TestDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.see("a", "u1", "o1", "r1")
		f.see("b", "u2", "o1", "r1")
		f.see("foreign", "u9", "o1", "r1")
		f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web"), statetest.K8s("db")))
		f.check("before the deploy", nil)
		theirs := objectNamed("foreign", "u9")
		theirs.Foreign = true
		f.deploy("web", 1, objectNamed("a", "u1"), theirs)
		f.deploy("db", 1, objectNamed("b", "u2"))
		f.check("each object is compared once", []string{"db: b", "web: a"})

		f.see("a", "u1", "o1", "r2")
		f.see("foreign", "u9", "o2", "r2")
		f.check("others write what is theirs", nil)
		f.set(func() { f.steps["a"] = changed("u1", "x") })
		f.see("a", "u1", "o2", "r3")
		f.check("a field is taken", []string{"web: a"}, "web: a changed data.k=x by kubectl-edit")
		since := state.Drifts.In(f.View()).Value("web").Objects[0].Since
		f.set(func() { f.steps["a"] = changed("u1", "y") })
		f.see("a", "u1", "o2", "r4")
		f.check("the same field once more, which is theirs now", []string{"web: a"}, "web: a changed data.k=y by kubectl-edit")
		if next := state.Drifts.In(f.View()).Value("web").Objects[0].Since; !next.After(since) {
			t.Errorf("another change is as old as the first: %v, %v", since, next)
		}
		f.set(func() { delete(f.steps, "a") })
		f.see("a", "u1", "o1", "r5")
		f.check("they took it back", []string{"web: a"})

		f.set(func() { f.steps["b"] = api.PlanStep{Action: api.ActionCreate} })
		f.cluster.DeleteObject("v1", "ConfigMap", "default", "b")
		f.check("deleted", []string{"db: b"}, "db: b deleted")
		f.check("still deleted", nil, "db: b deleted")
		f.set(func() {
			f.steps["b"] = api.PlanStep{UID: "u3", Action: api.ActionBlocked, Reason: "it exists already"}
		})
		time.Sleep(lookAgain / 2)
		f.check("made again, without a label", []string{"db: b"}, "db: b made again")
		f.set(func() { delete(f.steps, "b") })
		f.deploy("db", 2, objectNamed("b", "u3"))
		f.see("b", "u3", "o1", "r2")
		f.check("taken over by a deploy", []string{"db: b"})

		f.set(func() { f.steps["a"] = changed("u1", "x") })
		f.see("a", "u1", "o2", "r6")
		f.check("taken once more", []string{"web: a"}, "web: a changed data.k=x by kubectl-edit")
		f.Then(statetest.Loaded(statetest.K8s("db")))
		f.check("the resource has left", nil)
	})
}

// TestDeleted: an object that others delete is applied again, whatever its kind, unless objects of its kind end by themselves or
// it has run to its end. An object that is deleted again and again stays deleted. An object that hone did not make is reported, and
// stays deleted, too.
func TestDeleted(t *testing.T) {
	for _, tc := range []struct {
		group, kind string
		change      func(*model.AppliedObject, *model.ObjectStatus)
		// want is the drift after the object was deleted: "again" if it is applied again.
		want string
	}{
		{"", "ConfigMap", nil, "deleted again"},
		{"", "Secret", nil, "deleted again"},
		{"", "Service", nil, "deleted again"},
		{"", "ServiceAccount", nil, "deleted again"},
		{"", "PersistentVolumeClaim", nil, "deleted again"},
		{"", "ReplicationController", nil, "deleted again"},
		{"", "ResourceQuota", nil, "deleted again"},
		{"", "LimitRange", nil, "deleted again"},
		{"", "Endpoints", nil, "deleted again"},
		{"", "Namespace", nil, "deleted again"},
		{"", "PersistentVolume", nil, "deleted again"},
		{"apps", "Deployment", nil, "deleted again"},
		{"apps", "StatefulSet", nil, "deleted again"},
		{"apps", "DaemonSet", nil, "deleted again"},
		{"apps", "ReplicaSet", nil, "deleted again"},
		{"batch", "CronJob", nil, "deleted again"},
		{"networking.k8s.io", "Ingress", nil, "deleted again"},
		{"networking.k8s.io", "NetworkPolicy", nil, "deleted again"},
		{"rbac.authorization.k8s.io", "Role", nil, "deleted again"},
		{"rbac.authorization.k8s.io", "RoleBinding", nil, "deleted again"},
		{"rbac.authorization.k8s.io", "ClusterRole", nil, "deleted again"},
		{"policy", "PodDisruptionBudget", nil, "deleted again"},
		{"autoscaling", "HorizontalPodAutoscaler", nil, "deleted again"},
		{"scheduling.k8s.io", "PriorityClass", nil, "deleted again"},
		{"storage.k8s.io", "StorageClass", nil, "deleted again"},
		{"coordination.k8s.io", "Lease", nil, "deleted again"},
		{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", nil, "deleted again"},
		{"apiextensions.k8s.io", "CustomResourceDefinition", nil, "deleted again"},
		{"example.com", "Widget", nil, "deleted again"},
		{"example.com", "Event", nil, "deleted again"},
		{"example.com", "Workflow", func(_ *model.AppliedObject, o *model.ObjectStatus) { o.Ended = true }, ""},
		{"example.com", "Workflow", func(_ *model.AppliedObject, o *model.ObjectStatus) { o.Ended = false }, "deleted again"},
		{"", "Secret", func(a *model.AppliedObject, _ *model.ObjectStatus) { a.Foreign = true }, "deleted hone did not make it"},
		{"", "Pod", nil, ""},
		{"", "Event", nil, ""},
		{"events.k8s.io", "Event", nil, ""},
		{"batch", "Job", nil, ""},
		{"apps", "ControllerRevision", nil, ""},
		{"certificates.k8s.io", "CertificateSigningRequest", nil, ""},
	} {
		t.Run(tc.group+" "+tc.kind+" "+tc.want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t)
				f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
				serial := 0
				// deletes deploys the object, deletes it, and returns its drift.
				deletes := func() string {
					serial++
					a := model.AppliedObject{ObjectID: model.ObjectID{Group: tc.group, Kind: tc.kind, Namespace: "default", Name: "a"}, APIVersion: tc.group + "/v1", UID: fmt.Sprint("u", serial)}
					status := model.ObjectStatus{ObjectID: a.ObjectID, UID: a.UID, Resource: "web"}
					e := k8s.MetadataEvent{ID: a.ObjectID, UID: a.UID, Owned: "o", Revision: fmt.Sprint(serial), Labels: map[string]string{deploy.LabelManagedBy: deploy.ManagedByHone}}
					if tc.change != nil {
						tc.change(&a, &status)
					}
					if a.Foreign {
						e.Labels = nil
					}
					f.set(func() { delete(f.steps, "a") })
					f.cluster.SetMetadata(a.APIVersion, e)
					f.deploy("web", serial, a)
					f.Then(state.ObjectsChanged{Objects: []model.ObjectStatus{status}})
					time.Sleep(5 * time.Second)
					if n := state.Drifts.In(f.View()).Len(); n > 0 {
						t.Errorf("deploy %d: %d drifts of an object that is there", serial, n)
					}
					f.set(func() { f.steps["a"] = api.PlanStep{Action: api.ActionCreate} })
					f.cluster.DeleteObject(a.APIVersion, tc.kind, "default", "a")
					time.Sleep(5 * time.Second)
					synctest.Wait()
					got := ""
					for _, o := range state.Drifts.In(f.View()).Value("web").Objects {
						_, lost := state.Updates.In(f.View()).Value("web").Lost[a.UID]
						if o.Keep != lost {
							t.Errorf("it is to be applied again: %t, and an update is due: %t", o.Keep, lost)
						}
						got = string(o.What) + " " + o.Reason
						if lost {
							got += "again"
						}
					}
					return got
				}
				for range mostKept {
					if got := deletes(); got != tc.want {
						t.Errorf("%q, want %q", got, tc.want)
					}
				}
				want := tc.want
				if want == "deleted again" {
					want = "deleted again and again"
				}
				if got := deletes(); got != want {
					t.Errorf("another time: %q, want %q", got, want)
				}
			})
		})
	}
}

// TestLabelRemoved looks from time to time at an object that the watch no longer selects, since its label was removed.
func TestLabelRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
		f.see("a", "u", "o", "r")
		f.deploy("web", 1, objectNamed("a", "u"))
		f.check("deployed", []string{"web: a"})
		unlabelled := changed("u", "x")
		unlabelled.Action = api.ActionBlocked
		f.set(func() { f.steps["a"] = unlabelled })
		f.cluster.DeleteObject("v1", "ConfigMap", "default", "a")
		f.check("removed", []string{"web: a"}, "web: a changed data.k=x by kubectl-edit")
		f.set(func() { delete(f.steps, "a") })
		f.check("restored, and not looked at yet", nil, "web: a changed data.k=x by kubectl-edit")
		f.check("restored", []string{"web: a"})
	})
}

// TestWhileADeployRuns compares nothing that is being written, and looks afterwards.
func TestWhileADeployRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.see("a", "u1", "o1", "r1")
		f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
		f.deploy("web", 1, objectNamed("a", "u1"))
		f.check("deployed", []string{"web: a"})
		f.set(func() { f.steps["a"] = changed("u1", "x") })
		f.Then(state.BuildStarted{Resource: "web", Serial: 2})
		f.see("a", "u1", "o2", "r2")
		f.check("an update runs", nil)
		f.Then(state.BuildCompleted{Resource: "web", Serial: 2, Deployed: true, Applied: []model.AppliedObject{objectNamed("a", "u1")}})
		f.check("it has ended", []string{"web: a"}, "web: a changed data.k=x by kubectl-edit")

		f.set(func() { f.hold = make(chan struct{}) })
		f.see("a", "u1", "o3", "r3")
		time.Sleep(time.Second)
		f.set(func() { f.steps["a"] = changed("u1", "never") })
		f.Then(state.BuildStarted{Resource: "web", Serial: 3})
		f.set(func() { close(f.hold); f.hold = nil })
		f.check("what was compared when an update began does not count", []string{"web: a"}, "web: a changed data.k=x by kubectl-edit")
		f.set(func() { delete(f.steps, "a") })
		f.Then(state.BuildCompleted{Resource: "web", Serial: 3, Deployed: true, Applied: []model.AppliedObject{objectNamed("a", "u1")}})
		f.check("the update has restored it", []string{"web: a"})
	})
}

// TestComparisonFails tries again, and keeps the known drift meanwhile.
func TestComparisonFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.see("a", "u1", "o1", "r1")
		f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
		f.set(func() { f.steps["a"] = changed("u1", "x") })
		f.set(func() { f.err = errors.New("away") })
		f.deploy("web", 1, objectNamed("a", "u1"))
		f.check("the cluster does not answer", []string{"web: a"})
		f.set(func() { f.err = nil })
		time.Sleep(retry)
		f.check("it answers again", []string{"web: a"}, "web: a changed data.k=x by kubectl-edit")
	})
}

// TestAccept records the changes that the user accepts, once, and then looks whether any drift is left. Comparisons
// meanwhile do not count.
func TestAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.see("a", "u1", "o1", "r1")
		f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
		f.deploy("web", 1, objectNamed("a", "u1"))
		f.set(func() { f.steps["a"] = changed("u1", "x") })
		f.check("drift", []string{"web: a"}, "web: a changed data.k=x by kubectl-edit")
		accept := state.DriftAccepted{Fields: map[model.ManifestName][]state.AcceptedFields{"web": {{Object: id("a"), Paths: []string{"data.k"}}}}}

		f.set(func() { f.acceptErr = errors.New("no room") })
		f.Then(accept)
		f.check("it cannot be recorded", []string{"web: a"}, "web: a changed data.k=x by kubectl-edit")
		if e := state.Drifts.In(f.View()).Value("web"); len(e.Accept) > 0 {
			t.Errorf("it is still to be accepted: %v", e.Accept)
		}
		if said := strings.Join(statetest.Texts(f.logs, "web"), "\n"); !strings.Contains(said, "no room") {
			t.Errorf("the log says %q", said)
		}

		f.set(func() { f.acceptErr, f.holdAccept, f.hold = nil, make(chan struct{}), make(chan struct{}) })
		f.Then(accept)
		f.see("a", "u1", "o1", "r2") // is being compared while the acceptance ends
		time.Sleep(time.Second)
		f.set(func() { close(f.holdAccept) })
		time.Sleep(time.Second)
		f.set(func() { close(f.hold); f.hold = nil })
		f.check("accepted", []string{"web: a", "web: a"})
		if want := []string{"web a [data.k]"}; !slices.Equal(f.accepted, want) {
			t.Errorf("accepted %v, want %v", f.accepted, want)
		}
		if said := strings.Join(statetest.Texts(f.logs, "web"), "\n"); !strings.Contains(said, "configmap/a: data.k: left to others") {
			t.Errorf("the log says %q", said)
		}
	})
}

// TestAtOnce checks the bound of comparisons at a time.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		var all []model.Manifest
		for i := range 5 {
			all = append(all, statetest.K8s(fmt.Sprintf("r%d", i)))
			f.see(fmt.Sprintf("o%d", i), "u", "o", "r")
		}
		f.Then(statetest.Session, statetest.Loaded(all...))
		f.set(func() { f.hold = make(chan struct{}) })
		for i := range 5 {
			f.deploy(fmt.Sprintf("r%d", i), 1, objectNamed(fmt.Sprintf("o%d", i), "u"))
		}
		f.check("the first ones", []string{"r0: o0", "r1: o1"})
		f.set(func() { close(f.hold) })
		f.check("the others", []string{"r2: o2", "r3: o3", "r4: o4"})
	})
}

func TestDriftOf(t *testing.T) {
	long := strings.Repeat("x", longest+1)
	unlabelled := changed("u", "x")
	unlabelled.Action, unlabelled.Reason, unlabelled.Keep = api.ActionBlocked, "its label was removed", true
	for _, tc := range []struct {
		name string
		applied
		seen sight
		step api.PlanStep
		want string
	}{
		{"nothing", applied{uid: "u"}, sight{}, api.PlanStep{}, ""},
		{"unchanged", applied{uid: "u"}, sight{}, api.PlanStep{UID: "u", Action: api.ActionUnchanged}, ""},
		{"applied by another session", applied{uid: "u"}, sight{}, api.PlanStep{UID: "u", Action: api.ActionKeep}, ""},
		{"cannot be compared", applied{uid: "u"}, sight{}, api.PlanStep{UID: "u", Action: api.ActionBlocked, Reason: "forbidden"}, ""},
		{"cannot be read", applied{uid: "u"}, sight{}, api.PlanStep{Action: api.ActionBlocked, Reason: "forbidden"}, ""},
		{"changed", applied{uid: "u"}, sight{}, changed("u", "x"), "changed"},
		{"cannot be changed back in place", applied{uid: "u"}, sight{}, api.PlanStep{UID: "u", Action: api.ActionReplace, Reason: "spec cannot be changed"}, "changed, spec cannot be changed, replaces"},
		{"deleted", applied{uid: "u"}, sight{gone: true}, api.PlanStep{Action: api.ActionCreate, Reason: "deleted by others since it was applied"}, "deleted, keep"},
		{"deleted with its kind", applied{uid: "u"}, sight{gone: true}, api.PlanStep{Action: api.ActionBlocked, Reason: "no such kind"}, "deleted, no such kind, keep"},
		{"deleted, and applied only once", applied{uid: "u"}, sight{gone: true}, api.PlanStep{Action: api.ActionUnchanged}, ""},
		{"made again", applied{uid: "u"}, sight{}, api.PlanStep{UID: "other", Action: api.ActionBlocked, Reason: "it exists already"}, "made again, it exists already"},
		{"a label removed", applied{uid: "u"}, sight{}, unlabelled, "changed, its label was removed"},
		{"the label removed that the watch selects", applied{uid: "u"}, sight{gone: true}, unlabelled, "changed, its label was removed"},
		{"another's", applied{uid: "u", foreign: true}, sight{uid: "u"}, api.PlanStep{}, ""},
		{"another's, deleted", applied{uid: "u", foreign: true}, sight{gone: true}, api.PlanStep{}, "deleted, hone did not make it"},
		{"a long text", applied{uid: "u"}, sight{}, changed("u", long), "changed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, differs := driftOf(tc.step, id("a"), tc.applied, tc.seen)
			got := ""
			if differs {
				got = string(d.What)
				if d.Reason != "" {
					got += ", " + d.Reason
				}
				if d.Replaces {
					got += ", replaces"
				}
				if d.Keep {
					got += ", keep"
				}
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
			for _, c := range d.Fields {
				if s, _ := c.From.(string); len(s) > longest+len("…") {
					t.Errorf("a value of %d bytes", len(s))
				}
			}
		})
	}
}

func TestWithoutAClusterNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { statetest.Start(t, New(nil, nil, nil)).Then(statetest.Session) })
}

// crowd is a session of n resources, each of which has applied an object, and a tracker that has compared all of them.
func crowd(t testing.TB, n int) (*tracker, *statetest.State) {
	var manifests []model.Manifest
	for i := range n {
		manifests = append(manifests, statetest.K8s(fmt.Sprintf("r%04d", i)))
	}
	s := statetest.New(statetest.Session, statetest.Loaded(manifests...))
	for _, m := range manifests {
		s.Then(state.BuildStarted{Resource: m.Name, Serial: 1},
			state.BuildCompleted{Resource: m.Name, Serial: 1, Deployed: true, Applied: []model.AppliedObject{objectNamed(string(m.Name), "u")}})
	}
	b := newTracker(t.Context(), &comparer{}, statetest.Logs(t))
	for sc := range b.Wanted(s.View()) {
		b.Take(sc, k8s.MetadataEvent{Synced: true})
		for i := range n {
			b.Take(sc, k8s.MetadataEvent{ID: id(fmt.Sprintf("r%04d", i)), UID: "u", Owned: "o", Revision: "1"})
		}
	}
	for len(b.active) > 0 {
		for _, r := range b.resources { // now, and not after a delay
			r.due = time.Now()
		}
		b.Changes(t.Context(), s.View())
		b.checks.Wait()
	}
	return b, s
}

// TestLooksOnlyAtChanges counts the resources that are looked at when one of many has changed.
func TestLooksOnlyAtChanges(t *testing.T) {
	const n = 100
	b, s := crowd(t, n)
	if got := len(b.comparer.(*comparer).took()); got != n || len(b.compared) != n {
		t.Fatalf("%d resources are compared, and %d objects known", got, len(b.compared))
	}
	looks := func(what string, want ...model.ManifestName) {
		t.Helper()
		b.Wanted(s.View())
		if got := slices.Sorted(maps.Keys(b.active)); !slices.Equal(got, want) {
			t.Errorf("%s: looks at %v, want %v", what, got, want)
		}
		b.Changes(t.Context(), s.View())
		b.checks.Wait()
	}
	looks("at rest")
	s.Then(state.BuildStarted{Resource: "r0007", Serial: 2})
	looks("an update begins")
	s.Then(state.BuildCompleted{Resource: "r0007", Serial: 2})
	looks("an update ends", "r0007")
	s.Then(state.ObjectsChanged{Objects: []model.ObjectStatus{{UID: "u", Resource: "r0001"}}})
	b.Changes(t.Context(), s.View())
	looks("the health of an object changes")
	b.Take(b.objects[object{"", id("r0003")}][0].scope, k8s.MetadataEvent{ID: id("r0003"), UID: "u", Owned: "p", Revision: "2"})
	looks("others change an object", "r0003")
	s.Then(statetest.Loaded(statetest.K8s("r0003")))
	b.Wanted(s.View())
	if len(b.objects) != 1 || len(b.compared) != 1 || len(b.resources) != 1 {
		t.Errorf("after the others have left: %d objects, %d compared, %d resources", len(b.objects), len(b.compared), len(b.resources))
	}
}

// TestSharedObject lets two resources apply one object, in turns.
func TestSharedObject(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("a"), statetest.K8s("b")))
	b := newTracker(t.Context(), &comparer{}, statetest.Logs(t))
	serial := 0
	for _, tc := range []struct {
		by    model.ManifestName
		names []string
		// owner is the resource to which the object belongs then; empty for none.
		owner model.ManifestName
	}{
		{"a", []string{"x"}, "a"},
		{"b", []string{"x", "y"}, "b"},
		{"a", []string{"z"}, "b"},
		{"a", []string{"z", "x"}, "a"},
		{"a", []string{"z"}, "b"},
		{"b", []string{"y"}, ""},
	} {
		serial++
		var objects []model.AppliedObject
		for _, name := range tc.names {
			objects = append(objects, objectNamed(name, fmt.Sprint("u", serial)))
		}
		s.Then(state.BuildStarted{Resource: tc.by, Serial: serial}, state.BuildCompleted{Resource: tc.by, Serial: serial, Deployed: true, Applied: objects})
		b.Wanted(s.View())
		if a, ok := b.applied(object{"", id("x")}); a.resource != tc.owner || ok != (tc.owner != "") {
			t.Errorf("deploy %d: it belongs to %q, want %q", serial, a.resource, tc.owner)
		}
		for sc, n := range b.users {
			if _, wanted := b.wanted[sc]; !wanted || n < 1 {
				t.Errorf("deploy %d: %s has %d users", serial, sc, n)
			}
		}
	}
}

// BenchmarkChange1000 follows the changes of one update of 1,000.
func BenchmarkChange1000(b *testing.B) {
	tr, s := crowd(b, 1000)
	views := []store.View{s.View(), s.Then(state.BuildStarted{Resource: "r0007", Serial: 2}).View()}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		tr.Wanted(views[i%2])
		tr.Changes(b.Context(), views[i%2])
	}
}
