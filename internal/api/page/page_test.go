package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestSameAsScreen compares the rows of the page with those of the screen: the same resources have the same statuses, and errors.
func TestSameAsScreen(t *testing.T) {
	v := hudtest.Shop().View(t.Context())
	words := map[view.Status]string{view.Idle: Idle, view.Well: OK, view.Warning: Warning, view.Waiting: Waiting, view.Updating: Updating, view.Failed: Failed, view.Unknown: Unknown}
	type row struct {
		Status    string
		Error     string
		Pods      int
		Restarts  int
		Ports     int
		Endpoints int
	}
	want, got := map[string]row{}, map[string]row{}
	for _, r := range view.Build(v, hudtest.ShopTime, 0).Rows {
		want[string(r.Name)] = row{words[r.Status], r.Err(), r.Pods, r.Restarts, len(r.Ports), len(r.Endpoints)}
	}
	for _, r := range Rows(v) {
		got[r.Name] = row{r.Status, r.Error, r.Runtime.Pods, r.Runtime.Restarts, len(r.Forwards), len(r.Endpoints)}
	}
	if len(want) < 5 {
		t.Fatalf("the scene has %d rows", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-screen +page:\n%s", diff)
	}
	statuses := map[string]bool{}
	for _, r := range got {
		statuses[r.Status] = true
	}
	for _, s := range []string{Idle, OK, Waiting, Updating, Failed} {
		if !statuses[s] {
			t.Errorf("no row of the scene is %s", s)
		}
	}
}

// TestDetail checks that details name what the screen's tabs show.
func TestDetail(t *testing.T) {
	v := hudtest.Shop().View(t.Context())
	if _, ok := Detail(v, "nothing"); ok {
		t.Error("a resource that does not exist has details")
	}
	for e := range state.Resources.In(v).Entries() {
		d, ok := Detail(v, e.ID)
		if !ok || d.Name != e.ID {
			t.Errorf("%s: %+v", e.ID, d)
		}
		u := state.Updates.In(v).Value(e.ID)
		n := len(u.Builds)
		if u.Current != nil {
			n++
		}
		if len(d.Updates) != n || len(d.Pods) != len(state.PodsOf(v, model.ManifestName(e.ID))) || len(d.Events) != len(state.ClusterEvents.In(v).Value(e.ID).List) {
			t.Errorf("%s: %d updates, %d pods, %d events", e.ID, len(d.Updates), len(d.Pods), len(d.Events))
		}
		for _, b := range d.Updates {
			var sum float64
			for _, s := range b.Stages {
				sum += s.Milliseconds
			}
			if b.Mode == "in place" && !b.FinishedAt.IsZero() && (sum == 0 || diff(sum, b.Milliseconds) > 0.1) {
				t.Errorf("%s: the stages take %v of %v ms", e.ID, sum, b.Milliseconds)
			}
		}
	}
}

func diff(a, b float64) float64 { return max(a-b, b-a) }

// TestNotices checks problems that belong to no row.
func TestNotices(t *testing.T) {
	st := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("web")),
		state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev"}, Err: "connection refused", Problem: state.Problem{Summary: "connection refused", Mend: "start it"}}, state.SessionPaused{})
	want := []api.PageNotice{
		{Severity: "error", Summary: "cluster kind-dev does not answer", Cause: "connection refused", Mend: "start it"},
		{Severity: "warning", Summary: "the session is paused: updates begin only on request"},
	}
	if diff := cmp.Diff(want, Session(st.View(), "1").Notices); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
