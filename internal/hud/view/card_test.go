package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestCrashLoopThatRuns: between two failures of a crash loop a container runs, and neither the row nor the card treat that as
// the end.
func TestCrashLoopThatRuns(t *testing.T) {
	const cause, where = "api: crash loop ×3\n  container main exited with code 1, 3 s after its start\n", "  where: pod api-7c9d-x2v1\n"
	for _, tt := range []struct {
		name    string
		at      time.Duration
		status  Status
		runtime string
		cards   string
	}{
		{"waits", 6 * time.Second, Failed, "crash loop ×3  exit 1", cause + where + "  log: pod:default/api-7c9d-x2v1/main:c-api\n"},
		{"runs again", 17 * time.Second, Warning, "crash loop ×3  runs again, 2 s",
			cause + "  it runs again, for 2 s\n" + where + "  log: pod:default/api-7c9d-x2v1/main:c-old\n"},
		{"has run for long", 25 * time.Second, Well, "running 1/1  ↻3", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := hudtest.New()
			m := model.Manifest{Name: "api", AutoInit: true, K8s: &model.K8sTarget{PodReadiness: model.PodWait}}
			s.Open(model.Tiltfile{Manifests: []model.Manifest{m}, Enabled: []model.ManifestName{"api"}})
			s.Build("api", 1, time.Second, 2*time.Second, hudtest.Applied("deploy", model.ObjectID{Kind: "Deployment", Name: "api"}))
			p := hudtest.Pod("api", 2*time.Second, false)
			c := p.Containers[0]
			c.LastReason, c.LastExitCode, c.LastID, c.LastStartedAt, c.LastFinishedAt = "Error", 1, "c-old", hudtest.Start.Add(2*time.Second), hudtest.Start.Add(5*time.Second)
			p.Status, c.State, c.Reason, c.Restarts = "CrashLoopBackOff", model.ContainerWaiting, "CrashLoopBackOff", 3
			p.Containers = []model.Container{c}
			s.At(5*time.Second, state.PodChanged{Pod: p})
			if tt.at > 15*time.Second {
				p.Status, p.Ready, c.State, c.Reason, c.Ready, c.StartedAt = "Running", true, model.ContainerRunning, "", true, hudtest.Start.Add(15*time.Second)
				p.Containers = []model.Container{c}
				s.At(15*time.Second, state.PodChanged{Pod: p})
				s.At(tt.at, state.PodChanged{Pod: p}) // as PodWatcher does once it has run for long
			}
			v := Build(s.View(t.Context()), hudtest.Start.Add(tt.at), 0)
			r := v.Rows[len(v.Rows)-1]
			spaces := strings.NewReplacer("\u00a0", " ", "\u202f", " ")
			if runtime := spaces.Replace(r.Runtime.String()); r.Status != tt.status || runtime != tt.runtime {
				t.Errorf("status %v, runtime %q", r.Status, runtime)
			}
			if got := spaces.Replace(show(v.Cards)); got != tt.cards {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.cards)
			}
		})
	}
}

// show writes cards as text.
func show(cards []Card) string {
	var b strings.Builder
	for _, c := range cards {
		since := ""
		if c.Aspect == AspectStuck && !c.Since.IsZero() {
			since = " since " + Elapsed(hudtest.Start.Add(time.Minute).Sub(c.Since))
		}
		fmt.Fprintf(&b, "%s%s: %s%s\n", c.Resource, map[bool]string{true: fmt.Sprint(" and ", c.Also)}[len(c.Also) > 0], c.Title, since)
		for _, l := range c.Cause {
			fmt.Fprintf(&b, "  %s\n", l)
		}
		if c.Where != "" {
			fmt.Fprintf(&b, "  where: %s\n", c.Where)
		}
		for _, l := range c.Said {
			fmt.Fprintf(&b, "  said: %s\n", l)
		}
		if c.Output != "" {
			fmt.Fprintf(&b, "  output: %q\n", c.Output)
		}
		if c.Span != "" {
			fmt.Fprintf(&b, "  log: %s\n", c.Span)
		}
		for _, h := range c.Helps {
			fmt.Fprintf(&b, "  helps: %s\n", h)
		}
		for _, f := range c.Consequences {
			fmt.Fprintf(&b, "  consequence: %s, %s\n", f.Resource, f)
		}
		if len(c.After) > 0 {
			fmt.Fprintf(&b, "  after: %v\n", c.After)
		}
		if len(c.Waiting) > 0 {
			fmt.Fprintf(&b, "  waiting: %v\n", c.Waiting)
		}
	}
	return b.String()
}

func TestCards(t *testing.T) {
	service := func(name model.ManifestName, deps ...model.ManifestName) model.Manifest {
		return model.Manifest{Name: name, AutoInit: true, ResourceDeps: deps, K8s: &model.K8sTarget{PodReadiness: model.PodWait}}
	}
	tests := func(name model.ManifestName, deps ...model.ManifestName) model.Manifest {
		return model.Manifest{Name: name, AutoInit: true, ResourceDeps: deps, Local: &model.LocalTarget{}}
	}
	serves := func(name model.ManifestName) model.Manifest {
		return model.Manifest{Name: name, AutoInit: true, Local: &model.LocalTarget{Serve: model.Cmd{Argv: []string{"serve"}}}}
	}
	crash := func(s *hudtest.Scene, name model.ManifestName, at time.Duration) {
		s.Build(name, 1, time.Second, 2*time.Second, hudtest.Applied("deploy", model.ObjectID{Kind: "Deployment", Name: string(name)}))
		p := hudtest.Pod(name, 2*time.Second, false)
		p.Status = "Error"
		p.Containers[0].State, p.Containers[0].Reason, p.Containers[0].ExitCode = model.ContainerTerminated, "Error", 1
		p.Containers[0].StartedAt, p.Containers[0].FinishedAt = hudtest.Start, hudtest.Start.Add(3*time.Second)
		s.At(at, state.PodChanged{Pod: p})
	}
	failed := func(err string, p *state.Problem) state.BuildCompleted {
		return state.BuildCompleted{Mode: "image", Err: err, Problem: p}
	}
	run := func(s *hudtest.Scene, name model.ManifestName, change func(c *model.Container, p *state.Pod)) {
		s.Build(name, 1, time.Second, 2*time.Second, hudtest.Applied("deploy", model.ObjectID{Kind: "Deployment", Name: string(name)}))
		p := hudtest.Pod(name, 2*time.Second, false)
		change(&p.Containers[0], &p)
		s.At(3*time.Second, state.PodChanged{Pod: p})
	}
	for _, tt := range []struct {
		name      string
		manifests []model.Manifest
		play      func(s *hudtest.Scene)
		want      string
	}{
		{"one cause, and who waits because of it",
			[]model.Manifest{service("e2e", "shop-ui"), service("api"), service("shop-ui", "api")},
			func(s *hudtest.Scene) {
				s.Build("api", 1, time.Second, 2*time.Second, failed("build api: exit 1", &state.Problem{
					Summary: "the image api cannot be built", Cause: "RUN go build: exit code 1", Detail: `App.tsx:41:3: no such name\nmore`, Mend: "correct the code"}), "api/App.tsx")
			},
			"api: the update failed after a change of App.tsx\n  the image api cannot be built\n  RUN go build: exit code 1\n" +
				"  output: \"App.tsx:41:3: no such name\\nmore\"\n  log: build:api:1\n  helps: correct the code\n  waiting: [[shop-ui] [e2e]]\n"},
		{"several deploys that lack the same namespace", []model.Manifest{service("api"), service("web")}, func(s *hudtest.Scene) {
			for i, name := range []model.ManifestName{"api", "web"} {
				apply := []model.BuildStep{{Kind: model.StepApply}}
				at := time.Duration(i) * time.Second
				s.Build(name, 1, time.Second+at, 2*time.Second+at, state.BuildCompleted{Mode: "image", Steps: apply, Err: "apply deployment/" + string(name) + ": namespace \"dev\" does not exist",
					Problem: &state.Problem{Summary: `namespace "dev" does not exist`, Mend: "create it (kubectl create namespace dev)"}})
			}
		}, "api and [web]: the deploy failed\n  namespace \"dev\" does not exist\n  log: build:api:1\n  helps: create it (kubectl create namespace dev)\n"},
		{"quota", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			id := model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "api"}
			s.Build("api", 1, time.Second, 2*time.Second, hudtest.Applied("deploy", id))
			s.At(3*time.Second, state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: id, UID: "uid-api", Health: model.HealthFailed,
				Message: "its pods cannot be created: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0"}}})
		}, "api: its pods are refused\n  the ResourceQuota small has no room for its pods: requested: pods=1, used: pods=0, limited: pods=0\n" +
			"  helps: raise the ResourceQuota small, ask for less in resources, or delete what uses it up\n"},
		{"limits of a daemon set, of which only events tell", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			id := model.ObjectID{Group: "apps", Kind: "DaemonSet", Namespace: "default", Name: "api"}
			s.Build("api", 1, time.Second, 2*time.Second, hudtest.Applied("deploy", id))
			s.At(3*time.Second, state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: id, UID: "uid-api", Health: model.HealthInProgress, PodsMissingSince: time.Unix(1, 0)}}},
				state.KubeEventsSeen{Events: map[model.ManifestName][]state.KubeEvent{"api": {{UID: "e", Reason: "FailedCreate", Object: id, ObjectUID: "uid-api", LastSeen: time.Unix(2, 0),
					Message: `Error creating: pods "api-x2v1" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi`}}}})
		}, "api: its pods are refused\n  its pods cannot be created: maximum memory usage per Container is 1Gi, but limit is 2Gi\n" +
			"  helps: the LimitRange of the namespace bounds resources: ask for an amount within it\n"},
		{"crash loop", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			run(s, "api", func(c *model.Container, p *state.Pod) {
				p.Status = "CrashLoopBackOff"
				c.State, c.Reason, c.LastReason, c.LastExitCode, c.Restarts = model.ContainerWaiting, "CrashLoopBackOff", "Error", 127, 4
			})
		}, "api: crash loop ×4\n  container main exited with code 127 (the command was not found)\n  where: pod api-7c9d-x2v1\n  log: pod:default/api-7c9d-x2v1/main:c-api\n"},
		{"out of memory", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			run(s, "api", func(c *model.Container, p *state.Pod) {
				p.Status = "OOMKilled"
				c.State, c.Reason, c.ExitCode, c.MemoryLimit = model.ContainerTerminated, "OOMKilled", 137, "64Mi"
			})
		}, "api: out of memory\n  container main used more memory than its limit of 64Mi, and was killed\n  where: pod api-7c9d-x2v1\n  log: pod:default/api-7c9d-x2v1/main:c-api\n" +
			"  helps: raise resources.limits.memory, or use less\n"},
		{"missing config", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			run(s, "api", func(c *model.Container, p *state.Pod) {
				p.Status = "CreateContainerConfigError"
				c.State, c.Reason, c.Message, c.ID = model.ContainerWaiting, "CreateContainerConfigError", `secret "keys" not found`, ""
			})
		}, "api: Secret keys is missing\n  container main needs the Secret keys, which does not exist in namespace default\n  where: pod api-7c9d-x2v1\n" +
			"  helps: create the Secret keys, or correct its name in the object\n"},
		{"two resources that lack one object, one that fails and one that is stuck", []model.Manifest{service("api"), service("web")}, func(s *hudtest.Scene) {
			run(s, "api", func(c *model.Container, p *state.Pod) {
				p.Status, p.Phase, c.ID = "CreateContainerConfigError", "Pending", ""
				c.State, c.Reason, c.Message = model.ContainerWaiting, "CreateContainerConfigError", `configmap "settings" not found`
			})
			run(s, "web", func(c *model.Container, p *state.Pod) {
				p.Status, p.Phase, p.NodeName, c.ID = "ContainerCreating", "Pending", "n1", ""
				c.State, c.Reason = model.ContainerWaiting, "ContainerCreating"
			})
			s.At(4*time.Second, state.KubeEventsSeen{Events: map[model.ManifestName][]state.KubeEvent{"web": {{UID: "e", Warning: true, Reason: "FailedMount",
				Message: `MountVolume.SetUp failed for volume "conf" : configmap "settings" not found`, ObjectUID: "pod-web", LastSeen: hudtest.Start.Add(3 * time.Second)}}}})
		}, "api and [web]: ConfigMap settings is missing\n  container main needs the ConfigMap settings, which does not exist in namespace default\n  where: pod api-7c9d-x2v1\n" +
			"  helps: create the ConfigMap settings, or correct its name in the object\n"},
		{"no room on any node", []model.Manifest{service("api"), service("e2e", "api")}, func(s *hudtest.Scene) {
			run(s, "api", func(c *model.Container, p *state.Pod) {
				p.Status, p.Phase, p.Message, c.ID = "Pending", "Pending", "0/2 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint {gpu: }. preemption: 0/2 nodes are available: no.", ""
				c.State = model.ContainerWaiting
			})
		}, "api: no node takes its pod since 58 s\n  no node takes the pod: 1 node has not enough memory left; 1 node has the taint gpu, which the pod does not tolerate\n  where: pod api-7c9d-x2v1\n" +
			"  said: 0/2 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint {gpu: }. preemption: 0/2 nodes are available: no.\n" +
			"  helps: ask for less in resources.requests, or make room on a node\n  waiting: [[e2e]]\n"},
		{"a probe that goes on failing", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			run(s, "api", func(c *model.Container, _ *state.Pod) {
				c.Probes = []model.ContainerProbe{{Kind: model.ProbeReadiness, Calls: "tcpSocket :80"}}
			})
			s.At(4*time.Second, state.ProbeFailed{Pod: "pod-api", Failure: state.ProbeFailure{Container: "main", Kind: model.ProbeReadiness, Answer: "dial tcp 10.0.0.1:80: connect: connection refused"}})
		}, "api: its readiness probe fails since 58 s\n  container main runs, but its readiness probe tcpSocket :80 fails: dial tcp 10.0.0.1:80: connect: connection refused\n  where: pod api-7c9d-x2v1\n" +
			"  helps: nothing listens there in the container: check the port, and that the program listens on all addresses, not on localhost only\n"},
		{"a probe that fails after the pod was ready", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			run(s, "api", func(c *model.Container, p *state.Pod) {
				c.Probes, c.Started = []model.ContainerProbe{{Kind: model.ProbeReadiness, Calls: "httpGet :80/ready"}}, true
				p.UnreadySince = hudtest.Start.Add(50 * time.Second)
			})
			s.At(52*time.Second, state.ProbeFailed{Pod: "pod-api", Failure: state.ProbeFailure{Container: "main", Kind: model.ProbeReadiness, Answer: "HTTP probe failed with statuscode: 503"}})
		}, "api: its readiness probe fails since 10 s\n  container main was ready, but its readiness probe httpGet :80/ready fails: HTTP probe failed with statuscode: 503\n  where: pod api-7c9d-x2v1\n"},
		{"a server whose probe fails", []model.Manifest{serves("docs")}, func(s *hudtest.Scene) {
			s.Build("docs", 1, time.Second, 2*time.Second, state.BuildCompleted{Mode: "local"})
			s.At(3*time.Second, state.ProcessChanged{Process: state.Process{Resource: "docs", State: state.ProcessRunning, PID: 7, Build: 1, StartedAt: hudtest.Start,
				FailingSince: hudtest.Start.Add(4 * time.Second), Detail: "connection refused"}})
		}, "docs: its readiness probe fails since 56 s\n  serve_cmd runs, but its readiness probe fails: connection refused\n  log: serve:docs:1\n"},
		{"a server whose probe fails that was ready", []model.Manifest{serves("docs")}, func(s *hudtest.Scene) {
			s.Build("docs", 1, time.Second, 2*time.Second, state.BuildCompleted{Mode: "local"})
			s.At(3*time.Second, state.ProcessChanged{Process: state.Process{Resource: "docs", State: state.ProcessRunning, PID: 7, Build: 1, StartedAt: hudtest.Start,
				WasReady: true, FailingSince: hudtest.Start.Add(54 * time.Second), Detail: "status code 503"}})
		}, "docs: its readiness probe fails since 6 s\n  serve_cmd was ready, but its readiness probe fails: status code 503\n  log: serve:docs:1\n"},
		{"a server that ended", []model.Manifest{serves("docs")}, func(s *hudtest.Scene) {
			s.Build("docs", 1, time.Second, 2*time.Second, state.BuildCompleted{Mode: "local"})
			s.At(3*time.Second, state.ProcessChanged{Process: state.Process{Resource: "docs", State: state.ProcessFailed, ExitCode: 1, Err: "serve_cmd ended: exit code 1", Build: 1, StartedAt: hudtest.Start}})
		}, "docs: serve_cmd ended\n  serve_cmd ended: exit code 1\n  log: serve:docs:1\n"},
		{"an image that is built under another name", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			s.At(0, state.TiltfileLoaded{Result: model.Tiltfile{Manifests: []model.Manifest{service("api")},
				Warnings: []string{`Tiltfile:2: image "api" is built, but no resource uses it (did you mean ap?)`, `Tiltfile:3: image "apiserver" is built, but no resource uses it (did you mean apis?)`}}})
			run(s, "api", func(c *model.Container, _ *state.Pod) {
				c.State, c.Reason, c.Image, c.ID, c.Message = model.ContainerWaiting, "ErrImagePull", "ap", "", "ap: not found"
			})
		}, "api: image cannot be pulled\n  the image ap does not exist in its registry\n  Tiltfile:2: image \"api\" is built, but no resource uses it (did you mean ap?)\n" +
			"  where: pod\u00a0api-7c9d-x2v1\n  said: ap: not found\n  helps: check the image's name and tag, or push it\n"},
		{"a server that has not had the time to start", []model.Manifest{serves("docs")}, func(s *hudtest.Scene) {
			s.Build("docs", 1, time.Second, 2*time.Second, state.BuildCompleted{Mode: "local"})
			s.At(3*time.Second, state.ProcessChanged{Process: state.Process{Resource: "docs", State: state.ProcessRunning, PID: 7, Build: 1, StartedAt: hudtest.Start.Add(50 * time.Second),
				FailingSince: hudtest.Start.Add(51 * time.Second), Detail: "connection refused"}})
		}, ""},
		{"what depends on a failure fails after it", []model.Manifest{service("web", "api"), service("db"), service("api", "db"), tests("e2e", "web"), tests("lint", "db")}, func(s *hudtest.Scene) {
			crash(s, "db", 3*time.Second)
			crash(s, "api", 9*time.Second)
			crash(s, "web", 12*time.Second)
			s.Build("e2e", 1, 20*time.Second, 22*time.Second, failed("npm test: exit code 1", nil))
		}, "db: error\n  container main exited with code 1, 3 s after its start\n  where: pod db-7c9d-x2v1\n  log: pod:default/db-7c9d-x2v1/main:c-db\n" +
			"  consequence: api, error: container main exited with code 1, 3 s after its start\n" +
			"  consequence: web, error: container main exited with code 1, 3 s after its start\n" +
			"  consequence: e2e, the update failed: npm test: exit code 1\n  waiting: [[lint]]\n"},
		{"what depends on a failure failed before it", []model.Manifest{service("web", "api"), service("api")}, func(s *hudtest.Scene) {
			crash(s, "web", 3*time.Second)
			crash(s, "api", 9*time.Second)
		}, "web: error\n  container main exited with code 1, 3 s after its start\n  where: pod web-7c9d-x2v1\n  log: pod:default/web-7c9d-x2v1/main:c-web\n" +
			"api: error\n  container main exited with code 1, 3 s after its start\n  where: pod api-7c9d-x2v1\n  log: pod:default/api-7c9d-x2v1/main:c-api\n"},
		{"what depends on a failure fails after it, for a reason of its own", []model.Manifest{service("web", "api"), service("api"), service("ui", "api"), tests("e2e", "api")}, func(s *hudtest.Scene) {
			crash(s, "api", 3*time.Second)
			s.Build("web", 1, 4*time.Second, 5*time.Second, failed("build web: exit 1", &state.Problem{Summary: "the image web cannot be built"}))
			run(s, "ui", func(c *model.Container, p *state.Pod) {
				p.Status, p.Phase, c.ID = "CreateContainerConfigError", "Pending", ""
				c.State, c.Reason, c.Message = model.ContainerWaiting, "CreateContainerConfigError", `configmap "settings" not found`
			})
			s.Build("e2e", 1, 20*time.Second, 22*time.Second, failed("npm test: exit code 1", nil), "e2e/shop.test.ts")
		}, "api: error\n  container main exited with code 1, 3 s after its start\n  where: pod api-7c9d-x2v1\n  log: pod:default/api-7c9d-x2v1/main:c-api\n" +
			"web: the update failed\n  the image web cannot be built\n  log: build:web:1\n  after: [api]\n" +
			"ui: ConfigMap settings is missing\n  container main needs the ConfigMap settings, which does not exist in namespace default\n  where: pod ui-7c9d-x2v1\n" +
			"  helps: create the ConfigMap settings, or correct its name in the object\n  after: [api]\n" +
			"e2e: the update failed after a change of shop.test.ts\n  npm test: exit code 1\n  log: build:e2e:1\n  after: [api]\n"},
		{"a program that has ended in a container that goes on", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			run(s, "api", func(c *model.Container, p *state.Pod) { c.Ready, p.Ready = true, true })
			s.At(4*time.Second, state.SyncletChanged{ID: "c-api", Synclet: state.Synclet{Supervised: true, Container: "main", ExitCode: 2}})
		}, "api: exited 2\n  the process in main ended with exit code 2; the next change restarts it\n  where: pod api-7c9d-x2v1\n  log: pod:default/api-7c9d-x2v1/main:c-api\n"},
		{"a program that has ended beside an evicted pod", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			run(s, "api", func(c *model.Container, p *state.Pod) { c.Ready, p.Ready, p.Owner = true, true, "replicas" })
			old := hudtest.Pod("api", time.Second, false)
			old.Name, old.UID, old.Owner, old.Phase, old.Status, old.Message = "api-7c9d-aaaa", "pod-old", "replicas", "Failed", "Evicted", "The node was low on resource: memory."
			old.Containers[0].ID, old.Containers[0].State, old.Containers[0].Reason, old.Containers[0].ExitCode = "c-old", model.ContainerTerminated, "Error", 137
			s.At(4*time.Second, state.PodChanged{Pod: old}, state.SyncletChanged{ID: "c-api", Synclet: state.Synclet{Supervised: true, Container: "main", ExitCode: 2}})
		}, "api: exited 2\n  the process in main ended with exit code 2; the next change restarts it\n  where: pod api-7c9d-x2v1\n  log: pod:default/api-7c9d-x2v1/main:c-api\n"},
		{"a deploy that the server refuses", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			b := failed("apply deployment/api: it is invalid", &state.Problem{Summary: "apply deployment/api", Cause: "it is invalid"})
			b.Steps = []model.BuildStep{{Kind: model.StepBuild}, {Kind: model.StepPush}, {Kind: model.StepApply}}
			s.Build("api", 1, time.Second, 2*time.Second, b)
		}, "api: the deploy failed\n  apply deployment/api\n  it is invalid\n  log: build:api:1\n"},
		{"port in use", []model.Manifest{service("api")}, func(s *hudtest.Scene) {
			s.At(time.Second, state.ForwardChanged{ID: "api/8080", Forward: state.Forward{Resource: "api", Spec: model.PortForward{LocalPort: 8080},
				State: state.ForwardFailed, Err: "port 8080 is in use by nginx (pid 12)"}})
		}, "api: port 8080 cannot be forwarded\n  port 8080 is in use by nginx (pid 12)\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := hudtest.New()
			tf := model.Tiltfile{Manifests: tt.manifests}
			for _, m := range tt.manifests {
				tf.Enabled = append(tf.Enabled, m.Name)
			}
			s.Open(tf)
			tt.play(s)
			v := Build(s.View(t.Context()), hudtest.Start.Add(time.Minute), 0)
			if got := show(v.Cards); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}
