package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestSameAsScreen compares the rows of the page with the screen's rows: the same resources have the same statuses,
// errors, ports and addresses, in the same order.
func TestSameAsScreen(t *testing.T) {
	type row struct {
		Status    string
		Error     string
		Drift     string
		Pods      int
		Restarts  int
		Ports     []int
		Endpoints []string
	}
	statuses := map[string]bool{}
	drifts := 0
	for name, scene := range map[string]*hudtest.Scene{"shop": hudtest.Shop(), "asking": hudtest.Asking(), "chain": hudtest.Chain(), "drifted": hudtest.Drifted(), "story": hudtest.Story(), "trouble": hudtest.Trouble()} {
		v := scene.View(t.Context())
		want, got := map[string]row{}, map[string]row{}
		for _, r := range view.Build(v, hudtest.ShopTime, 0).Rows {
			is := row{Status: string(r.Status), Error: r.Err(), Drift: strings.TrimPrefix(r.Drift, "≠ "), Pods: r.Pods, Restarts: r.Restarts}
			for _, p := range r.Ports {
				is.Ports = append(is.Ports, p.Number)
			}
			for _, e := range r.Endpoints {
				is.Endpoints = append(is.Endpoints, e.URL)
			}
			want[string(r.Name)] = is
		}
		for _, r := range Rows(v) {
			is := row{Status: r.Status, Error: r.Error, Drift: r.Drift, Pods: r.Runtime.Pods, Restarts: r.Runtime.Restarts}
			for _, f := range r.Forwards {
				is.Ports = append(is.Ports, f.LocalPort)
			}
			for _, e := range r.Endpoints {
				is.Endpoints = append(is.Endpoints, e.URL)
			}
			got[r.Name], statuses[is.Status] = is, true
			if is.Drift != "" {
				drifts++
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 2 {
			t.Errorf("%s: -screen +page:\n%s", name, diff)
		}
	}
	for _, s := range []view.Status{view.Idle, view.Well, view.Warning, view.Waiting, view.Updating, view.Failed} {
		if !statuses[string(s)] {
			t.Errorf("no row of the scenes is %s", s)
		}
	}
	if drifts == 0 {
		t.Error("no row of the scenes has drifted")
	}
}

// TestDetail checks that details name everything that the screen's tabs show.
func TestDetail(t *testing.T) {
	v := hudtest.Shop().View(t.Context())
	if _, ok := Detail(v, "nothing"); ok {
		t.Error("a resource that does not exist has details")
	}
	for e := range state.Resources.In(v).Refs() {
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

// TestEarlierUpdates: the details of a resource have the updates of earlier sessions apart from those of this one.
func TestEarlierUpdates(t *testing.T) {
	s := hudtest.Shop()
	ended := hudtest.Start.Add(-time.Hour)
	s.At(41*time.Minute, state.HistoryRecalled{Resource: "api", Builds: []state.Build{
		{Serial: 2, Mode: "image", StartedAt: ended.Add(-time.Minute), FinishedAt: ended, Err: "no space left"},
		{Serial: 1, Mode: "image", StartedAt: ended.Add(-time.Hour), FinishedAt: ended.Add(-time.Hour), Files: []string{"api/main.go"}},
	}})
	d, _ := Detail(s.View(t.Context()), "api")
	var got []string
	for _, b := range slices.Concat(d.Updates, d.Earlier) {
		got = append(got, fmt.Sprintf("%d %s %d %s", b.Serial, b.Mode, b.FileCount, b.Error))
	}
	if diff := cmp.Diff([]string{"2 in place 1 ", "1 image 0 ", "2 image 0 no space left", "1 image 1 "}, got); diff != "" || len(d.Earlier) != 2 {
		t.Errorf("%d earlier updates (-want +got):\n%s", len(d.Earlier), diff)
	}
}

func diff(a, b float64) float64 { return max(a-b, b-a) }

// TestNotices checks problems that belong to no row.
func TestNotices(t *testing.T) {
	st := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("web")),
		state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev"}, Err: "connection refused", Problem: state.Problem{Summary: "connection refused", Mend: "start it"}}, state.SessionPaused{})
	want := []api.PageNotice{
		{Severity: "error", Summary: "cluster kind-dev does not answer", Cause: "connection refused", Mend: "start it"},
		{Severity: "warning", Summary: "updates are paused", Act: "resume"},
	}
	if diff := cmp.Diff(want, Session(st.View(), "1").Notices); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWaitsOfManualUpdates: how long a person waits with an update is no part of its time.
func TestWaitsOfManualUpdates(t *testing.T) {
	st := statetest.New(append(statetest.Connected(), statetest.Session, statetest.Loaded(statetest.K8s("gen", statetest.Image("gen"))))...)
	save := state.FilesChanged{Changes: statetest.Change("gen", "/src/a.go").Changes}
	save.Made = st.View().At.Add(-time.Hour)
	save.At = save.Made
	st.Then(save, state.ResourcesTriggered{Names: []model.ManifestName{"gen"}})
	asked := state.Updates.In(st.View()).Value("gen").Triggered
	st.Then(state.BuildStarted{Resource: "gen", Serial: 1, Files: []string{"a.go"}, At: asked.Add(time.Second)})
	st.Then(state.BuildCompleted{Resource: "gen", Serial: 1, Mode: "image", At: asked.Add(4 * time.Second), Deployed: true})
	if got := state.Updates.In(st.View()).Value("gen").Waits; len(got) != 1 || got[0].Took != 4*time.Second {
		t.Errorf("%+v", got)
	}
}

// TestWaits checks how long saves took until they ran.
func TestWaits(t *testing.T) {
	st := statetest.New(append(statetest.Connected(), statetest.Session, statetest.Loaded(statetest.K8s("web", statetest.Image("web")), statetest.Local("gen"), statetest.Local("never")))...)
	made := func(change state.FilesChanged, at time.Time) state.FilesChanged {
		change.Made, change.At = at, at
		return change
	}
	at := st.View().At
	st.Then(made(statetest.Change("web", "/src/a.go"), at))
	st.Then(state.BuildStarted{Resource: "web", Serial: 1, Files: []string{"a.go"}, At: st.View().At})
	st.Then(state.BuildCompleted{Resource: "web", Serial: 1, Mode: "synclet", At: at.Add(time.Second), Containers: []model.ContainerUpdate{
		{ID: "1", Stages: model.Stages{Noticed: time.Millisecond, Sent: time.Millisecond}}, {ID: "2", Stages: model.Stages{Noticed: time.Millisecond, Sent: 3 * time.Millisecond}}}})
	st.Then(made(statetest.Change("web", "/src/b.go"), at.Add(2*time.Second)))
	st.Then(state.BuildStarted{Resource: "web", Serial: 2, Files: []string{"b.go"}, At: st.View().At})
	st.Then(state.BuildCompleted{Resource: "web", Serial: 2, Mode: "image", At: at.Add(5 * time.Second), Deployed: true})
	if got := Waits(st.View()).Worst; got != 3000 {
		t.Errorf("before it is ready: %v ms", got)
	}
	st.Then(state.ResourcesReady{Names: []model.ManifestName{"web"}})
	ready := state.Updates.In(st.View()).Value("web").Builds[0].ReadyAt
	until := milliseconds(max(ready.Sub(at.Add(2*time.Second)), 3*time.Second))
	// Neither an update that failed nor one without a save counts.
	st.Then(made(statetest.Change("web", "/src/c.go"), at))
	st.Then(state.BuildStarted{Resource: "web", Serial: 3, Files: []string{"c.go"}, At: st.View().At}, state.BuildCompleted{Resource: "web", Serial: 3, Mode: "image", At: at.Add(time.Hour), Err: "no"})
	st.Then(state.BuildStarted{Resource: "gen", Serial: 1, At: st.View().At}, state.BuildCompleted{Resource: "gen", Serial: 1, Mode: "local", At: at.Add(time.Hour), Deployed: true})
	want := api.Waits{Saves: 2, Median: until, Worst: until, Resources: []api.ResourceWaits{{Resource: "web", Saves: 2, InPlace: 1, Median: until, Worst: until, Total: until + 4, WorstUpdate: 2}}}
	if diff := cmp.Diff(want, Waits(st.View())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
