package view

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestDriftBadge marks the rows of objects that others have changed, and names the losses of a restore.
func TestDriftBadge(t *testing.T) {
	changed := func(name string, by ...string) state.ObjectDrift {
		o := state.ObjectDrift{Object: model.ObjectID{Kind: "ConfigMap", Name: name}, What: state.DriftChanged}
		for _, m := range by {
			o.Fields = append(o.Fields, api.FieldChange{Path: "data.a", Manager: m})
		}
		return o
	}
	object := func(what state.DriftKind) state.ObjectDrift {
		return state.ObjectDrift{Object: model.ObjectID{Kind: "Secret", Name: "token"}, What: what}
	}
	replaced, secret := changed("conf", "helm"), object(state.DriftChanged)
	replaced.Replaces = true
	secret.Fields = []api.FieldChange{{Path: "data.a", Masked: true, Manager: "helm"}}
	for _, tc := range []struct {
		name        string
		drift       []state.ObjectDrift
		badge, lost string
	}{
		{"nothing", nil, "", ""},
		{"one tool", []state.ObjectDrift{changed("a", "helm", "helm")}, "≠ changed by helm", ""},
		{"several tools", []state.ObjectDrift{changed("a", "kubectl-edit"), changed("b", "helm")}, "≠ changed by helm +1", ""},
		{"a field that was removed", []state.ObjectDrift{changed("a", "")}, "≠ changed by others", ""},
		{"deleted", []state.ObjectDrift{object(state.DriftDeleted)}, "≠ deleted by others", ""},
		{"made again", []state.ObjectDrift{object(state.DriftRemade)}, "≠ made again by others", "secret/token was made by others, and is taken over"},
		{"changed and deleted", []state.ObjectDrift{changed("a", "helm"), object(state.DriftDeleted)}, "≠ changed by helm, deleted", ""},
		{"cannot be changed back in place", []state.ObjectDrift{replaced}, "≠ changed by helm", "configmap/conf is deleted and made again"},
		{"a Secret", []state.ObjectDrift{secret}, "≠ changed by helm", "secret/token loses values that are shown nowhere"},
		{"an escape sequence", []state.ObjectDrift{changed("a", "\x1b[31mred")}, "≠ changed by red", ""},
	} {
		d := state.Drift{Objects: tc.drift}
		if got := driftBadge(d); strings.ReplaceAll(got, "\u00a0", " ") != tc.badge {
			t.Errorf("%s: badge %q, want %q", tc.name, got, tc.badge)
		}
		if got := Lost(d); got != tc.lost {
			t.Errorf("%s: lost %q, want %q", tc.name, got, tc.lost)
		}
	}
}

// TestRowsOfDrift shows the badge before the update at every width, but not while an update runs that may restore. An object that
// stays deleted is a failure, which is more important.
func TestRowsOfDrift(t *testing.T) {
	s := hudtest.Drifted()
	rows := Build(s.View(t.Context()), hudtest.ShopTime, 0).Rows
	for _, r := range rows {
		want := map[model.ManifestName]string{"api": "≠ changed by kube-controller-manager +3", "web": "≠ deleted by others", "migrate": "≠ made again by others"}[r.Name]
		if r.Drift != want {
			t.Errorf("%s: %q, want %q", r.Name, r.Drift, want)
		}
		if want == "" {
			continue
		}
		status, short := Warning, want
		if r.Name == "web" {
			status, short = Failed, "gone"
		}
		if r.Status != status || !strings.HasPrefix(r.Update.String(), want) || !strings.HasPrefix(r.Important().String(), short) {
			t.Errorf("%s: status %v, update %q, short %q", r.Name, r.Status, r.Update, r.Important())
		}
	}
	s = hudtest.Drifted()
	s.At(hudtest.ShopTime.Sub(hudtest.Start), state.BuildStarted{Resource: "api", Serial: 4})
	for _, r := range Build(s.View(t.Context()), hudtest.ShopTime, 0).Rows {
		if r.Name == "api" && (r.Drift != "" || r.Status != Updating) {
			t.Errorf("while it is updated: %q, %v", r.Drift, r.Status)
		}
	}
}
