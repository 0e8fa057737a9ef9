package settle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/settle"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// up is a connected session with some resources.
func up(manifests ...model.Manifest) *statetest.State {
	loaded := statetest.Loaded(manifests...)
	loaded.At = statetest.Epoch
	return statetest.New(statetest.Session, state.TiltfileStarted{At: statetest.Epoch}, loaded).Then(statetest.Connected()...)
}

// live is a session with a resource api that runs in the containers c1 and c2, and can be updated in place.
func live(change ...func(*model.Manifest)) *statetest.State {
	m := statetest.K8s("api", statetest.Image("img"))
	for _, c := range change {
		c(&m)
	}
	return up(m).Deployed("api").Then(statetest.Pod("api", "p1", "c1", "img:1"), statetest.Pod("api", "p2", "c2", "img:1"), statetest.Healthy("api"))
}

// save is a change of a file that only has to be copied.
func save(s *statetest.State) state.FilesChanged {
	c := statetest.Change("img", "/src/img/main.go")
	c.At, c.Made = s.Now, s.Now
	return c
}

// inPlace ends an update in place of containers; others lag.
func inPlace(synced ...string) func(*state.BuildCompleted) {
	return func(b *state.BuildCompleted) {
		b.Mode, b.Synced, b.Touched = "synclet", synced, synced
		for _, id := range synced {
			b.Containers = append(b.Containers, model.ContainerUpdate{ID: id, Mode: "synclet", Files: 1, Stages: model.Stages{Applied: time.Millisecond, Restarted: time.Millisecond}})
		}
	}
}

func broken(err string) func(*state.BuildCompleted) {
	return func(b *state.BuildCompleted) { b.Mode, b.Err = "image", err }
}

// crashed is a pod whose container has ended, and is started again by the kubelet after the given number of restarts.
func crashed(pod, id string, restarts int) state.PodChanged {
	p := statetest.Pod("api", pod, id, "img:1")
	c := &p.Pod.Containers[0]
	p.Pod.Ready, p.Pod.Status, c.Ready, c.Restarts, c.ExitCode = false, "Error", false, restarts, 1
	c.State, c.Reason = model.ContainerTerminated, "Error"
	if restarts > 0 {
		p.Pod.Status, c.State, c.Reason = "CrashLoopBackOff", model.ContainerWaiting, "CrashLoopBackOff"
	}
	return p
}

// named is a session whose Tiltfile runs a command on a file that nothing watches.
func named() *statetest.State {
	loaded := statetest.Loaded()
	loaded.At, loaded.Result.Unwatched = statetest.Epoch, []string{"/src/version"}
	return up().Then(loaded)
}

// TestBuiltAt checks since when the inputs of each target are compared: an update in place builds no image.
func TestBuiltAt(t *testing.T) {
	s := live()
	image := state.Updates.In(s.View()).Value("api").Images["img"].StartedAt
	s.Then(save(s)).Begin("api").Finish("api", inPlace("c1", "c2"))
	builds := state.Updates.In(s.View()).Value("api").Builds
	asked := false
	settle.Judge(s.View(), settle.Question{Unseen: func(m *model.Manifest, _ []model.Ignore, built func(model.TargetID) (began, ended time.Time)) []string {
		asked = true
		if began, ended := built(model.ImageID("img")); !began.Equal(image) || !ended.Equal(builds[1].FinishedAt) || !ended.Before(builds[0].FinishedAt) {
			t.Errorf("the image was built from %s to %s, want %s to %s", began, ended, image, builds[1].FinishedAt)
		}
		if began, ended := built(m.DeployID()); !began.Equal(builds[0].StartedAt) || !ended.Equal(builds[0].FinishedAt) {
			t.Errorf("the resource was updated from %s to %s, want %s to %s", began, ended, builds[0].StartedAt, builds[0].FinishedAt)
		}
		return nil
	}}, s.Now.Add(time.Minute))
	if !asked {
		t.Error("nothing was asked")
	}
}

// TestJudge has a row for each reason for a result.
func TestJudge(t *testing.T) {
	then := func(s *statetest.State, actions ...store.Action) *statetest.State { return s.Then(actions...) }
	saved := func(s *statetest.State) *statetest.State { return s.Then(save(s)) }
	manual := func(m *model.Manifest) { m.TriggerMode = model.TriggerManual }
	test, command, manualAPI := statetest.Local("t"), statetest.Local("api"), statetest.Local("api")
	test.Local.AllowParallel, command.Local.AllowParallel = true, true
	test.Local.Test, test.ResourceDeps = &model.Test{}, []model.ManifestName{"api"}
	manualAPI.TriggerMode, manualAPI.AutoInit = model.TriggerManual, false
	waits := func(actions ...store.Action) *statetest.State {
		return up(command, test).Begin("api").Finish("api", nil).Begin("t").Finish("t", nil).Then(actions...)
	}
	change := state.FilesChanged{Changes: []state.FileChange{{Target: statetest.Local("api").DeployID(), Paths: []string{"/src/api/x"}}}}
	dep := statetest.Local("web")
	dep.ResourceDeps = []model.ManifestName{"db"}
	for _, tc := range []struct {
		name   string
		state  *statetest.State
		names  []model.ManifestName
		want   api.SettleResult
		text   string // a part of the text, or of the summary of the problem
		unseen []string
		late   bool // files that only the Tiltfile's commands read have changed
	}{
		{name: "nothing is declared", state: up(), want: api.SettleLive},
		{name: "it runs", state: live(), want: api.SettleLive},
		{name: "a save has not reached any container", state: saved(live()), want: api.SettleWaiting, text: "starting"},
		{name: "it is being updated", state: saved(live()).Begin("api"), want: api.SettleWaiting, text: "is being updated"},
		{name: "each replica has it", state: saved(live()).Begin("api").Finish("api", inPlace("c1", "c2")), want: api.SettleLive},
		{name: "a replica lags", state: saved(live()).Begin("api").Finish("api", inPlace("c1")), want: api.SettleWaiting, text: "starting"},
		{name: "another save follows", state: saved(saved(live()).Begin("api").Finish("api", inPlace("c1", "c2"))), want: api.SettleWaiting},
		{name: "a replica was replaced by one without the files", want: api.SettleWaiting, text: "starting",
			state: then(saved(live()).Begin("api").Finish("api", inPlace("c1", "c2")), statetest.Pod("api", "p2", "c3", "img:1"))},
		{name: "a replica is missing", want: api.SettleWaiting, text: "has 2 of 3 pods", state: func() *statetest.State {
			o := statetest.Healthy("api")
			o.Objects[0].Pods = 3
			return live().Then(o)
		}()},
		{name: "the way into a container is broken", want: api.SettleWaiting, text: "lacks the newest files in p1/main",
			state: then(saved(live()).Begin("api").Finish("api", inPlace("c1", "c2")),
				state.SyncletChanged{ID: "c1", Synclet: state.Synclet{Resource: "api", Pod: "p1", Container: "main", State: "broken"}})},
		{name: "the image cannot be built", state: up(statetest.K8s("api", statetest.Image("img"))).Begin("api").Finish("api", broken("exit code 2\nmain.go:3: x")), want: api.SettleFailing, text: "exit code 2"},
		{name: "a save may mend it", want: api.SettleWaiting,
			state: saved(up(statetest.K8s("api", statetest.Image("img"))).Begin("api").Finish("api", broken("exit code 2")))},
		{name: "it has crashed once", state: then(live(), crashed("p1", "c1", 0)), want: api.SettleWaiting, text: "has crashed"},
		{name: "it crashes again and again", state: then(live(), crashed("p1", "c1", 3)), want: api.SettleFailing, text: "p1"},
		{name: "its process has ended", want: api.SettleFailing, text: "ended with exit code 2",
			state: then(saved(live()).Begin("api").Finish("api", inPlace("c1", "c2")), state.SyncletChanged{ID: "c1", Synclet: state.Synclet{Resource: "api", Pod: "p1", Container: "main", State: "ready",
				Supervised: true, ExitCode: 2, Crashes: 1, Again: 10 * time.Second}})},
		{name: "its container ends with its process", want: api.SettleWaiting, text: "is being restarted",
			state: then(live(), state.SyncletChanged{ID: "c1", Synclet: state.Synclet{Resource: "api", Pod: "p1", Container: "main", State: "ready", Supervised: true, ExitCode: 143, Ending: true}})},
		{name: "it is paused", state: saved(then(live(), state.SessionPaused{})), want: api.SettleUnknown, text: "hone resume"},
		{name: "it waits for a trigger", state: saved(live(manual)), want: api.SettleUnknown, text: "hone trigger api"},
		{name: "the cluster is away, and a save waits", want: api.SettleUnknown, text: "waits for the cluster",
			state: then(saved(then(live(), state.ClusterReported{Cluster: model.Cluster{Context: "hone-dev"}, Err: "refused"}))), names: []model.ManifestName{"api"}},
		{name: "the cluster is away", want: api.SettleUnknown, text: "unknown since",
			state: then(live(), state.ClusterReported{Cluster: model.Cluster{Context: "hone-dev"}, Err: "refused"})},
		{name: "a dependency has failed", want: api.SettleFailing, text: "exit code 3", names: []model.ManifestName{"web"},
			state: up(statetest.Local("db"), dep).Begin("db").Finish("db", broken("exit code 3"))},
		{name: "a test waits for a dependency that waits for a trigger", want: api.SettleUnknown, names: []model.ManifestName{"t"},
			state: waits(state.TriggerModeChosen{Names: []model.ManifestName{"api"}, Mode: model.TriggerManual}, change),
			text:  "waits for api to run the newest files, but api has changes, waits for a trigger: hone trigger api"},
		{name: "a test waits for a dependency of a paused session", want: api.SettleUnknown, names: []model.ManifestName{"t"},
			state: waits(state.SessionPaused{}, change), text: "hone resume"},
		{name: "a test waits for a dependency that was never started", want: api.SettleUnknown, names: []model.ManifestName{"t"},
			state: up(manualAPI, test), text: "waits for api to run the newest files, but api was never started: hone trigger api"},
		{name: "a test waits for a dependency that is being updated", want: api.SettleWaiting, names: []model.ManifestName{"t"},
			state: waits(change).Begin("api"), text: "waits for api to run the newest files"},
		{name: "a test of a dependency that is switched off is not about it", want: api.SettleWaiting, names: []model.ManifestName{"t"},
			state: waits(state.ResourcesSwitched{Off: []model.ManifestName{"api"}}).Begin("t")},
		{name: "it is disabled, and asked for", want: api.SettleUnknown, text: "hone enable api", names: []model.ManifestName{"api"},
			state: then(live(), state.ResourcesSwitched{Off: []model.ManifestName{"api"}})},
		{name: "the Tiltfile has failed", state: then(live(), state.TiltfileLoaded{At: statetest.Epoch, Err: "Tiltfile:3:1: no"}), want: api.SettleFailing, text: "the Tiltfile has failed"},
		{name: "the Tiltfile is being evaluated", state: then(live(), state.TiltfileStarted{At: statetest.Epoch.Add(time.Hour)}), want: api.SettleWaiting, text: "the Tiltfile is being evaluated"},
		{name: "files cannot be watched", state: then(live(), state.WatchReported{Problem: "cannot watch /src", Unseen: "cannot watch /src"}), want: api.SettleUnknown, text: "cannot watch /src"},
		{name: "files are compared instead of watched", state: then(live(), state.WatchReported{Problem: "no more watches"}), want: api.SettleLive},
		{name: "a secret has changed since the build", state: live(), want: api.SettleUnknown, text: "/home/dev/.npmrc", unseen: []string{"/home/dev/.npmrc"}},
		{name: "many unwatched inputs have changed", state: live(), want: api.SettleUnknown, text: "a, b, c and 2 more: hone trigger api", unseen: []string{"a", "b", "c", "d", "e"}},
		{name: "an unwatched input of the Tiltfile has changed", state: named(), want: api.SettleUnknown, text: "/src/version; name them in watch_file()", late: true},
		{name: "an unwatched input of the Tiltfile is as it was", state: named(), want: api.SettleLive},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := settle.Question{Names: tc.names, Unseen: func(*model.Manifest, []model.Ignore, func(model.TargetID) (began, ended time.Time)) []string {
				return tc.unseen
			}}
			q.Changed = func(files []string, _ time.Time) []string {
				if tc.late {
					return files
				}
				return nil
			}
			a := settle.Judge(tc.state.View(), q, tc.state.Now.Add(time.Minute))
			if a.Report.Result != tc.want || a.Report.ExitCode != tc.want.ExitCode() {
				t.Errorf("%s (%d), want %s: %+v", a.Report.Result, a.Report.ExitCode, tc.want, a.Report)
			}
			said := a.Report.Text
			for _, r := range a.Report.Resources {
				said += " | " + r.Text
				if r.Problem != nil {
					said += r.Problem.Summary
				}
			}
			if !strings.Contains(said, tc.text) {
				t.Errorf("it says %q, want %q", said, tc.text)
			}
		})
	}
}

// TestWindow checks that a resource counts as live once it has run for the window, unless its log has a new error.
func TestWindow(t *testing.T) {
	s := live()
	s.Then(save(s)).Begin("api").Finish("api", inPlace("c1", "c2"))
	ended := state.Updates.In(s.View()).Value("api").Builds[0].FinishedAt
	var logged []logstore.Line
	var asked [2]time.Time
	q := settle.Question{Window: time.Second, Errors: func(name model.ManifestName, from, to time.Time) []logstore.Line {
		asked = [2]time.Time{from, to}
		return logged
	}}
	at := func(after time.Duration) settle.Answer { return settle.Judge(s.View(), q, ended.Add(after)) }
	if a := at(time.Second / 2); a.Report.Result != api.SettleWaiting || !a.Again.Equal(ended.Add(time.Second)) {
		t.Errorf("within the window: %+v", a)
	}
	if a := at(time.Second); a.Report.Result != api.SettleLive || !a.Again.IsZero() {
		t.Errorf("after the window: %+v", a)
	}
	began := state.Updates.In(s.View()).Value("api").Builds[0].StartedAt
	if want := [2]time.Time{began, ended.Add(time.Second)}; asked != want {
		t.Errorf("errors are looked for in %v, want %v", asked, want)
	}
	logged = []logstore.Line{{Text: "ERROR no database"}}
	for _, after := range []time.Duration{0, time.Hour} {
		r := at(after).Report
		if r.Result != api.SettleFailing || r.Resources[0].Problem.Cause != "ERROR no database" {
			t.Errorf("with an error in the log: %+v", r)
		}
	}
	q.Window = 0
	if a := at(0); a.Report.Result != api.SettleLive {
		t.Errorf("without a window: %+v", a)
	}
}

// TestReport checks how a report describes the way of the newest files to the processes that run them.
func TestReport(t *testing.T) {
	s := live()
	change := save(s)
	s.Then(change).Begin("api").Finish("api", func(b *state.BuildCompleted) {
		inPlace("c1", "c2")(b)
		b.Containers[1].Stages.Restarted = 0
	})
	got := settle.Judge(s.View(), settle.Question{}, s.Now).Report
	for i := range got.Resources {
		got.Resources[i].LiveAt, got.Resources[i].TookMs = time.Time{}, 0
	}
	want := api.SettleReport{Result: api.SettleLive, SavedAt: change.Made, Resources: []api.SettledResource{{
		Name: "api", Result: api.SettleLive, How: "in place", SavedAt: change.Made, Processes: []api.SettledProcess{
			{Pod: "p1", Container: "main", Start: api.ProcessRestarted}, {Pod: "p2", Container: "main", Start: api.ProcessKept}}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWithCommands checks which commands belong to the resources that are asked for.
func TestWithCommands(t *testing.T) {
	needs := func(m model.Manifest, deps ...model.ManifestName) model.Manifest {
		m.ResourceDeps = deps
		return m
	}
	server := statetest.Local("server")
	server.Local.Update, server.Local.Serve = model.Cmd{}, model.Cmd{Argv: []string{"true"}}
	v := up(needs(statetest.K8s("web"), "api", "server"), needs(statetest.K8s("api"), "compile"), needs(statetest.Local("compile"), "generate", "web"),
		statetest.Local("generate"), server, statetest.Local("other")).View()
	for _, tc := range []struct{ names, want []model.ManifestName }{
		{nil, nil},
		{[]model.ManifestName{"generate"}, []model.ManifestName{"generate"}},
		{[]model.ManifestName{"web"}, []model.ManifestName{"web", "compile", "generate"}},
		{[]model.ManifestName{"api", "compile"}, []model.ManifestName{"api", "compile", "generate"}},
	} {
		if diff := cmp.Diff(tc.want, settle.WithCommands(v, tc.names)); diff != "" {
			t.Errorf("%v: %s", tc.names, diff)
		}
	}
}
