package deploydiscovery

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func id(group, kind, name string) model.ObjectID {
	return model.ObjectID{Group: group, Kind: kind, Namespace: "default", Name: name}
}

func deployment(name, uid, health string) k8s.ObjectEvent {
	return k8s.ObjectEvent{Status: model.ObjectStatus{ObjectID: id("apps", "Deployment", name), UID: uid, Health: health},
		Labels: map[string]string{deploy.LabelManagedBy: deploy.ManagedByHone}}
}

func deployed(objects ...model.AppliedObject) state.BuildCompleted {
	return state.BuildCompleted{Resource: "web", Serial: 1, Deployed: true, Applied: objects}
}

func TestObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := k8stest.New()
		a := statetest.Start(t, New(cluster))
		check := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for e := range state.Objects.In(a.View()).Refs() {
				got = append(got, e.ID+" of "+string(e.Value.Resource)+" "+e.Value.Health)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want, got))
			}
		}
		set := func(e k8s.ObjectEvent) { cluster.SetObject("apps/v1", "Deployment", e) }
		web := model.AppliedObject{ObjectID: id("apps", "Deployment", "web"), APIVersion: "apps/v1", UID: "u1"}
		set(deployment("web", "u1", model.HealthInProgress))
		set(deployment("foreign", "u2", model.HealthCurrent))
		a.Then(statetest.Session, statetest.Loaded(statetest.K8s("web"))).Then(statetest.Connected()...)
		check("before the deploy")
		a.Then(state.BuildStarted{Resource: "web", Serial: 1}, deployed(web, model.AppliedObject{ObjectID: id("", "ConfigMap", "c"), APIVersion: "v1", UID: "u3"}))
		check("deployed; a kind without a status is not watched", "u1 of web InProgress")
		set(deployment("web", "u1", model.HealthCurrent))
		check("rolled out", "u1 of web Current")
		cluster.DeleteObject("apps/v1", "Deployment", "default", "web")
		check("deleted by hand")
		set(deployment("web", "u4", model.HealthCurrent))
		check("created by hand: not what was applied")
		web.UID = "u4"
		a.Then(state.BuildStarted{Resource: "web", Serial: 1}, deployed(web))
		check("applied", "u4 of web Current")
		foreign := model.AppliedObject{ObjectID: id("apps", "Deployment", "chart"), APIVersion: "apps/v1", UID: "u5", Foreign: true}
		e := deployment("chart", "u5", model.HealthCurrent)
		e.Labels = nil
		set(e)
		a.Then(state.BuildStarted{Resource: "web", Serial: 1}, deployed(web, foreign))
		check("applied by a command, without labels", "u4 of web Current", "u5 of web Current")
		a.Then(statetest.Loaded())
		check("no longer declared")
	})
}

// TestRemoved: how an object ended that runs to an end stays known when it is removed, also when that was before its deploy was over.
func TestRemoved(t *testing.T) {
	job, pod := kindOf{"batch", "Job", "batch/v1"}, kindOf{"", "Pod", "v1"}
	workflow, widget := kindOf{"argoproj.io", "Workflow", "argoproj.io/v1alpha1"}, kindOf{"example.com", "Widget", "example.com/v1"}
	for _, tc := range []struct {
		name string
		kind kindOf
		// before and after the deploy, the object is seen so, and is then removed if removed says so.
		before, after string
		removed       bool
		want          string
	}{
		{"it runs", job, "", model.HealthInProgress, false, "InProgress"},
		{"complete", job, "", model.HealthCurrent, true, "Current done"},
		{"failed", job, "", model.HealthFailed, true, "Failed done"},
		{"complete during the deploy", job, model.HealthCurrent, "", true, "Current done"},
		{"deleted by hand", job, "", model.HealthInProgress, true, "Deleted was deleted before its end"},
		{"never seen", job, "", "", false, "Gone was removed before hone saw how it ended"},
		{"a pod that has ended", pod, "", model.HealthCurrent, true, "Current done"},
		{"a pod that was deleted", pod, "", model.HealthInProgress, true, "Deleted was deleted before its end"},
		{"a custom resource that has ended", workflow, "", model.HealthCurrent, true, "Current done"},
		{"one that was deleted", widget, "", model.HealthInProgress, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := k8stest.New()
				see := func(name, uid, health string) {
					if health == "" {
						return
					}
					o := model.ObjectStatus{ObjectID: id(tc.kind.group, tc.kind.kind, name), UID: uid, Health: health}
					if health != model.HealthInProgress {
						o.Message, o.Ended = "done", true
					}
					cluster.SetObject(tc.kind.apiVersion, tc.kind.kind, k8s.ObjectEvent{Status: o, Labels: map[string]string{deploy.LabelManagedBy: deploy.ManagedByHone}})
					synctest.Wait()
				}
				remove := func() {
					if tc.removed {
						cluster.DeleteObject(tc.kind.apiVersion, tc.kind.kind, "default", "j")
						synctest.Wait()
					}
				}
				applied := func(name, uid string) model.AppliedObject {
					return model.AppliedObject{ObjectID: id(tc.kind.group, tc.kind.kind, name), APIVersion: tc.kind.apiVersion, UID: uid}
				}
				a := statetest.Start(t, New(cluster)).Then(statetest.Session, statetest.Loaded(statetest.K8s("web"))).Then(statetest.Connected()...)
				other := applied("other", "u0")
				see("other", "u0", model.HealthInProgress)
				a.Then(state.BuildStarted{Resource: "web", Serial: 1}, deployed(other)) // so that the kind is watched
				see("j", "u1", tc.before)
				if tc.before != "" {
					remove()
				}
				a.Then(state.BuildStarted{Resource: "web", Serial: 1}, deployed(other, applied("j", "u1")))
				see("j", "u1", tc.after)
				if tc.after != "" {
					remove()
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				got := state.Objects.In(a.View()).Value("u1")
				if text := strings.TrimSpace(got.Health + " " + got.Message); text != tc.want || text != "" && got.Resource != "web" {
					t.Errorf("%q of %q, want %q", text, got.Resource, tc.want)
				}
				a.Then(statetest.Loaded())
				if n := state.Objects.In(a.View()).Len(); n != 0 {
					t.Errorf("%d objects of a resource that is gone", n)
				}
			})
		})
	}
}

// TestLostLabel removes the label of hone from an object: it is not gone, and is followed until it is.
func TestLostLabel(t *testing.T) {
	for _, tc := range []struct {
		kind kindOf
		// gone is what is known once the object is deleted.
		gone string
	}{
		{kindOf{"batch", "Job", "batch/v1"}, model.HealthDeleted},
		{kindOf{"", "Pod", "v1"}, model.HealthDeleted},
		{kindOf{"apps", "Deployment", "apps/v1"}, ""},
		{kindOf{"example.com", "Widget", "example.com/v1"}, ""},
	} {
		t.Run(tc.kind.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := k8stest.New()
				labels := map[string]string{deploy.LabelManagedBy: deploy.ManagedByHone}
				set := func(uid, health string, labels map[string]string) {
					cluster.SetObject(tc.kind.apiVersion, tc.kind.kind, k8s.ObjectEvent{Labels: labels,
						Status: model.ObjectStatus{ObjectID: id(tc.kind.group, tc.kind.kind, "j"), UID: uid, Health: health}})
				}
				a := statetest.Start(t, New(cluster)).Then(statetest.Session, statetest.Loaded(statetest.K8s("web"))).Then(statetest.Connected()...)
				check := func(what, want string) {
					t.Helper()
					time.Sleep(time.Minute)
					synctest.Wait()
					if got := state.Objects.In(a.View()).Value("u1").Health; got != want {
						t.Errorf("%s: %q, want %q", what, got, want)
					}
				}
				set("u1", model.HealthInProgress, labels)
				a.Then(state.BuildStarted{Resource: "web", Serial: 1}, deployed(model.AppliedObject{ObjectID: id(tc.kind.group, tc.kind.kind, "j"), APIVersion: tc.kind.apiVersion, UID: "u1"}))
				check("applied", model.HealthInProgress)
				set("u1", model.HealthInProgress, nil)
				check("the label is removed", model.HealthInProgress)
				set("u1", model.HealthCurrent, nil)
				check("it goes on", model.HealthCurrent)
				set("u1", model.HealthInProgress, labels)
				check("the label is back", model.HealthInProgress)
				set("u1", model.HealthFailed, nil)
				check("the label is removed again", model.HealthFailed)
				cluster.DeleteObject(tc.kind.apiVersion, tc.kind.kind, "default", "j")
				check("deleted", tc.gone)
				set("u2", model.HealthCurrent, nil)
				check("made by others", tc.gone)
			})
		})
	}
}

type kindOf struct{ group, kind, apiVersion string }

func TestWithoutAClusterNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { statetest.Start(t, New(nil)).Then(statetest.Session) })
}
