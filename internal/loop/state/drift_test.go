package state_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestDrifts plays actions, a minute apart, and describes the table after them: the minute since which each object differs.
func TestDrifts(t *testing.T) {
	object := func(name, value string) state.ObjectDrift {
		o := state.ObjectDrift{Object: model.ObjectID{Kind: "ConfigMap", Name: name}, What: state.DriftDeleted}
		if value != "" {
			o.What, o.Fields = state.DriftChanged, []api.FieldChange{{Path: "data.k", From: value, To: "mine", Manager: "kubectl-edit"}}
		}
		return o
	}
	drifted := func(objects ...state.ObjectDrift) store.Action {
		return state.ResourceDrifted{Resource: "web", Objects: objects}
	}
	for _, tc := range []struct {
		name    string
		actions []store.Action
		want    string
	}{
		{"nothing", nil, ""},
		{"no drift", []store.Action{drifted()}, ""},
		{"one field", []store.Action{drifted(object("a", "x"))}, "a changed 1"},
		{"another object later", []store.Action{drifted(object("a", "x")), drifted(object("a", "x"), object("b", ""))}, "a changed 1, b deleted 2"},
		{"another value later", []store.Action{drifted(object("a", "x")), drifted(object("a", "y"))}, "a changed 2"},
		{"restored", []store.Action{drifted(object("a", "x")), drifted()}, ""},
		{"the resource is declared again", []store.Action{drifted(object("a", "x")), statetest.Loaded(statetest.K8s("web"))}, "a changed 1"},
		{"the resource leaves", []store.Action{drifted(object("a", "x")), statetest.Loaded()}, ""},
		{"the resource is switched off", []store.Action{drifted(object("a", "x")), state.ResourcesSwitched{Off: []model.ManifestName{"web"}}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			s := store.New(state.Schema, store.WithClock(func() time.Time { return at }))
			for _, a := range []store.Action{statetest.Session, statetest.Loaded(statetest.K8s("web"))} {
				s.Dispatch(a)
				s.Step()
			}
			for _, a := range tc.actions {
				at = at.Add(time.Minute)
				s.Dispatch(a)
				s.Step()
			}
			var got []string
			for e := range state.Drifts.In(s.Snapshot().All()).Refs() {
				for _, o := range e.Value.Objects {
					got = append(got, fmt.Sprintf("%s %s %d", o.Object.Name, o.What, o.Since.Minute()))
				}
			}
			if text := strings.Join(got, ", "); text != tc.want {
				t.Errorf("%q, want %q", text, tc.want)
			}
		})
	}
}
