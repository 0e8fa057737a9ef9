package state_test

import (
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRefusal: an object is refused its pods as long as the newest attempt since its spec was written was refused, and pods are
// missing. Times are seconds.
func TestRefusal(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
	id := model.ObjectID{Group: "apps", Kind: "StatefulSet", Namespace: "default", Name: "web"}
	event := func(reason, message string, second int) state.KubeEvent {
		return state.KubeEvent{UID: reason, Reason: reason, Message: message, Object: id, ObjectUID: "uid", LastSeen: at(second), Count: 1}
	}
	refused := func(second int) state.KubeEvent { return event("FailedCreate", "Error creating: no", second) }
	created := func(second int) state.KubeEvent { return event("SuccessfulCreate", "create Pod web-0", second) }
	of := func(e state.KubeEvent, change func(*state.KubeEvent)) state.KubeEvent { change(&e); return e }
	const why = "its pods cannot be created: no"
	for _, tc := range []struct {
		name    string
		events  [][]state.KubeEvent
		missing int // since when pods are missing; 0 if none are
		want    string
	}{
		{"no event", nil, 10, ""},
		{"refused", [][]state.KubeEvent{{refused(10)}}, 10, why},
		{"again and again", [][]state.KubeEvent{{refused(10)}, {refused(15)}}, 12, why},
		{"all pods are there", [][]state.KubeEvent{{refused(10)}}, 0, ""},
		{"refused before its spec changed", [][]state.KubeEvent{{refused(10)}}, 11, ""},
		{"a pod was created afterwards, and lost", [][]state.KubeEvent{{refused(10)}, {created(12)}}, 10, ""},
		{"in any order", [][]state.KubeEvent{{created(12)}, {refused(10)}}, 10, ""},
		{"within a second", [][]state.KubeEvent{{refused(10), created(10)}}, 10, ""},
		{"its next pod is refused", [][]state.KubeEvent{{created(10), refused(11)}}, 10, why},
		{"a claim was created", [][]state.KubeEvent{{refused(10), of(created(11), func(e *state.KubeEvent) { e.Message = "create Claim data-web-0 Pod web-0 success" })}}, 10, why},
		{"about its pod", [][]state.KubeEvent{{of(refused(10), func(e *state.KubeEvent) { e.Object.Kind, e.Object.Group = "Pod", "" })}}, 10, ""},
		{"about an object that had its name before", [][]state.KubeEvent{{of(refused(10), func(e *state.KubeEvent) { e.ObjectUID = "before" })}}, 10, ""},
		{"another reason", [][]state.KubeEvent{{event("RecreatingFailedPod", "no", 10)}}, 10, ""},
		{"the service account of a new namespace", [][]state.KubeEvent{{event("FailedCreate", `serviceaccount "default" not found`, 10)}}, 10, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("web"))).Begin("web").Finish("web", func(b *state.BuildCompleted) {
				b.Deployed, b.Applied = true, []model.AppliedObject{{ObjectID: id, APIVersion: "apps/v1", UID: "uid"}}
			})
			for _, list := range tc.events {
				s.Then(state.KubeEventsSeen{Events: map[model.ManifestName][]state.KubeEvent{"web": list, "unknown": list}})
			}
			o := model.ObjectStatus{ObjectID: id, UID: "uid", Health: model.HealthInProgress}
			if tc.missing > 0 {
				o.PodsMissingSince = at(tc.missing)
			}
			u := state.Updates.In(s.View()).Value("web")
			if got, is := u.Refusal(o); got != tc.want || is != (tc.want != "") {
				t.Errorf("%q, %t, want %q", got, is, tc.want)
			}
			o.Health = model.HealthTerminating
			if got, is := u.Refusal(o); is {
				t.Errorf("it is being deleted, and refused: %s", got)
			}
		})
	}
}

// TestCreationsGoWithObjects: the record of an object's pods is dropped with the object, kept by its next deploy, and written
// only if there is news.
func TestCreationsGoWithObjects(t *testing.T) {
	id := model.ObjectID{Group: "batch", Kind: "Job", Namespace: "default", Name: "web"}
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("web")))
	deploys := func(uid string) {
		s.Begin("web").Finish("web", func(b *state.BuildCompleted) {
			b.Deployed, b.Applied = true, []model.AppliedObject{{ObjectID: id, APIVersion: "batch/v1", UID: uid}}
		})
	}
	known := func() int { return len(state.Updates.In(s.View()).Value("web").Creations) }
	deploys("first")
	seen := state.KubeEventsSeen{Events: map[model.ManifestName][]state.KubeEvent{"web": {{UID: "e", Reason: "FailedCreate", Message: "no", Object: id, ObjectUID: "first", LastSeen: s.View().At}}}}
	s.Then(seen)
	before := state.Updates.In(s.View()).Ref("web")
	s.Then(seen)
	if after := state.Updates.In(s.View()).Ref("web"); known() != 1 || after.Version != before.Version {
		t.Errorf("%d known, version %d, then %d", known(), before.Version, after.Version)
	}
	if deploys("first"); known() != 1 {
		t.Error("forgotten by the next deploy")
	}
	if deploys("second"); known() != 0 {
		t.Error("the object was replaced, and what happened to it is kept")
	}
}
