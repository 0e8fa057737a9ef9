package hudtest

import (
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// Trouble returns a scene in which a different cause keeps each resource from running. The resources are named after the causes.
func Trouble() *Scene {
	s := New()
	names := []model.ManifestName{"compile", "deploy", "chart", "crash", "memory", "exit-0", "command", "liveness", "pull", "secret", "volume", "quota", "room", "probe", "port", "serve", "waits", "last"}
	var tf model.Tiltfile
	for _, n := range names {
		m := model.Manifest{Name: n, AutoInit: true, K8s: &model.K8sTarget{PodReadiness: model.PodWait}}
		switch string(n) {
		case "chart":
			m.K8s.CustomDeploy = &model.CustomDeploy{}
		case "waits":
			m.ResourceDeps = []model.ManifestName{"crash"}
		case "last":
			m.ResourceDeps = []model.ManifestName{"waits"}
		case "serve":
			m.K8s, m.Local = nil, &model.LocalTarget{Serve: model.Cmd{Argv: []string{"mdserve"}}}
		}
		tf.Manifests, tf.Enabled = append(tf.Manifests, m), append(tf.Enabled, n)
	}
	s.Open(tf)
	sec := time.Second
	s.Build("compile", 1, sec, 2*sec, state.BuildCompleted{Mode: "image", Err: "the image shop/compile cannot be built", Steps: []model.BuildStep{{Kind: model.StepBuild}},
		Problem: &state.Problem{Summary: "the image shop/compile cannot be built", Cause: "RUN go build: exit code 1", Detail: "src/App.tsx:41:3: no such name", Mend: "correct the code, a save builds it again"}}, "src/App.tsx")
	s.Build("deploy", 1, sec, 2*sec, state.BuildCompleted{Mode: "image", Err: "apply deployment/deploy: it is invalid", Steps: []model.BuildStep{{Kind: model.StepBuild}, {Kind: model.StepApply}},
		Problem: &state.Problem{Summary: "apply deployment/deploy", Cause: `Deployment.apps "deploy" is invalid: containerPort: Invalid value: 99999`}})
	s.Build("chart", 1, sec, 2*sec, state.BuildCompleted{Mode: "deploy", Err: "apply command helm failed: exit code 1", Steps: []model.BuildStep{{Kind: model.StepApply}},
		Problem: &state.Problem{Summary: `apply command "helm upgrade chart" failed`, Cause: "exit code 1", Mend: "see its output above; it runs in /home/dev/shop"}})
	s.Build("serve", 1, sec, 2*sec, state.BuildCompleted{Mode: "local", Deployed: true})
	s.At(3*sec, state.ProcessChanged{Process: state.Process{Resource: "serve", Build: 1, State: state.ProcessFailed, ExitCode: 127, Err: "mdserve: command not found"}})
	for _, n := range names[3:15] {
		id := model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: string(n)}
		s.Build(n, 1, sec, 2*sec, Applied("image", id))
		if n == "quota" {
			s.At(3*sec, state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: id, UID: "uid-quota", Health: model.HealthFailed,
				Message: "its pods cannot be created: exceeded quota: small, requested: pods=1, used: pods=4, limited: pods=4"}}})
			continue
		}
		s.At(4*sec, state.PodChanged{Pod: troubled(n)})
	}
	s.At(5*sec, state.ProbeFailed{Pod: "pod-probe", Failure: state.ProbeFailure{Container: "main", Kind: model.ProbeReadiness, Answer: "dial tcp 10.42.0.7:8080: connect: connection refused"}},
		state.ProbeFailed{Pod: "pod-liveness", Failure: state.ProbeFailure{Container: "main", Kind: model.ProbeLiveness, Answer: "HTTP probe failed with statuscode: 404"}},
		state.KubeEventsSeen{Events: map[model.ManifestName][]state.KubeEvent{"volume": {{UID: "e", Warning: true, Reason: "FailedMount", ObjectUID: "pod-volume", LastSeen: Start.Add(5 * sec),
			Message: `MountVolume.SetUp failed for volume "conf" : configmap "settings" not found`}}}},
		state.ForwardChanged{ID: "port/8080", Forward: state.Forward{Resource: "port", Spec: model.PortForward{LocalPort: 8080}, State: state.ForwardFailed, Err: "port 8080 is in use by nginx (pid 77)"}},
		state.ForwardChanged{ID: "probe/8081", Forward: state.Forward{Resource: "probe", Spec: model.PortForward{LocalPort: 8081}, State: state.ForwardWaiting}})
	return s
}

// troubled returns the pod of a resource of Trouble.
func troubled(n model.ManifestName) state.Pod {
	p := Pod(n, 3*time.Second, n == "port")
	c := &p.Containers[0]
	c.Image = "shop/" + string(n) + ":1"
	crash := func(reason string, code int, message string) {
		p.Status, c.State, c.Reason, c.Restarts = "CrashLoopBackOff", model.ContainerWaiting, "CrashLoopBackOff", 4
		c.Message = "back-off 40s restarting failed container=main"
		c.LastReason, c.LastExitCode, c.LastMessage, c.LastID = reason, code, message, c.ID
		c.LastStartedAt, c.LastFinishedAt = Start.Add(time.Second), Start.Add(3*time.Second)
	}
	wait := func(reason, message string) {
		p.Phase, p.Status, c.State, c.Reason, c.Message, c.ID, c.StartedAt = "Pending", reason, model.ContainerWaiting, reason, message, "", time.Time{}
	}
	switch string(n) {
	case "crash":
		crash("Error", 1, "")
	case "memory":
		crash("OOMKilled", 137, "")
		c.MemoryLimit = "64Mi"
	case "exit-0":
		crash("Completed", 0, "")
	case "command":
		crash("StartError", 128, `failed to create containerd task: exec: "/nope": stat /nope: no such file or directory: unknown`)
	case "liveness":
		crash("Error", 137, "")
		c.Probes = []model.ContainerProbe{{Kind: model.ProbeLiveness, Calls: "httpGet :8080/health"}}
	case "pull":
		wait("ImagePullBackOff", `Back-off pulling image "shop/pull:1": ErrImagePull: failed to resolve reference "shop/pull:1": not found`)
	case "secret":
		wait("CreateContainerConfigError", `secret "keys" not found`)
	case "volume":
		wait("ContainerCreating", "")
		p.NodeName = "node-1"
	case "room":
		wait("Pending", "")
		c.Reason, p.Message = "", "0/2 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint {gpu: }. preemption: 0/2 nodes are available."
	case "probe":
		c.Probes = []model.ContainerProbe{{Kind: model.ProbeReadiness, Calls: "tcpSocket :8080"}}
	}
	return p
}

// TroubleLogs writes the logs of the resources of Trouble.
func TroubleLogs(logs *logstore.Store) {
	for _, l := range []struct {
		resource model.ManifestName
		span     string
		level    logstore.Level
		text     string
	}{
		{"deploy", "build:deploy:1", logstore.LevelInfo, "STEP 1/2 — Building Dockerfile: [shop/deploy]"},
		{"deploy", "build:deploy:1", logstore.LevelInfo, "STEP 2/2 — Deploying"},
		{"deploy", "build:deploy:1", logstore.LevelError, "Build Failed: apply deployment/deploy: it is invalid"},
		{"chart", "build:chart:1", logstore.LevelInfo, "STEP 1/1 — Deploying"},
		{"chart", "build:chart:1", logstore.LevelInfo, "Error: INSTALLATION FAILED: chart has no version"},
		{"chart", "build:chart:1", logstore.LevelError, "Build Failed: apply command helm failed: exit code 1"},
		{"crash", "pod:default/crash-7c9d-x2v1/main:c-crash", logstore.LevelInfo, "starting up"},
		{"crash", "pod:default/crash-7c9d-x2v1/main:c-crash", logstore.LevelError, "FATAL smtp: lookup smtp.dev on 10.96.0.10:53: no such host"},
		{"memory", "pod:default/memory-7c9d-x2v1/main:c-memory", logstore.LevelInfo, "reading 4,000,000 rows"},
	} {
		source := logstore.SourceRuntime
		if strings.HasPrefix(l.span, "build:") {
			source = logstore.SourceBuild
		}
		logs.Append(logstore.Entry{Time: Start.Add(3 * time.Second), Resource: l.resource, Source: source, Span: l.span, Level: l.level, Text: l.text})
	}
}
