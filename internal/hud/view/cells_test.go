package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// one is a session of one deployed resource, "api", to which a test adds its own story.
func one(change func(*model.Manifest), rest func(s *hudtest.Scene)) *hudtest.Scene {
	m := model.Manifest{Name: "api", AutoInit: true, K8s: &model.K8sTarget{PodReadiness: model.PodWait},
		Images: []model.ImageTarget{{Ref: "api", Docker: &model.DockerBuild{}}}}
	if change != nil {
		change(&m)
	}
	s := hudtest.New()
	s.Open(model.Tiltfile{Manifests: []model.Manifest{m}})
	rest(s)
	return s
}

func TestCells(t *testing.T) {
	const minute = time.Minute
	local := func(m *model.Manifest) {
		m.K8s, m.Images, m.Local = nil, nil, &model.LocalTarget{Serve: model.Cmd{Argv: []string{"serve"}}}
	}
	manual := func(m *model.Manifest) { m.TriggerMode = model.TriggerManual }
	built := func(s *hudtest.Scene) { s.Build("api", 1, minute, 2*minute, hudtest.Applied("image")) }
	running := func(s *hudtest.Scene) {
		built(s)
		s.At(3*minute, state.PodChanged{Pod: hudtest.Pod("api", 2*minute, true)})
	}
	start := func(s *hudtest.Scene, files ...string) {
		s.At(4*minute, state.BuildStarted{Resource: "api", Serial: 2, Files: files, At: hudtest.Start.Add(4 * minute)})
	}
	progress := func(mode, stage string) state.BuildProgressed {
		return state.BuildProgressed{Resource: "api", Serial: 2, Mode: mode, Stage: stage}
	}
	// at is a story in which an update has been at the given progress for a minute.
	at := func(stage string, far model.BuildProgress) func(s *hudtest.Scene) {
		return func(s *hudtest.Scene) {
			running(s)
			start(s, "main.go", "go.mod")
			s.At(5*minute, state.BuildProgressed{Resource: "api", Serial: 2, Mode: "image", Stage: stage, Progress: far})
		}
	}
	for _, tt := range []struct {
		name            string
		manifest        func(*model.Manifest)
		story           func(s *hudtest.Scene)
		status          Status
		update, runtime string
		short           string
	}{
		{"about to start", nil, func(*hudtest.Scene) {}, Updating, "starting", "–", "–"},
		{"no engine", nil, func(s *hudtest.Scene) { s.At(minute, state.EngineReported{Err: "refused"}) }, Waiting,
			"waits for the container engine to answer", "–", "–"},
		{"a Compose service that cannot be started", func(m *model.Manifest) {
			m.K8s, m.Images, m.Compose = nil, nil, &model.ComposeTarget{Service: "api"}
		}, func(s *hudtest.Scene) {
			s.Build("api", 1, minute, 2*minute, state.BuildCompleted{Err: "not started\nstart it yourself"})
		}, Failed, "not started", "–", "–"},
		{"no cluster", nil, func(s *hudtest.Scene) { s.At(minute, state.ClusterReported{Err: "refused"}) }, Waiting,
			"waits for the cluster to answer", "–", "–"},
		{"manual, with changes", manual, func(s *hudtest.Scene) {
			running(s)
			s.At(4*minute, state.FilesChanged{Changes: []state.FileChange{{Target: model.ImageID("api"), Paths: []string{"/home/dev/shop/api/a.go", "/home/dev/shop/api/b.go"}}}})
		}, Waiting, "has changes, waits for a trigger  a.go +1", "running 1/1", "1/1"},
		{"not started", func(m *model.Manifest) { m.AutoInit = false }, func(*hudtest.Scene) {}, Idle,
			"not started, waits for a trigger", "–", "–"},
		{"build before its first step", nil, at("1/3 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Image: "api", Nth: 1, Images: 1}),
			Updating, "building  1 m 0 s  main.go +1", "running 1/1 (previous)", "1/1"},
		{"build with steps", nil, at("1/3 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Image: "api", Nth: 1, Images: 1, Step: 5, Steps: 8}),
			Updating, "building 5/8 ▓▓▓▓▓░░░  1 m 0 s  main.go +1", "running 1/1 (previous)", "1/1"},
		{"build at its last step", nil, at("1/3 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Image: "api", Nth: 1, Images: 1, Step: 7, Steps: 7}),
			Updating, "building 7/7 ▓▓▓▓▓▓▓▓  1 m 0 s  main.go +1", "running 1/1 (previous)", "1/1"},
		{"build of the second of three images", nil, at("3/7 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Image: "api", Nth: 2, Images: 3, Step: 1, Steps: 12}),
			Updating, "building 1/12 ░░░░░░░░  image 2 of 3  1 m 0 s  main.go +1", "running 1/1 (previous)", "1/1"},
		{"build with a command", nil, at("3/7 Building Custom Build: [api]", model.BuildProgress{Kind: model.StepBuild, Image: "api", Nth: 2, Images: 3}),
			Updating, "building  image 2 of 3  1 m 0 s  main.go +1", "running 1/1 (previous)", "1/1"},
		{"push", nil, at("2/3 Pushing api:hone-1", model.BuildProgress{Kind: model.StepPush, Image: "api", Nth: 1, Images: 1}),
			Updating, "pushing  1 m 0 s  main.go +1", "running 1/1 (previous)", "1/1"},
		{"push with bytes", nil, at("2/3 Pushing api:hone-1", model.BuildProgress{Kind: model.StepPush, Image: "api", Nth: 1, Images: 1, Percent: 45}),
			Updating, "pushing 45 %  1 m 0 s  main.go +1", "running 1/1 (previous)", "1/1"},
		{"deploy", nil, at("3/3 Deploying", model.BuildProgress{Kind: model.StepApply}),
			Updating, "deploying  1 m 0 s  main.go +1", "running 1/1 (previous)", "1/1"},
		{"deploy that the cluster delays", nil, at("3/3 Deploying: busy", model.BuildProgress{Kind: model.StepApply, Waits: "the API server answers 429"}),
			Updating, "deploying  1 m 0 s  the API server answers 429", "running 1/1 (previous)", "1/1"},
		{"start with Compose", nil, at("2/2 Starting with Compose: [api]", model.BuildProgress{Kind: model.StepStart}),
			Updating, "starting  1 m 0 s  main.go +1", "running 1/1 (previous)", "1/1"},
		{"a local command", local, func(s *hudtest.Scene) {
			start(s)
			s.At(5*minute, state.BuildProgressed{Resource: "api", Serial: 2, Mode: "local", Stage: "running make 2/3", Progress: model.BuildProgress{Kind: model.StepRun}})
		}, Updating, "running  1 m 0 s  make 2/3", "–", "–"},
		{"pods are replaced on request", nil, func(s *hudtest.Scene) {
			running(s)
			s.At(4*minute, state.ResourcesRestarted{Names: []model.ManifestName{"api"}, Pods: true})
		}, Well, "ok  image 1 m 0 s", "restarting  0 s", "restart"},
		{"what fails is restarted on request", nil, func(s *hudtest.Scene) {
			built(s)
			crashed := hudtest.Pod("api", 2*minute, false)
			crashed.Status, crashed.Containers[0].State, crashed.Containers[0].Reason = "CrashLoopBackOff", model.ContainerWaiting, "CrashLoopBackOff"
			s.At(3*minute, state.PodChanged{Pod: crashed})
			s.At(4*minute, state.ResourcesRestarted{Names: []model.ManifestName{"api"}})
		}, Failed, "ok  image 1 m 0 s", "restarting  0 s", "restart"},
		{"restarted on request", nil, func(s *hudtest.Scene) {
			running(s)
			s.At(4*minute, state.ResourcesRestarted{Names: []model.ManifestName{"api"}})
			s.At(4*minute, state.RestartEnded{Resource: "api", Serial: 1, Done: []string{"pod api"}})
		}, Well, "ok  image 1 m 0 s", "running 1/1", "1/1"},
		{"cancelled in the middle of its steps", nil, func(s *hudtest.Scene) {
			at("1/3 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Image: "api", Nth: 1, Images: 1, Step: 5, Steps: 8})(s)
			s.At(6*minute, state.BuildCompleted{Resource: "api", Serial: 2, At: hudtest.Start.Add(6 * minute), Cancelled: true})
		}, Well, "ok  image 1 m 0 s", "running 1/1", "1/1"},
		{"build without a stage", nil, func(s *hudtest.Scene) { built(s); start(s); s.At(5*minute, progress("", "")) }, Updating,
			"updating  1 m 0 s", "applied", "applied"},
		{"in place", nil, func(s *hudtest.Scene) {
			running(s)
			start(s, "main.go")
			s.At(4*minute+time.Second, progress("synclet", "updating api-7c9d in place"))
		}, Updating, "updating in place  1 s  main.go", "running 1/1", "1/1"},
		{"failed update of a running resource", nil, func(s *hudtest.Scene) {
			running(s)
			s.Build("api", 2, 4*minute, 5*minute, state.BuildCompleted{Err: "\nmain.go:4: \x1b[31msyntax error\x1b[0m\nand more"}, "main.go")
		}, Failed, "main.go:4: syntax error", "running 1/1", "1/1"},
		{"failed update and failed runtime", nil, func(s *hudtest.Scene) {
			running(s)
			s.Build("api", 2, 4*minute, 5*minute, state.BuildCompleted{Err: "exit 2"}, "main.go")
			p := hudtest.Pod("api", 2*minute, false)
			p.Status, p.Containers[0].State, p.Containers[0].Reason, p.Containers[0].ExitCode = "OOMKilled", model.ContainerTerminated, "OOMKilled", 137
			s.At(6*minute, state.PodChanged{Pod: p})
		}, Failed, "exit 2", "out of memory  exit 137", "memory"},
		{"cancelled build is ignored", nil, func(s *hudtest.Scene) {
			running(s)
			s.Build("api", 2, 4*minute, 5*minute, state.BuildCompleted{Cancelled: true}, "main.go")
		}, Well, "ok  image 1 m 0 s", "running 1/1", "1/1"},
		{"warnings and a fall back", nil, func(s *hudtest.Scene) {
			running(s)
			s.Build("api", 2, 4*minute, 4*minute+time.Second, state.BuildCompleted{Mode: "image", Warnings: 2, FellBack: "go.mod changed"}, "go.mod")
		}, Warning, "ok  image 1.0 s  go.mod  2 warnings  fell back: go.mod changed", "running 1/1", "1/1"},
		{"pod is starting", nil, func(s *hudtest.Scene) {
			built(s)
			p := hudtest.Pod("api", 2*minute, false)
			p.Phase, p.Status, p.Message = "Pending", "ContainerCreating", ""
			s.At(3*minute, state.PodChanged{Pod: p})
		}, Waiting, "ok  image 1 m 0 s", "creating 0/1", "create 0/1"},
		{"restarts", nil, func(s *hudtest.Scene) {
			built(s)
			p := hudtest.Pod("api", 2*minute, true)
			p.Containers[0].Restarts = 3
			s.At(3*minute, state.PodChanged{Pod: p})
		}, Well, "ok  image 1 m 0 s", "running 1/1  ↻3", "1/1"},
		{"server failed", local, func(s *hudtest.Scene) {
			s.Build("api", 1, minute, minute, state.BuildCompleted{Mode: "local", Deployed: true})
			s.At(2*minute, state.ProcessChanged{Process: state.Process{Resource: "api", State: state.ProcessFailed, Build: 1, ExitCode: 3, Err: "serve_cmd ended: exit 3"}})
		}, Failed, "ok  serve_cmd", "failed  exit 3", "failed"},
		{"server ended without an error", local, func(s *hudtest.Scene) {
			s.Build("api", 1, minute, minute, state.BuildCompleted{Mode: "local", Deployed: true})
			s.At(2*minute, state.ProcessChanged{Process: state.Process{Resource: "api", State: state.ProcessFailed, Build: 1, Err: "serve_cmd ended: exit 0"}})
		}, Failed, "ok  serve_cmd", "failed  exit 0", "failed"},
		{"server could not be started", local, func(s *hudtest.Scene) {
			s.Build("api", 1, minute, minute, state.BuildCompleted{Mode: "local", Deployed: true})
			s.At(2*minute, state.ProcessChanged{Process: state.Process{Resource: "api", State: state.ProcessFailed, Build: 1, ExitCode: -1, Err: "no such program"}})
		}, Failed, "ok  serve_cmd", "failed", "failed"},
		{"server not ready", local, func(s *hudtest.Scene) {
			s.Build("api", 1, minute, minute, state.BuildCompleted{Mode: "local", Deployed: true})
			s.At(2*minute, state.ProcessChanged{Process: state.Process{Resource: "api", State: state.ProcessRunning, Build: 1, PID: 7,
				Detail: "connection refused", StartedAt: hudtest.Start.Add(2 * minute)}})
		}, Waiting, "ok  serve_cmd", "pid 7, not ready, now  connection refused", "not ready"},
		{"server stops for the next one", local, func(s *hudtest.Scene) {
			s.Build("api", 1, minute, minute, state.BuildCompleted{Mode: "local", Deployed: true})
			s.At(2*minute, state.ProcessChanged{Process: state.Process{Resource: "api", State: state.ProcessStopping, Build: 1, PID: 7}})
		}, Waiting, "ok  serve_cmd", "restarting", "restarting"},
		{"being removed", nil, func(s *hudtest.Scene) {
			running(s)
			s.At(4*minute, state.TiltfileStarted{At: hudtest.Start.Add(4 * minute)}, state.TiltfileLoaded{At: hudtest.Start.Add(4 * minute)})
		}, Idle, "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := one(tt.manifest, tt.story)
			v := s.View(t.Context())
			rows := Build(v, v.At, 0).Rows
			if tt.update == "" {
				if len(rows) != 1 {
					t.Errorf("%d rows are left", len(rows))
				}
				return
			}
			r := rows[1]
			got := []string{fmt.Sprint(r.Status), r.Update.String(), r.Runtime.String(), r.RuntimeShort.String()}
			if d := cmp.Diff([]string{fmt.Sprint(tt.status), tt.update, tt.runtime, tt.short}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTiltfileRow(t *testing.T) {
	for _, tt := range []struct {
		name   string
		story  func(s *hudtest.Scene)
		status Status
		want   string
	}{
		{"evaluating", func(s *hudtest.Scene) {
			s.At(time.Minute, state.TiltfileStarted{At: hudtest.Start.Add(time.Minute)})
			s.At(time.Minute+3*time.Second, state.WatchReported{})
		}, Updating, "evaluating  3 s"},
		{"failed", func(s *hudtest.Scene) {
			s.At(time.Minute, state.TiltfileLoaded{At: hudtest.Start.Add(time.Second), Err: "Tiltfile:4:1: undefined: foo\n\n  foo()"})
		}, Failed, "Tiltfile:4:1: undefined: foo"},
		{"triggered", func(s *hudtest.Scene) {
			s.At(time.Minute, state.ResourcesTriggered{Names: []model.ManifestName{model.TiltfileName}})
		}, Waiting, "is about to be evaluated"},
		{"warnings", func(s *hudtest.Scene) {
			s.At(time.Minute, state.TiltfileLoaded{Result: model.Tiltfile{Warnings: []string{"image x is not used", "y"}}, At: hudtest.Start.Add(time.Second)})
		}, Warning, "ok  1.0 s  image x is not used +1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := hudtest.New()
			s.Open(model.Tiltfile{})
			tt.story(s)
			v := s.View(t.Context())
			r := Build(v, v.At, 0).Rows[0]
			if r.Status != tt.status || r.Update.String() != tt.want || r.Name != model.TiltfileName {
				t.Errorf("%s: %s %q, want %s %q", r.Name, r.Status, r.Update.String(), tt.status, tt.want)
			}
		})
	}
}

// TestHeldInsteadOfBuilding checks that a resource whose build cannot begin yet names the build that it waits for, and shows no
// progress of its own, while that build does.
func TestHeldInsteadOfBuilding(t *testing.T) {
	resource := func(name, image string) model.Manifest {
		return model.Manifest{Name: model.ManifestName(name), AutoInit: true, K8s: &model.K8sTarget{PodReadiness: model.PodWait},
			Images: []model.ImageTarget{{Ref: image, Docker: &model.DockerBuild{}}}}
	}
	for name, tt := range map[string]struct {
		parallel int
		image    string
		want     string
	}{
		"the same image": {3, "shop/base", "waits for api, which builds the same image"},
		"no free slot":   {1, "shop/web", "waits for a free slot: api updating"},
	} {
		t.Run(name, func(t *testing.T) {
			s := hudtest.New()
			s.Open(model.Tiltfile{Manifests: []model.Manifest{resource("api", "shop/base"), resource("web", tt.image)},
				Update: model.UpdateSettings{MaxParallel: tt.parallel}})
			s.At(time.Minute, state.BuildStarted{Resource: "web", Serial: 1, At: hudtest.Start.Add(time.Minute)},
				state.BuildProgressed{Resource: "web", Serial: 1, Mode: "image", Stage: "1/3 Building Dockerfile: [web]",
					Progress: model.BuildProgress{Kind: model.StepBuild, Image: tt.image, Nth: 1, Images: 1, Step: 3, Steps: 4}},
				state.BuildCompleted{Resource: "web", Serial: 1, At: hudtest.Start.Add(time.Minute), Cancelled: true},
				state.ResourcesTriggered{Names: []model.ManifestName{"web"}},
				state.BuildStarted{Resource: "api", Serial: 1, At: hudtest.Start.Add(time.Minute)},
				state.BuildProgressed{Resource: "api", Serial: 1, Mode: "image", Stage: "1/3 Building Dockerfile: [api]",
					Progress: model.BuildProgress{Kind: model.StepBuild, Image: "shop/base", Nth: 1, Images: 1, Step: 1, Steps: 2}})
			v := s.View(t.Context())
			got := map[model.ManifestName]string{}
			for _, r := range Build(v, hudtest.Start.Add(time.Minute+3*time.Second), 0).Rows {
				got[r.Name] = r.Update.String()
			}
			if got["web"] != tt.want || got["api"] != "building 1/2 ▓▓▓▓░░░░  3 s  shop/base" {
				t.Errorf("web: %q, want %q; api: %q", got["web"], tt.want, got["api"])
			}
		})
	}
}

func TestNotices(t *testing.T) {
	s := one(nil, func(s *hudtest.Scene) {
		s.At(time.Minute, state.ClusterReported{Err: "connection refused"}, state.EngineReported{Err: "no socket"},
			store.SubscriberReported{Name: "PodWatcher", State: store.SubscriberBackingOff, Err: "panic: boom"},
			state.DeployLockTaken{ID: 1, By: "hone ci (pid 42)"}, state.PruneGuardChanged{Why: "6 of 8 objects would be deleted"}, state.WatchReported{Problem: "too many files to watch"}, state.SessionEnded{Failure: "timed out"})
	})
	var got []string
	v := Build(s.View(t.Context()), hudtest.ShopTime, time.Millisecond)
	for _, n := range v.Notices {
		got = append(got, n.Span().Text)
	}
	want := []string{"timed out", "cluster does not answer  connection refused", "container engine does not answer  no socket",
		"hone's PodWatcher failed and is being restarted: panic: boom", "6 of 8 objects would be deleted  X deletes them; or fix the Tiltfile", "hone ci (pid 42) deploys this project: updates wait until it has ended, since 12:01:00", "too many files to watch"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !v.Header.Ending || v.Header.Loop != time.Millisecond || v.Header.Project != "shop" {
		t.Errorf("header %+v", v.Header)
	}
}

// TestNoticesOfWhatNobodyNeeds expects no notice about a cluster and an engine that do not answer if no resource needs them.
func TestNoticesOfWhatNobodyNeeds(t *testing.T) {
	s := one(func(m *model.Manifest) {
		m.Images, m.K8s, m.Local = nil, nil, &model.LocalTarget{Serve: model.Cmd{Argv: []string{"serve"}}}
	}, func(s *hudtest.Scene) {
		s.At(time.Minute, state.ClusterReported{Err: "no kubeconfig was found"}, state.EngineReported{Err: "no socket"})
	})
	if v := Build(s.View(t.Context()), hudtest.ShopTime, 0); len(v.Notices) != 0 {
		t.Errorf("notices of a project without Kubernetes: %v", v.Notices)
	}
}

func TestImportantCell(t *testing.T) {
	update, runtime := plain("update"), plain("runtime")
	for _, tt := range []struct {
		name string
		row  Row
		want string
	}{
		{"both well", Row{Status: Well}, "runtime"},
		{"update failed", Row{Status: Failed, UpdateErr: "x"}, "update"},
		{"runtime failed", Row{Status: Failed, RuntimeErr: "x"}, "runtime"},
		{"both failed", Row{Status: Failed, UpdateErr: "x", RuntimeErr: "x"}, "update"},
		{"updating", Row{Status: Updating}, "update"},
		{"updating what fails", Row{Status: Updating, RuntimeErr: "x"}, "runtime"},
		{"its update waits", Row{Status: Waiting, Update: Cell{{"waits", Warn}}}, "waits"},
		{"is being removed", Row{Status: Waiting, Update: Cell{{"removed", Dim}}}, "removed"},
		{"its pods are not ready", Row{Status: Waiting}, "runtime"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.row.Runtime = runtime
			if tt.row.Update == nil {
				tt.row.Update = update
			}
			if got := tt.row.Important().String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestColumnsFitEveryWidth(t *testing.T) {
	shop := Build(hudtest.Shop().View(t.Context()), hudtest.ShopTime, 0).Rows
	long := slices.Clone(shop)
	long = append(long, Row{Name: model.ManifestName(strings.Repeat("name-", 16)), Update: plain(strings.Repeat("update ", 40)), Runtime: plain(strings.Repeat("runtime ", 40)),
		RuntimeShort: plain("crash ×400 forever"), Pod: strings.Repeat("pod-", 20), Pods: 12, Restarts: 1234567890, Age: "12 days ago",
		Ports: []Port{{Number: 30000}, {Number: 30001}, {Number: 30002}, {Number: 30003}}, Endpoints: []Endpoint{{URL: "http://" + strings.Repeat("long.", 30)}, {}}})
	for width := 60; width <= 300; width++ {
		for _, rows := range [][]Row{nil, shop[:1], shop, long} {
			var sizes Sizes
			sizes.Take(rows, hudtest.ShopTime)
			cols := sizes.Columns(width)
			total := Margin + 1
			for i, c := range cols {
				if i > 0 {
					total += Gap
				}
				total += c.Width
				if c.Width < text.Width(c.Title) {
					t.Errorf("%s has %d columns at width %d", c.Title, c.Width, width)
				}
				for _, r := range rows {
					for _, hasChanged := range []bool{false, true} {
						if got := r.Text(c, hasChanged); got.Width() > c.Width {
							t.Fatalf("%q does not fit into %d columns at width %d", got, c.Width, width)
						}
					}
				}
			}
			if total != width {
				t.Errorf("columns take %d of %d", total, width)
			}
		}
	}
}

// TestRestartFits checks that a restart is seen at every width, while the clock of the row continues.
func TestRestartFits(t *testing.T) {
	s := one(nil, func(s *hudtest.Scene) {
		s.Build("api", 1, time.Minute, 2*time.Minute, hudtest.Applied("image"))
		s.At(3*time.Minute, state.PodChanged{Pod: hudtest.Pod("api", 2*time.Minute, true)})
		s.At(4*time.Minute, state.ResourcesRestarted{Names: []model.ManifestName{"api"}, Pods: true})
	})
	v := Build(s.View(t.Context()), hudtest.Start.Add(4*time.Minute+9*time.Second), 0)
	if v.Refresh != time.Second {
		t.Errorf("the time of a restart is shown for %s", v.Refresh)
	}
	row := v.Rows[1]
	for width := 40; width <= 300; width++ {
		var sizes Sizes
		sizes.Take(v.Rows, hudtest.ShopTime)
		line := ""
		for _, c := range sizes.Columns(width) {
			line += row.Text(c, width >= wide).String() + "│"
		}
		want := "│restarting" // with its time, where there is room
		switch {
		case width >= narrow && width < medium:
			want = "│restart│"
		case width >= 100:
			want = "│restarting  9 s│"
		}
		if !strings.Contains(line, want) {
			t.Errorf("%d columns: %s", width, line)
		}
	}
}

// TestUpdateIsNotCutBesideEmptyColumns: a column has the width that it needs if others have room to spare.
func TestUpdateIsNotCutBesideEmptyColumns(t *testing.T) {
	update := "ok  image 3.9 s  handler.go +12  2 warnings  fell back: go.mod matches"
	rows := []Row{{Name: "web", Update: plain(update), Runtime: none, RuntimeShort: none, Age: "–"}}
	for _, width := range []int{120, 140, 200} {
		var sizes Sizes
		sizes.Take(rows, hudtest.ShopTime)
		if got := rows[0].Text(sizes.Columns(width)[1], width >= wide).String(); got != update {
			t.Errorf("%d columns: %q", width, got)
		}
	}
}

// TestColumnsStay: columns do not move as soon as their contents become shorter, but a while later.
func TestColumnsStay(t *testing.T) {
	long := []Row{{Name: "a-rather-long-name-of-a-service", Update: plain("x"), Runtime: plain("crash loop ×4  exit 1"), RuntimeShort: none}}
	short := []Row{{Name: "web", Update: plain("x"), Runtime: none, RuntimeShort: none}}
	var sizes Sizes
	at := hudtest.ShopTime
	sizes.Take(long, at)
	before := sizes.Columns(140)
	for _, after := range []time.Duration{time.Second, steady - 1, steady} {
		sizes.Take(short, at.Add(after))
		if d := cmp.Diff(before, sizes.Columns(140)); d != "" {
			t.Errorf("shorter contents move the columns after %s:\n%s", after, d)
		}
	}
	sizes.Take(short, at.Add(2*steady))
	if cmp.Equal(before, sizes.Columns(140)) {
		t.Error("the columns never shrink")
	}
	sizes.Take(long, at.Add(2*steady+1))
	if d := cmp.Diff(before, sizes.Columns(140)); d != "" {
		t.Errorf("the columns do not grow at once:\n%s", d)
	}
}

// TestEmptyColumnsGiveWay: a column that is empty in all rows takes no room.
func TestEmptyColumnsGiveWay(t *testing.T) {
	bare := []Row{{Name: "web", Update: plain("x"), Runtime: none, RuntimeShort: none}}
	full := []Row{{Name: "web", Update: plain("x"), Runtime: none, RuntimeShort: none, Pod: "web-1", Pods: 1, Ports: []Port{{Number: 80}}, Endpoints: []Endpoint{{URL: "http://localhost"}}}}
	titles := func(rows []Row, width int) string {
		var sizes Sizes
		sizes.Take(rows, hudtest.ShopTime)
		var out []string
		for _, c := range sizes.Columns(width) {
			out = append(out, c.Title)
		}
		return strings.Join(out, " ")
	}
	for _, tt := range []struct {
		rows  []Row
		width int
		want  string
	}{
		{bare, 80, "NAME UPDATE RUNTIME"}, {full, 80, "NAME UPDATE RUNTIME PORT"},
		{bare, 120, "NAME UPDATE RUNTIME CHANGED"}, {full, 120, "NAME UPDATE RUNTIME PORTS CHANGED"},
		{bare, 200, "NAME UPDATE RUNTIME CHANGED"}, {full, 200, "NAME UPDATE RUNTIME POD RESTARTS PORTS ENDPOINT CHANGED"},
	} {
		if got := titles(tt.rows, tt.width); got != tt.want {
			t.Errorf("%d columns: %s, want %s", tt.width, got, tt.want)
		}
	}
}

func TestMatches(t *testing.T) {
	r := Row{Name: "payments-worker", Group: "backend", Status: Failed, RuntimeErr: "x"}
	for query, want := range map[string]bool{
		"": true, "pay": true, "pwrk": true, "WORKER": true, "web": false, "!web": true, "!work": false, "!pwrk": true,
		"label:back": true, "label:front": false, "!label:front": true, "is:failing": true, "is:ok": false, "is:": false,
		"pay !web is:fail": true, "pay web": false, "!": true,
	} {
		if got := r.Matches(query); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

func TestTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 2100 * time.Microsecond: "2.1 ms", 420 * time.Millisecond: "420 ms", 3940 * time.Millisecond: "3.9 s",
		42 * time.Second: "42 s", 72 * time.Second: "1 m 12 s", 125 * time.Minute: "2 h 5 m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%s) = %q, want %q", d, got, want)
		}
	}
	now := time.Now()
	for d, want := range map[time.Duration]string{
		-time.Second: "now", 0: "now", 12 * time.Second: "12 s", 4 * time.Minute: "4 m", 3 * time.Hour: "3 h", 72 * time.Hour: "3 d",
	} {
		if got := Age(now.Add(-d), now); got != want {
			t.Errorf("Age(%s) = %q, want %q", d, got, want)
		}
		if got, want := ago(now.Add(-d), now), map[bool]string{true: "just now", false: want + " ago"}[want == "now"]; got != want {
			t.Errorf("ago(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	cell := Cell{{"abc", Bad}, {"def", Dim}}
	for width, want := range map[int]string{6: "abcdef", 7: "abcdef", 5: "abcd…", 3: "ab…", 1: "…", 0: ""} {
		got := cell.Fit(width)
		if got.String() != want || got.Width() > width {
			t.Errorf("Fit(%d) = %q, want %q", width, got, want)
		}
	}
	if text.Width(strings.Repeat("日", 3)) != 6 {
		t.Error("wide characters are two columns wide")
	}
}
