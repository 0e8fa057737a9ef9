package projection

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
)

var groupVersion = schema.GroupVersion{Group: v1alpha1.Group, Version: v1alpha1.Version}

// All returns every kind, in the order of their names.
func All() []Kind {
	all := []Kind{
		session(), uiSession(), uiResource(), tiltfile(), uiButton(), toggleButton(), configMap(), cmd(), fileWatch(),
		kubernetesApply(), kubernetesDiscovery(), portForward(), podLogStream(), liveUpdate(), imageMap(), dockerImage(), cmdImage(),
		dockerComposeService(), cluster(), extension(), extensionRepo(),
	}
	for i := range all {
		all[i].Group, all[i].Version = v1alpha1.Group, v1alpha1.Version
		all[i].Plural = strings.ToLower(plural(all[i].Name))
		all[i].NameOf = safeName
	}
	slices.SortFunc(all, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func plural(kind string) string {
	switch {
	case strings.HasSuffix(kind, "ch"):
		return kind + "es"
	case strings.HasSuffix(kind, "ply"), strings.HasSuffix(kind, "ery"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}

// Actions are examples of the actions that Kind.Write returns, for the contract of its dispatcher.
func Actions() []store.Action {
	return []store.Action{state.ButtonClicked{}, state.ResourcesSwitched{}, state.TriggerModeChosen{}, state.TiltfileArgsSet{},
		state.ObjectsDeclared{}, state.ObjectsWithdrawn{}}
}

// tables returns names of tables for Kind.Tables. Every object also depends on the Tiltfile's secrets.
func tables(more ...interface{ Name() string }) []string {
	out := []string{state.Tiltfiles.Name()}
	for _, t := range more {
		if !slices.Contains(out, t.Name()) {
			out = append(out, t.Name())
		}
	}
	return out
}

// decidingTables is like tables, for objects that depend on which resource is updated next.
func decidingTables(more ...interface{ Name() string }) []string {
	out := tables(more...)
	for _, in := range buildcontrol.Tables() {
		if !slices.Contains(out, in.Table) {
			out = append(out, in.Table)
		}
	}
	return out
}

// column returns a column whose value comes from an object of the kind's own type.
func column[O Object](name, doc string, value func(o O) any) Column {
	return Column{Name: name, Doc: doc, Value: func(o Object) any {
		if own, ok := o.(O); ok {
			return value(own)
		}
		return ""
	}}
}

// wide marks a column that is shown only if there is room.
func wide(c Column) Column {
	c.Wide = true
	return c
}
