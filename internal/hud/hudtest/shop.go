package hudtest

import (
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// shopTiltfile declares the shop. loadtest is left out of the session.
func shopTiltfile() model.Tiltfile {
	service := func(name model.ManifestName, label string, deps ...model.ManifestName) model.Manifest {
		return model.Manifest{Name: name, Labels: []string{label}, AutoInit: true, ResourceDeps: deps,
			Images: []model.ImageTarget{{Ref: string(name), Docker: &model.DockerBuild{Context: "/home/dev/shop/" + string(name)}}},
			K8s:    &model.K8sTarget{PodReadiness: model.PodWait}}
	}
	api, web := service("api", "backend"), service("web", "frontend")
	api.K8s.PortForwards = []model.PortForward{{LocalPort: 8080, Name: "http"}}
	api.K8s.Links = []model.Link{{URL: "https://wiki.example/api", Name: "wiki"}}
	web.K8s.PortForwards = []model.PortForward{{LocalPort: 3000}, {LocalPort: 9229, Name: "debugger"}}
	local := func(name model.ManifestName, label []string, t model.LocalTarget, deps ...model.ManifestName) model.Manifest {
		return model.Manifest{Name: name, Labels: label, AutoInit: true, ResourceDeps: deps, Local: &t}
	}
	return model.Tiltfile{
		Manifests: []model.Manifest{
			{Name: model.UncategorizedName, AutoInit: true, K8s: &model.K8sTarget{PodReadiness: model.PodIgnore}},
			api, service("worker", "backend"), service("mailer", "backend"), web,
			local("e2e", []string{"frontend"}, model.LocalTarget{Update: model.Cmd{Argv: []string{"make", "e2e"}}}, "worker"),
			{Name: "migrate", AutoInit: true, K8s: &model.K8sTarget{PodReadiness: model.PodSucceeded}},
			local("docs", nil, model.LocalTarget{Serve: model.Cmd{Argv: []string{"mdserve"}}}),
			{Name: "seed", K8s: &model.K8sTarget{}},
			{Name: "loadtest", AutoInit: true, K8s: &model.K8sTarget{}},
		},
		Enabled:    []model.ManifestName{"api", "worker", "mailer", "web", "e2e", "migrate", "docs", "seed"},
		APIObjects: model.APIObjects{Buttons: shopButtons()},
	}
}

// shopButtons declares buttons of every kind.
func shopButtons() []model.Button {
	api := model.ButtonPlace{Type: model.ComponentResource, Component: "api"}
	return []model.Button{
		{Name: "lint", Text: "lint", Place: api, Log: "api"},
		{Name: "seed", Text: "seed the database", Place: api, RequiresConfirmation: true, Inputs: []model.Input{
			{Name: "USER", Label: "User", Kind: model.InputText, Default: "jane", Placeholder: "who owns the data"},
			{Name: "SIZE", Label: "Size", Kind: model.InputChoice, Choices: []string{"small", "large"}, Default: "small"},
			{Name: "DRY", Label: "Only show what would happen", Kind: model.InputBool, On: true, Default: "yes", True: "yes", False: "no"},
			{Name: "TOKEN", Kind: model.InputHidden, Default: "t"}}},
		{Name: "old", Text: "old", Place: api, Disabled: true},
		{Name: "purge", Text: "purge", Place: model.ButtonPlace{Type: model.ComponentGlobal}, RequiresConfirmation: true},
	}
}

// Shop returns a scene with the whole story of the shop dispatched: api and web were updated in place, worker is being
// built, mailer crashes, e2e waits for worker, seed was never started.
func Shop() *Scene { return shop(false) }

// Asking is the shop in a session that asks the user before it updates or deletes anything.
func Asking() *Scene { return shop(true) }

func shop(asks bool) *Scene {
	s := New()
	s.asks = asks
	s.Open(shopTiltfile())
	return s.shop()
}

// shop dispatches the story of the shop.
func (s *Scene) shop() *Scene {
	id := func(kind, name string) model.ObjectID {
		return model.ObjectID{Kind: kind, Namespace: "default", Name: name}
	}
	sec := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	s.Build(model.UncategorizedName, 1, sec(2), sec(2.4), Applied("image", id("ConfigMap", "settings"), id("Secret", "keys"), id("Service", "db")))
	s.Build("migrate", 1, sec(3), sec(4), Applied("image"))
	job := Pod("migrate", sec(4), false)
	job.Phase, job.Status = "Succeeded", "Completed"
	s.At(sec(9), state.PodChanged{Pod: job})
	s.Build("docs", 1, sec(3), sec(3.1), state.BuildCompleted{Mode: "local", Deployed: true})
	s.At(sec(4), state.ProcessChanged{Process: state.Process{Resource: "docs", PID: 48112, Build: 1, State: state.ProcessRunning, Ready: true, StartedAt: Start.Add(sec(4))}})
	for _, name := range []model.ManifestName{"api", "worker", "web"} {
		s.Build(name, 1, sec(5), sec(14), Applied("image"))
		s.At(sec(16), state.PodChanged{Pod: Pod(name, sec(14), true)})
	}
	s.Build("mailer", 1, 36*time.Minute, 36*time.Minute+sec(3.9), Applied("image"))
	s.At(37*time.Minute, state.PodChanged{Pod: crashing("mailer")})
	s.At(37*time.Minute, state.ServiceChanged{Service: model.Service{Namespace: "default", Name: "api", UID: "svc-api", Resource: "api"}})
	forwards(s)
	s.Build("web", 2, 40*time.Minute+sec(29), 40*time.Minute+sec(29.0018), state.BuildCompleted{Mode: "synclet",
		Containers: []model.ContainerUpdate{Took("web-7c9d-x2v1", 3, 4100, 0.2, 0.1, 0.4, 1.1)}},
		"web/src/app.tsx", "web/src/cart.tsx", "web/src/nav.tsx")
	s.Build("api", 2, 40*time.Minute+sec(48), 40*time.Minute+sec(48.0021), state.BuildCompleted{Mode: "synclet",
		Containers: []model.ContainerUpdate{Took("api-7c9d-x2v1", 1, 1234, 0.3, 0.1, 0.3, 1.4)}}, "api/handler.go")
	s.At(40*time.Minute+sec(52), state.BuildStarted{Resource: "worker", Serial: 2, Reason: state.ReasonFiles,
		Files: []string{"worker/main.go"}, At: Start.Add(40*time.Minute + sec(52)), Span: "build:worker:2"})
	s.At(40*time.Minute+sec(53), state.BuildProgressed{Resource: "worker", Serial: 2, Mode: "image", Stage: "1/3 Building Dockerfile: [worker]",
		Progress: model.BuildProgress{Kind: model.StepBuild, Image: "worker", Nth: 1, Images: 1, Step: 4, Steps: 7}})
	s.At(40*time.Minute+sec(53), state.RevisionsKnown{Revisions: shopRevisions()})
	return s
}

// shopRevisions are the revisions of the shop: one of a colleague, one that failed, and the one of the session.
func shopRevisions() []api.Revision {
	return []api.Revision{
		{Number: 11, RevisionOrigin: api.RevisionOrigin{Command: "deploy", By: "kim@builder", Commit: "3f2a9c1d88e0b1", Tiltfile: "Tiltfile"}, Phase: api.RevisionSucceeded,
			Began: Start.Add(-26 * time.Hour), Ended: Start.Add(-26*time.Hour + time.Minute), RevisionCounts: api.RevisionCounts{Created: 9}, Objects: 9},
		{Number: 12, RevisionOrigin: api.RevisionOrigin{Command: "ci", By: "runner@ci", Commit: "8c11d07aa4f2e9", Tiltfile: "Tiltfile"}, Phase: api.RevisionFailed,
			Began: Start.Add(-time.Hour), Ended: Start.Add(-58 * time.Minute), RevisionCounts: api.RevisionCounts{Changed: 2}, Objects: 9, Failures: "mailer worker"},
		{Number: 13, RevisionOrigin: api.RevisionOrigin{Run: "1", Evaluation: 1, Command: "up", By: "dev@laptop", Commit: "8c11d07aa4f2e9", Tiltfile: "Tiltfile"}, Phase: api.RevisionApplying,
			Began: Start.Add(2 * time.Second), RevisionCounts: api.RevisionCounts{Created: 2, Changed: 4, Deleted: 1}, Objects: 10},
	}
}

func crashing(name model.ManifestName) state.Pod {
	p := Pod(name, 36*time.Minute+4*time.Second, false)
	p.Status = "CrashLoopBackOff"
	p.Containers[0].State, p.Containers[0].Reason = model.ContainerWaiting, "CrashLoopBackOff"
	p.Containers[0].Message = "back-off 40s restarting failed container=main"
	p.Containers[0].Restarts, p.Containers[0].LastReason, p.Containers[0].LastExitCode = 4, "Error", 1
	return p
}

func forwards(s *Scene) {
	for _, f := range []state.Forward{
		{Resource: "api", Spec: model.PortForward{LocalPort: 8080, Name: "http"}, URL: "http://localhost:8080/"},
		{Resource: "web", Spec: model.PortForward{LocalPort: 3000}, URL: "http://localhost:3000/"},
		{Resource: "web", Spec: model.PortForward{LocalPort: 9229, Name: "debugger"}, URL: "http://localhost:9229/"},
	} {
		f.State = state.ForwardReady
		s.At(38*time.Minute, state.ForwardChanged{ID: string(f.Resource) + "/" + f.Spec.Name, Forward: f})
	}
}

// ShopLogs writes the logs of the shop's resources.
func ShopLogs(logs *logstore.Store) {
	at := func(clock string) time.Time {
		t, _ := time.Parse(time.TimeOnly, clock)
		return time.Date(2026, 11, 20, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	}
	for _, l := range []logstore.Entry{
		{Time: at("12:00:00"), Resource: model.TiltfileName, Source: logstore.SourceBuild, Text: "Initial Build"},
		{Time: at("12:00:00"), Resource: model.TiltfileName, Source: logstore.SourceBuild, Text: "Successfully loaded Tiltfile (420 ms)"},
		{Time: at("12:00:05"), Resource: "api", Source: logstore.SourceBuild, Span: "build:api:1", Text: "Initial Build"},
		{Time: at("12:00:16"), Resource: "api", Source: logstore.SourceRuntime, Text: "listening on \x1b[32m:8080\x1b[0m"},
		{Time: at("12:40:12"), Resource: "mailer", Source: logstore.SourceRuntime, Span: "pod:default/mailer-7c9d-x2v1/main:c-mailer", Prefix: "[main] ", Level: logstore.LevelError,
			Text: "FATAL smtp: lookup smtp.dev on 10.96.0.10:53: no such host"},
		{Time: at("12:40:48"), Resource: "api", Source: logstore.SourceBuild, Span: "build:api:2", Text: "1 File Changed: [api/handler.go]"},
		{Time: at("12:40:52"), Resource: "worker", Source: logstore.SourceBuild, Span: "build:worker:2", Text: "1 File Changed: [worker/main.go]"},
		{Time: at("12:40:53"), Resource: "worker", Source: logstore.SourceBuild, Span: "build:worker:2", Text: "#9 [4/7] RUN go build -o /bin/worker ./cmd/worker"},
		{Time: at("12:40:55"), Resource: "worker", Source: logstore.SourceBuild, Span: "build:worker:2", Level: logstore.LevelWarn,
			Text: "#9 1.92 cmd/worker/main.go:41:2: declared and not used: n"},
		{Time: at("12:40:56"), Resource: "worker", Source: logstore.SourceRuntime, Text: "2026/11/20 12:40:56 picked job 8812 (mail to 山田太郎 ✉️)"},
	} {
		l.Level = max(l.Level, logstore.LevelInfo)
		logs.Append(l)
	}
}
