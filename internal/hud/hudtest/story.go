package hudtest

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// Story is a worker with updates of every kind: images with their steps, a fall-back, a failing command, one that was cancelled
// and one that runs; with pods of two deploys, events, objects, and dependencies.
func Story() *Scene {
	const minute = time.Minute
	sec := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	image := model.ImageTarget{Ref: "shop/worker", DependsOn: []string{"shop/base"}, Docker: &model.DockerBuild{Context: "/home/dev/shop/worker", Dockerfile: "/home/dev/shop/worker/Dockerfile"},
		Watch:      model.WatchSpec{Paths: []string{"/home/dev/shop/worker"}, Ignores: []model.Ignore{{Base: "/home/dev/shop/worker", Patterns: []string{"*.md", "docs"}, Source: "/home/dev/shop/worker/.dockerignore"}}},
		LiveUpdate: model.LiveUpdate{StopPaths: []string{"/home/dev/shop/worker/go.mod"}, Syncs: []model.Sync{{LocalPath: "/home/dev/shop/worker/src", RemotePath: "/app"}}}}
	base := model.ImageTarget{Ref: "shop/base", Docker: &model.DockerBuild{Context: "/home/dev/shop/base"}, Watch: model.WatchSpec{Paths: []string{"/home/dev/shop/base"}}}
	kube := func(name model.ManifestName, images []model.ImageTarget, deps ...model.ManifestName) model.Manifest {
		return model.Manifest{Name: name, AutoInit: true, ResourceDeps: deps, Images: images, K8s: &model.K8sTarget{PodReadiness: model.PodWait}}
	}
	worker := kube("worker", []model.ImageTarget{base, image}, "db", "queue")
	deployment := model.K8sObject{APIVersion: "apps/v1", Kind: "Deployment", Name: "worker"}
	worker.K8s.Objects = []model.K8sObject{deployment, {APIVersion: "v1", Kind: "Service", Name: "worker-http"}, {APIVersion: "v1", Kind: "ConfigMap", Name: "worker-settings"}}
	worker.K8s.PortForwards = []model.PortForward{{LocalPort: 6060, Name: "debugger"}}
	s := New()
	s.Open(model.Tiltfile{
		Manifests: []model.Manifest{kube("db", nil), kube("queue", nil, "db"), worker, kube("mailer", []model.ImageTarget{base}, "worker"), kube("e2e", nil, "mailer", "web"), kube("web", nil, "worker")},
		Warnings:  []string{"/home/dev/shop/Tiltfile:7: image \"shop/old\" is built, but no resource uses it"},
		Declared: map[model.ManifestName][]model.Declaration{"worker": {
			{Call: "docker_build", File: "/home/dev/shop/Tiltfile", Line: 4, Source: []string{`docker_build("shop/worker", "worker",`, `    live_update=[sync("worker/src", "/app")])`}},
			{Call: "k8s_resource", File: "/home/dev/shop/lib/service.star", Line: 12, From: 9, Source: []string{`    k8s_resource(name, resource_deps=["db"])`}},
		}},
	})
	for _, name := range []model.ManifestName{"db", "queue"} {
		s.Build(name, 1, sec(2), sec(3), Applied("image"))
		s.At(sec(4), state.PodChanged{Pod: Pod(name, sec(3), true)})
	}
	objects := Applied("image", model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "worker"}, model.ObjectID{Kind: "Service", Namespace: "default", Name: "worker-http"})
	objects.Images = map[string]model.ImageResult{"shop/worker": {Cluster: "shop/worker:hone-1234"}}
	first := objects
	first.Steps = []model.BuildStep{{Kind: model.StepBuild, What: "shop/base", Took: sec(41)}, {Kind: model.StepContext, What: "shop/worker", Took: sec(0.4)},
		{Kind: model.StepBuild, What: "shop/worker", Took: sec(72)}, {Kind: model.StepPush, What: "shop/worker", Took: sec(6)}, {Kind: model.StepApply, Took: sec(0.3)}}
	s.Build("worker", 1, minute, 3*minute, first)
	s.At(3*minute+sec(9), state.ResourcesReady{Names: []model.ManifestName{"worker"}})
	old := Pod("worker", 3*minute, false)
	old.Name, old.UID, old.Current, old.Deleting, old.Containers[0].ID = "worker-5f4d-aaaa1", "old", false, true, "c-old"
	s.At(4*minute, state.PodChanged{Pod: old})
	failed := Took("worker-7c9d-x2v1", 1, 812, 0.2, 0.1, 0.4, 1.1)
	failed.Err = `run "go generate ./…" in container main: exit code 1`
	s.Build("worker", 2, 30*minute, 30*minute+sec(0.5), state.BuildCompleted{Mode: "synclet", Err: failed.Err, Containers: []model.ContainerUpdate{failed},
		Problem: &state.Problem{Summary: failed.Err, Detail: "gen.go:3: unknown directive\nexit status 1", Mend: "fix the directive,\nor remove it"}}, "worker/src/job.go")
	fell := objects
	fell.FellBack, fell.Warnings = `go.mod matches fall_back_on "go.mod"`, 2
	fell.Steps = []model.BuildStep{{Kind: model.StepContext, What: "shop/worker", Took: sec(0.1)}, {Kind: model.StepBuild, What: "shop/worker", Took: sec(7.2)},
		{Kind: model.StepPush, What: "shop/worker", Took: sec(0.3)}, {Kind: model.StepApply, Took: sec(0.1)}}
	s.Build("worker", 3, 31*minute, 31*minute+sec(7.7), fell, "worker/go.mod", "worker/go.sum", "worker/src/a.go", "worker/src/b.go", "worker/src/c.go")
	s.At(31*minute+sec(9.8), state.ResourcesReady{Names: []model.ManifestName{"worker"}})
	broken := state.BuildCompleted{Mode: "image", Err: "build shop/worker: exit code 2\nmain.go:41: declared and not used: n", Steps: fell.Steps[:2], Output: []string{"compiling", "main.go:41: declared and not used: n"}}
	s.Build("worker", 4, 33*minute, 33*minute+sec(7.3), broken, "worker/main.go")
	s.Build("worker", 5, 34*minute, 34*minute+sec(2), state.BuildCompleted{Cancelled: true}, "worker/main.go")
	inPlace := Took("worker-7c9d-x2v1", 2, 4100, 0.2, 0, 0.4, 0.9)
	inPlace.Stages.Restarted = 900 * time.Microsecond
	s.Build("worker", 6, 38*minute, 38*minute+sec(0.0024), state.BuildCompleted{Mode: "synclet", Synced: []string{"c-worker"}, Containers: []model.ContainerUpdate{inPlace}}, "worker/src/job.go", "worker/src/job_test.go")
	pod := Pod("worker", 31*minute+sec(8), true)
	pod.NodeName, pod.IP, pod.Containers[0].Image = "node-1", "10.42.0.7", "shop/worker:hone-1234"
	pod.Containers[0].Restarts, pod.Containers[0].LastReason, pod.Containers[0].LastExitCode, pod.Containers[0].LastID = 2, "OOMKilled", 137, "c-before"
	pod.InitContainers = []model.Container{{Name: "migrate", ID: "c-migrate", Init: true, State: model.ContainerTerminated, Reason: "Completed", FinishedAt: Start.Add(31*minute + sec(9))}}
	s.At(39*minute, state.PodChanged{Pod: pod})
	unready := Pod("worker", 38*minute, false)
	unready.Name, unready.UID, unready.Containers[0].ID = "worker-7c9d-q8z2", "unready", "c-unready"
	unready.Containers[0].Started, unready.Containers[0].Probes = true, []model.ContainerProbe{{Kind: model.ProbeReadiness, Calls: "httpGet :8080/health"}}
	s.At(39*minute, state.PodChanged{Pod: unready}, state.ProbeFailed{Pod: "unready", Failure: state.ProbeFailure{Container: "main", Kind: model.ProbeReadiness,
		Answer: "HTTP probe failed with statuscode: 503", At: Start.Add(39 * minute)}})
	s.At(39*minute, state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: objects.Applied[0].ObjectID, UID: "uid-worker", Resource: "worker", Health: model.HealthInProgress, Message: "1 of 2 updated"}}},
		state.ForwardChanged{ID: "worker/6060", Forward: state.Forward{Resource: "worker", Spec: worker.K8s.PortForwards[0], State: state.ForwardFailed, URL: "http://localhost:6060/", Err: "port 6060 is taken by pid 77"}})
	event := func(uid, reason, message string, warning bool, count int, at float64) state.KubeEvent {
		return state.KubeEvent{UID: uid, Reason: reason, Message: message, Warning: warning, Count: count, Object: model.ObjectID{Kind: "Pod", Namespace: "default", Name: "worker-7c9d-q8z2"}, ObjectUID: "unready",
			Container: "main", FirstSeen: Start.Add(38 * minute), LastSeen: Start.Add(38*minute + sec(at)), Source: "kubelet"}
	}
	s.At(39*minute, state.KubeEventsSeen{Events: map[model.ManifestName][]state.KubeEvent{"worker": {
		event("1", "Pulled", "Container image \"shop/worker:hone-1234\" already present on machine", false, 1, 1),
		event("2", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", true, 4, 60),
		event("3", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", true, 3, 50),
		event("4", "BackOff", "Back-off restarting failed container main in pod worker-7c9d-q8z2_default(0f2c)\nsecond line", true, 1, 55),
	}}})
	s.At(40*minute+sec(52), state.BuildStarted{Resource: "worker", Serial: 7, Reason: state.ReasonFiles | state.ReasonTrigger, Files: []string{"worker/main.go"},
		At: Start.Add(40*minute + sec(52)), Span: "build:worker:7"})
	s.At(40*minute+sec(53), state.BuildProgressed{Resource: "worker", Serial: 7, Mode: "image", Stage: "1/3 Building Dockerfile: [shop/worker]",
		Progress: model.BuildProgress{Kind: model.StepBuild, Image: "shop/worker", Nth: 1, Images: 1, Step: 2, Steps: 3}})
	return s
}
