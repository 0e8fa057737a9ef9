package projection

import (
	"encoding/base64"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// password is a secret of the Tiltfile; it must never be shown.
const password = "correct-horse-battery"

// shop is a session with an example of everything: web was deployed and runs, api waits for a server that is not ready, seed
// was never started, off is disabled, db is a service of Compose.
func shop() *statetest.State {
	s := statetest.New(sessionStarted()).Then(statetest.Connected()...).
		Then(state.TiltfileStarted{At: statetest.Epoch, Span: "tiltfile:1"}, shopTiltfile(), state.ResourcesSwitched{Off: []model.ManifestName{"off"}})
	s.Deployed("web").Then(statetest.Healthy("web"), webPod())
	s.Then(state.PodChanged{Pod: state.Pod{Current: true, Pod: model.Pod{Name: "shop-db-1", UID: "c2", Resource: "db", Phase: "Running", Status: "Running", Ready: true,
		Engine: "running", Health: "healthy", Containers: []model.Container{{Name: "db", ID: "c2", State: model.ContainerRunning, StartedAt: statetest.Epoch}},
		Published: []model.ComposePort{{HostIP: "127.0.0.1", Published: 5432, Target: 5432}}}}})
	s.Then(state.ForwardChanged{ID: "web/8080", Forward: state.Forward{Resource: "web", Spec: model.PortForward{LocalPort: 8080, ContainerPort: 80, Name: "http"},
		Address: "localhost:8080", URL: "http://localhost:8080/", Pod: "default/web-1:80", State: state.ForwardReady}},
		state.ServiceChanged{Service: model.Service{Namespace: "default", Name: "web", UID: "svc", Resource: "web", URL: "http://10.0.0.1/"}})
	s.Begin("docs").Finish("docs", nil).Then(state.ProcessChanged{Process: state.Process{Resource: "docs", PID: 4711, State: state.ProcessRunning,
		StartedAt: statetest.Epoch, Build: 1}})
	s.Begin("gen").Finish("gen", func(b *state.BuildCompleted) { b.Err, b.Warnings = "exit code 2", 3 })
	s.Then(state.FilesChanged{Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetLocal, Name: "gen"}, Paths: []string{"/src/gen/a", "/src/gen/b"}}}})
	s.Then(statetest.Change("web", "/src/web/index.html"))
	s.Then(state.ButtonClicked{Button: "lint", Inputs: map[string]string{"LEVEL": "strict", "FIX": "yes", "WHO": "me", "TOKEN": password}},
		state.CommandStarted{Name: "lint", Cause: statetest.Epoch, Span: "cmd:lint:1"}, state.CommandReported{Name: "lint", PID: 77, Ready: true},
		state.FilesChanged{Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetFileWatch, Name: "sources"}, Paths: []string{"/src/x.go"}}}},
		state.ObjectsDeclared{Commands: []model.Command{{Name: "foreign", Cmd: model.Cmd{Argv: []string{"true"}, Dir: "/src"}}}})
	return s
}

func sessionStarted() store.Action {
	started := statetest.Session
	started.Session.PID, started.Session.Version, started.Session.Args = 42, "1.2.3", []string{"web"}
	return started
}

func webPod() store.Action {
	pod := statetest.Pod("web", "web-1", "c1", "web:1")
	pod.Pod.CreatedAt, pod.Pod.TemplateHash, pod.Pod.Controller = statetest.Epoch.Add(time.Minute), "hash-web", "web-5d"
	pod.Pod.Containers[0].StartedAt, pod.Pod.Containers[0].Ports = statetest.Epoch.Add(time.Minute+time.Second), []int{80}
	pod.Pod.InitContainers = []model.Container{{Name: "wait", ID: "c0", Image: "busybox", Init: true, State: model.ContainerTerminated, Reason: "Completed"}}
	return pod
}

func shopTiltfile() store.Action {
	web := statetest.K8s("web", statetest.Image("web"))
	web.Labels = []string{"frontend"}
	web.Links = []model.Link{{URL: "https://wiki.example/web", Name: "wiki"}}
	web.K8s.PortForwards = []model.PortForward{{LocalPort: 8080, ContainerPort: 80, Name: "http"}}
	web.K8s.ExtraPodSelectors = []map[string]string{{"app": "web"}}
	web.K8s.Objects = []model.K8sObject{
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", JSON: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"env":"` + password + `"}}`},
		{APIVersion: "v1", Kind: "Secret", Name: "web", JSON: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"web"},"data":{"password":"` +
			base64.StdEncoding.EncodeToString([]byte("another-secret")) + `"},"stringData":{"pin":"1234"}}`},
	}
	web.Images[0].LiveUpdate.Runs = []model.Run{{Cmd: model.Cmd{Argv: []string{"make"}}, Triggers: []string{"/src/web/Makefile"}}}
	value := "1"
	web.Images[0].Docker.BuildArgs, web.Images[0].Docker.Contents = map[string]*string{"A": &value, "HOME": nil}, "FROM scratch\n"
	api := statetest.K8s("api", model.ImageTarget{Ref: "gcr.io/shop/api:dev", DependsOn: []string{"web"}, Entrypoint: []string{"/api"},
		Custom: &model.CustomBuild{Command: model.Cmd{Argv: []string{"build", password}, Dir: "/src"}, ImageDeps: []string{"web"}}})
	api.ResourceDeps = []model.ManifestName{"docs"}
	chart := model.Manifest{Name: "chart", K8s: &model.K8sTarget{CustomDeploy: &model.CustomDeploy{Apply: model.Cmd{Argv: []string{"helm", "upgrade"}, Dir: "/src"},
		Delete: model.Cmd{Argv: []string{"helm", "uninstall"}}, Watch: model.WatchSpec{Paths: []string{"/chart"}}, ContainerSelector: "main",
		LiveUpdate: model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/chart/src", RemotePath: "/app"}}}}}}
	docs := statetest.Local("docs")
	docs.Local.Update, docs.Local.Serve = model.Cmd{}, model.Cmd{Argv: []string{"serve"}, Dir: "/src", Env: []string{"PASSWORD=" + password, "PORT=1"}}
	docs.Local.Readiness = &model.Probe{Period: 2 * time.Second, HTTP: &model.HTTPProbe{Host: "localhost", Port: 1, Path: "/", Scheme: "http"}}
	gen := statetest.Local("gen")
	gen.TriggerMode, gen.Local.Watch = model.TriggerManual, model.WatchSpec{Paths: []string{"/src/gen"}, Ignores: []model.Ignore{{Base: "/src", Patterns: []string{"*.tmp"}}}}
	db := model.Manifest{Name: "db", AutoInit: true, Compose: &model.ComposeTarget{Service: "db", Project: model.ComposeProject{Name: "shop", Dir: "/src",
		Files: []model.ComposeFile{{Path: "/src/compose.yaml"}, {Content: "secret"}}}, Ports: []model.ComposePort{{Published: 5432, Target: 5432}}}}
	l := statetest.Loaded(web, api, chart, docs, gen, db, statetest.Local("off"), model.Manifest{Name: "seed", K8s: &model.K8sTarget{}})
	l.At = statetest.Epoch.Add(1500 * time.Millisecond)
	l.Result.ConfigFiles, l.Result.Warnings = []string{"/src/Tiltfile"}, []string{"careful with " + password}
	l.Result.Secrets = []model.Secret{{Name: "web", Key: "password", Value: password}}
	l.Result.DefaultRegistry = model.Registry{Host: "localhost:5000"}
	l.Result.APIObjects = shopObjects()
	l.Result.LeftOut = map[string]string{"lost": "there is none, " + password}
	return l
}

func shopObjects() model.APIObjects {
	return model.APIObjects{
		Buttons: []model.Button{{Name: "lint", Text: "Lint", Place: model.ButtonPlace{Type: model.ComponentResource, Component: "web"}, RequiresConfirmation: true,
			Meta: model.Meta{Labels: map[string]string{"kind": "check"}, Annotations: map[string]string{"by": "shop"}},
			Inputs: []model.Input{
				{Name: "LEVEL", Kind: model.InputChoice, Choices: []string{"easy", "strict"}, Default: "easy"},
				{Name: "FIX", Kind: model.InputBool, True: "yes", False: "no", Default: "no"},
				{Name: "WHO", Kind: model.InputText, Placeholder: "you"},
				{Name: "TOKEN", Kind: model.InputHidden, Default: password},
			}}, {Name: "old", Text: "Old", Disabled: true, Place: model.ButtonPlace{Type: model.ComponentGlobal}}},
		Commands: []model.Command{{Name: "lint", Cmd: model.Cmd{Argv: []string{"lint"}, Dir: "/src", Env: []string{"KEY=" + password}},
			RestartOn: model.Triggers{FileWatches: []string{"sources"}}, StartOn: &model.Triggers{Buttons: []string{"lint"}},
			Disable: model.DisableSource{Keys: []model.ConfigMapKey{{ConfigMap: "switches", Key: "lint"}}}}},
		ConfigMaps:     []model.ConfigMap{{Name: "switches", Data: map[string]string{"lint": "false", "password": password}}},
		FileWatches:    []model.FileWatch{{Name: "sources", Watch: model.WatchSpec{Paths: []string{"/src"}}}},
		ExtensionRepos: []model.ExtensionRepo{{Name: "ours", URL: "https://git.example/ours", Ref: "v1"}},
		Extensions:     []model.Extension{{Name: "greet", Repo: "ours", Path: "greet", Args: []string{"--loud"}}, {Name: "lost", Repo: "ours", Path: "lost"}},
		Kept: []model.KeptObject{{Kind: "KubernetesApply", Name: "kept", Spec: `{"yaml":"kind: Secret\ndata: {a: b64}\n---\nkind: Pod\n","cluster":"default"}`},
			{Kind: "KubernetesDiscovery", Name: "kept", Spec: `{"watches":[{"namespace":"n"}],"cluster":"default"}`}},
	}
}
