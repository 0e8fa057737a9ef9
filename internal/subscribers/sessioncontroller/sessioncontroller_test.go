package sessioncontroller

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

var ci = state.Session{Command: state.CommandCI}

func TestCI(t *testing.T) {
	web, gen := statetest.K8s("web"), statetest.Local("gen")
	job := statetest.K8s("web")
	job.K8s.PodReadiness = model.PodSucceeded
	manual := statetest.K8s("db")
	manual.AutoInit = false
	server := statetest.Local("srv")
	server.Local.Serve = model.Cmd{Argv: []string{"serve"}}
	for _, tc := range []struct {
		name    string
		session state.Session
		run     func(f *fixture)
	}{
		{"ends when a Compose service fails, without a cluster and an engine", ci, func(f *fixture) {
			f.Then(statetest.Loaded(statetest.Compose("db")))
			f.goes("it is not tried yet")
			f.built("db", "hone does not run Compose services yet")
			f.ends("it failed", "hone does not run Compose services yet")
		}},
		{"ends when all is updated and ready", ci, func(f *fixture) {
			f.Then(statetest.Loaded(web, gen))
			f.built("gen", "")
			f.goes("one is not built yet")
			f.built("web", "")
			f.goes("one is not ready yet")
			f.Then(statetest.Healthy("web"))
			f.ends("ready", "")
		}},
		{"nothing to do", ci, func(f *fixture) {
			f.goes("before the Tiltfile")
			f.Then(statetest.Loaded())
			f.ends("loaded", "")
		}},
		{"a deploy may have installed kinds that a chart asks for", ci, func(f *fixture) {
			loaded := statetest.Loaded(gen)
			loaded.Result.Served = &model.Capabilities{KubeVersion: "v1.34.4"}
			f.Then(append(connected(), loaded, state.BuildStarted{Resource: "gen", Serial: 1})...)
			f.Then(state.BuildCompleted{Resource: "gen", Serial: 1, Mode: "local", Deployed: true})
			f.goes("the cluster was not asked")
			f.Then(state.ServedReported{AskedAt: time.Now().Add(time.Second), Served: model.Capabilities{KubeVersion: "v1.34.4", APIVersions: []string{"v1"}}})
			f.goes("the Tiltfile is evaluated again")
			more := statetest.Local("gen")
			more.Local.Update.Argv = []string{"make"}
			loaded = statetest.Loaded(more)
			loaded.At = time.Now()
			f.Then(state.CollectionReported{}, state.TiltfileStarted{At: time.Now()}, loaded)
			f.goes("the new declaration was not carried out")
			f.built("gen", "")
			f.ends("it is", "")
		}},
		{"a resource that waits for the user does not count", ci, func(f *fixture) {
			f.Then(statetest.Loaded(gen, manual))
			f.built("gen", "")
			f.ends("the other one is built", "")
		}},
		{"a broken Tiltfile", ci, func(f *fixture) {
			f.Then(state.TiltfileLoaded{Err: "syntax error"})
			f.ends("loaded", "syntax error")
		}},
		{"a failed build", ci, func(f *fixture) {
			f.Then(statetest.Loaded(web, gen))
			f.built("gen", "exit code 1")
			f.ends("built", "gen: exit code 1")
		}},
		{"a cancelled build is no failure", ci, func(f *fixture) {
			f.Then(statetest.Loaded(gen), state.BuildStarted{Resource: "gen", Serial: 1}, state.BuildCompleted{Resource: "gen", Serial: 1, Cancelled: true})
			f.goes("cancelled")
		}},
		{"a pod that fails ends it at once", ci, func(f *fixture) {
			f.Then(statetest.Loaded(web))
			f.built("web", "")
			f.Then(crashing("p"))
			f.ends("crashed", "web: pod p: container main: CrashLoopBackOff")
		}},
		{"a pod may fail for the grace period", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{GracePeriod: time.Minute}, web))
			f.built("web", "")
			f.Then(crashing("p"))
			time.Sleep(59 * time.Second)
			f.goes("in the grace period")
			time.Sleep(time.Second)
			f.ends("after it", "CrashLoopBackOff")
		}},
		{"a pod that is restarted in vain has no new grace period", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{GracePeriod: time.Minute}, web))
			f.built("web", "")
			f.Then(crashing("p"))
			time.Sleep(30 * time.Second)
			again := statetest.Pod("web", "p", "c", "i")
			again.Pod.Ready = false
			f.Then(again)
			time.Sleep(20 * time.Second)
			f.Then(crashing("p"))
			f.goes("50 seconds after the first crash")
			time.Sleep(10 * time.Second)
			f.ends("a minute after it", "CrashLoopBackOff")
		}},
		{"the grace period outlasts the time to get ready, which begins after it", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{GracePeriod: time.Hour, ReadinessTimeout: time.Minute}, web))
			f.built("web", "")
			f.Then(crashing("p"))
			time.Sleep(20 * time.Minute)
			f.goes("it may fail")
			again := statetest.Pod("web", "p", "c", "i")
			again.Pod.Ready = false
			f.Then(again)
			time.Sleep(59 * time.Second)
			f.goes("it may get ready")
			time.Sleep(time.Second)
			f.ends("not ready", "web did not get ready within 1m0s")
		}},
		{"a supervised process that is tried again has grace, too", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{GracePeriod: time.Minute}, web))
			f.built("web", "")
			f.Then(statetest.Pod("web", "p", "c", "i"), exited(time.Second))
			time.Sleep(59 * time.Second)
			f.goes("in the grace period")
			running := exited(0)
			running.Synclet.Running = true
			f.Then(running, statetest.Healthy("web"))
			f.ends("it runs", "")
		}},
		{"a supervised process that is not tried again has none", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{GracePeriod: time.Minute}, web))
			f.built("web", "")
			f.Then(statetest.Pod("web", "p", "c", "i"), exited(0))
			f.ends("ended", "web: pod p: the process in main ended with exit code 3")
		}},
		{"a job that tries again, which takes no grace", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{}, job))
			f.built("web", "")
			first, second := attempt("1", "Failed"), attempt("2", "Running")
			f.Then(jobSays(model.HealthInProgress, "active 1"), first)
			f.goes("failed once")
			time.Sleep(10 * time.Second)
			second.Pod.CreatedAt = time.Now()
			second.Pod.Containers[0].State, second.Pod.Containers[0].Reason, second.Pod.Containers[0].ExitCode = model.ContainerTerminated, "Error", 1
			f.Then(second)
			time.Sleep(10 * time.Minute)
			f.goes("its container has failed, and is started again")
			second.Pod.Phase, second.Pod.Containers[0].ExitCode, second.Pod.Containers[0].Reason = "Succeeded", 0, "Completed"
			f.Then(second)
			f.goes("the pod has succeeded")
			f.Then(jobSays(model.HealthCurrent, "CompletionsReached"))
			f.ends("and so has the job", "")
		}},
		{"a job is over when its pods are, too", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{}, job))
			f.built("web", "")
			f.Then(attempt("1", "Running"), jobSays(model.HealthCurrent, "CompletionsReached"))
			f.goes("the pod is still seen running")
			f.Then(attempt("1", "Succeeded"))
			f.ends("it is not", "")
		}},
		{"a job whose pod is not seen to end", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{}, job))
			f.built("web", "")
			f.Then(attempt("1", "Running"), jobSays(model.HealthFailed, "backoff limit"))
			f.goes("it may be")
			time.Sleep(podGrace)
			f.ends("it is not waited for without end", "backoff limit")
		}},
		{"a job that was removed before it was complete", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{}, job))
			f.built("web", "")
			f.Then(jobSays(model.HealthDeleted, "was deleted before its end"))
			time.Sleep(podGrace)
			f.ends("nothing will come of it", "was deleted before its end")
		}},
		{"a pod that recovers in the grace period", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{GracePeriod: time.Minute}, web))
			f.built("web", "")
			f.Then(crashing("p"))
			time.Sleep(30 * time.Second)
			f.Then(statetest.Pod("web", "p", "c", "i"), statetest.Healthy("web"))
			f.ends("recovered", "")
		}},
		{"a failed job has no grace", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{GracePeriod: time.Hour}, job))
			f.built("web", "")
			f.Then(jobSays(model.HealthFailed, "backoff limit"))
			f.ends("failed", "backoff limit")
		}},
		{"a failed job has no grace, also while its last pod is there", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{GracePeriod: time.Hour}, job))
			f.built("web", "")
			f.Then(attempt("1", "Failed"))
			f.goes("it may be tried again")
			f.Then(jobSays(model.HealthFailed, "backoff limit"))
			f.ends("failed", "backoff limit")
		}},
		{"a server that has exited", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{GracePeriod: time.Hour}, server))
			f.built("srv", "")
			f.Then(state.ProcessChanged{Process: state.Process{Resource: "srv", State: state.ProcessFailed, Build: 1, Err: "serve_cmd ended: exit code 2"}})
			f.ends("exited", "srv: serve_cmd ended: exit code 2")
		}},
		{"a server that is ready", ci, func(f *fixture) {
			f.Then(statetest.Loaded(server))
			f.built("srv", "")
			f.goes("not started")
			f.Then(state.ProcessChanged{Process: state.Process{Resource: "srv", State: state.ProcessRunning, Build: 1, Detail: "connection refused"}})
			f.goes("not ready")
			f.Then(state.ProcessChanged{Process: state.Process{Resource: "srv", State: state.ProcessRunning, Ready: true, Build: 1}})
			f.ends("started", "")
		}},
		{"a server does not pass its probe in time", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{ReadinessTimeout: time.Minute}, server))
			f.built("srv", "")
			f.Then(state.ProcessChanged{Process: state.Process{Resource: "srv", State: state.ProcessRunning, Build: 1, Detail: "connection refused"}})
			time.Sleep(59 * time.Second)
			f.goes("in time")
			time.Sleep(time.Second)
			f.ends("too late", "srv did not get ready within 1m0s: connection refused")
		}},
		{"pods of which nobody asks", ci, func(f *fixture) {
			ignored := statetest.K8s("web")
			ignored.K8s.PodReadiness = model.PodIgnore
			f.Then(statetest.Loaded(ignored))
			f.built("web", "")
			f.ends("applied", "")
		}},
		{"a resource that is switched off does not count", ci, func(f *fixture) {
			l := statetest.Loaded(gen, web)
			l.Result.Enabled = []model.ManifestName{"gen"}
			f.Then(l)
			f.goes("the other one is not built")
			f.built("gen", "")
			f.ends("the other one is built", "")
		}},
		{"a manual resource that was triggered counts", ci, func(f *fixture) {
			f.Then(statetest.Loaded(gen, manual))
			f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"db"}})
			f.built("gen", "")
			f.goes("the other one is built")
			f.built("db", "no such image")
			f.ends("built", "db: no such image")
		}},
		{"an update that was asked for is waited for", ci, func(f *fixture) {
			f.Then(statetest.Loaded(gen, web))
			f.built("gen", "")
			time.Sleep(time.Second)
			f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"gen"}})
			f.built("web", "")
			f.Then(statetest.Healthy("web"))
			f.goes("gen is to be updated once more")
			time.Sleep(time.Second)
			f.built("gen", "exit code 1")
			f.ends("updated", "gen: exit code 1")
		}},
		{"no cluster, though something local was built", ci, func(f *fixture) {
			f.Then(statetest.Loaded(gen, web))
			f.built("gen", "")
			f.Then(state.ClusterReported{Err: "cannot reach cluster"})
			f.ends("asked", "cannot reach cluster")
		}},
		{"a cluster that is starting", ci, func(f *fixture) {
			f.Then(statetest.Loaded(gen, web))
			f.built("gen", "")
			f.Then(state.ClusterReported{Err: "503", Starting: true})
			f.goes("it is waited for")
			f.Then(state.ClusterReported{Err: "503"})
			f.ends("in vain", "503")
		}},
		{"no engine, though something local was built", ci, func(f *fixture) {
			f.Then(statetest.Loaded(gen, statetest.K8s("web", statetest.Image("web"))))
			f.built("gen", "")
			f.Then(state.EngineReported{Err: "no engine"})
			f.ends("asked", "no engine")
		}},
		{"the cluster goes away for good, with changing excuses", ci, func(f *fixture) {
			f.Then(statetest.Loaded(web))
			f.Then(connected()...)
			f.Then(state.ClusterReported{Err: "connection refused"})
			time.Sleep(30 * time.Second)
			f.Then(state.ClusterReported{Err: "timed out"})
			time.Sleep(29 * time.Second)
			f.goes("in time")
			time.Sleep(time.Second)
			f.ends("a minute later", "timed out")
		}},
		{"the cluster comes back", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{ReadinessTimeout: time.Hour}, web))
			f.Then(connected()...)
			f.Then(state.ClusterReported{Err: "connection refused"})
			time.Sleep(59 * time.Second)
			f.Then(state.ClusterReported{Connected: true})
			time.Sleep(59 * time.Second)
			f.Then(state.ClusterReported{Err: "connection refused"})
			time.Sleep(59 * time.Second)
			f.goes("away a second time")
			f.Then(state.ClusterReported{Connected: true})
			f.built("web", "")
			f.Then(statetest.Healthy("web"))
			f.goes("what earlier sessions left over may be there still")
			f.Then(state.CollectionReported{})
			f.ends("ready", "")
		}},
		{"what is left over cannot be deleted", ci, func(f *fixture) {
			f.Then(statetest.Loaded(web))
			f.Then(connected()...)
			f.built("web", "")
			f.Then(statetest.Healthy("web"), state.CollectionReported{Err: "forbidden"}, state.CollectionReported{Err: "forbidden"})
			f.goes("it may work later")
			f.Then(state.CollectionReported{Err: "forbidden"})
			f.ends("three times", "could not delete what earlier sessions left over: forbidden")
		}},
		{"nothing to do, and what is left over in the cluster", ci, func(f *fixture) {
			f.Then(connected()...)
			f.Then(statetest.Loaded())
			f.goes("it is not collected")
			f.Then(state.CollectionReported{})
			f.ends("it is", "")
		}},
		{"what is left over of local resources", ci, func(f *fixture) {
			f.Then(state.CollectionReported{Err: "exit code 1"}, statetest.Loaded(gen))
			f.built("gen", "")
			f.goes("its down command may work later")
			f.Then(state.CollectionReported{Local: true})
			f.ends("it has worked", "")
		}},
		{"a cluster that nobody needs may be away", ci, func(f *fixture) {
			f.Then(statetest.Loaded(gen), state.ClusterReported{Err: "connection refused"})
			time.Sleep(10 * time.Minute)
			f.goes("nothing is built")
			f.built("gen", "")
			f.ends("built", "")
		}},
		{"readiness takes too long", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{ReadinessTimeout: 2 * time.Minute}, web))
			time.Sleep(time.Minute)
			f.built("web", "")
			time.Sleep(2*time.Minute - time.Second)
			f.goes("in time")
			time.Sleep(time.Second)
			f.ends("too late", "web did not get ready within 2m0s")
		}},
		{"readiness takes too long, and a probe tells why", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{ReadinessTimeout: time.Minute}, web))
			f.built("web", "")
			p := statetest.Pod("web", "p", "c", "i")
			p.Pod.Ready, p.Pod.Containers[0].Ready, p.Pod.Containers[0].Started = false, false, true
			p.Pod.Containers[0].Probes = []model.ContainerProbe{{Kind: model.ProbeReadiness, Calls: "httpGet :8080/health"}}
			f.Then(p, state.ProbeFailed{Pod: "uid-p", Failure: state.ProbeFailure{Container: "main", Kind: model.ProbeReadiness,
				Answer: "HTTP probe failed with statuscode: 503"}})
			f.goes("in time")
			time.Sleep(time.Minute)
			f.ends("too late", "web did not get ready within 1m0s: pod p: container main: readiness probe httpGet :8080/health fails: HTTP probe failed with statuscode: 503\n")
			if got := state.TheSession(f.View()).Ended.Span; got != "pod:default/p/main:c" {
				f.t.Errorf("its log is %q", got)
			}
		}},
		{"a server without a probe has to stay", ci, func(f *fixture) {
			f.Then(statetest.Loaded(server))
			f.built("srv", "")
			f.Then(serving(state.ProcessRunning, true))
			time.Sleep(serverStays / 2)
			f.goes("it has only just begun")
			failed := serving(state.ProcessFailed, false)
			failed.Process.Err = "serve_cmd ended: exit code 7"
			f.Then(failed)
			f.ends("it has ended", "srv: serve_cmd ended: exit code 7")
		}},
		{"a server without a probe that stays", ci, func(f *fixture) {
			f.Then(statetest.Loaded(server))
			f.built("srv", "")
			f.Then(serving(state.ProcessRunning, true))
			time.Sleep(serverStays)
			f.ends("it still runs", "")
		}},
		{"a job takes as long as it takes", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{ReadinessTimeout: time.Minute, Timeout: time.Hour}, job))
			f.built("web", "")
			time.Sleep(30 * time.Minute)
			f.goes("working")
		}},
		{"failed tries of a job are said as they come, and the last one when it is given up", ci, func(f *fixture) {
			f.Then(statetest.Loaded(job))
			f.built("web", "")
			again := attempt("p", "Running")
			again.Pod.Containers[0].LastID, again.Pod.Containers[0].LastReason, again.Pod.Containers[0].LastExitCode = "c-0", "Error", 3
			f.Then(again, again)
			f.goes("tried again")
			over := again
			over.Pod.Containers = []model.Container{again.Pod.Containers[0]}
			over.Pod.Containers[0].State, over.Pod.Containers[0].Reason, over.Pod.Containers[0].ExitCode = model.ContainerTerminated, "OOMKilled", 137
			f.Then(over, state.PodGone{Pod: over.Pod.Pod})
			f.Then(jobSays(model.HealthFailed, "BackoffLimitExceeded: no"))
			f.ends("given up", "web: job/default/web: BackoffLimitExceeded: no; pod p: container main: OOMKilled, exit code 137")
			if state.TheSession(f.View()).Ended.Span == "" {
				f.t.Error("the log of the last try is not named")
			}
			want := []string{"Try 1 of the Job has failed: pod p: container main: Error, exit code 3",
				"Try 2 of the Job has failed: pod p: container main: OOMKilled, exit code 137"}
			if diff := cmp.Diff(want, statetest.Texts(f.logs, "web")); diff != "" {
				f.t.Error(diff)
			}
		}},
		{"the first failed try of a job is enough by a setting", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{FailFast: true}, job))
			f.built("web", "")
			f.Then(attempt("p", "Running"), jobSays(model.HealthInProgress, "active 1"))
			f.goes("it runs")
			failed := attempt("p", "Failed")
			failed.Pod.Containers[0].State, failed.Pod.Containers[0].ExitCode = model.ContainerTerminated, 3
			f.Then(failed)
			f.ends("a try has failed", "web: a try of the Job has failed: pod p: container main: Error, exit code 3")
		}},
		{"a job whose pod no node takes", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{ReadinessTimeout: time.Minute}, job))
			f.built("web", "")
			f.Then(jobSays(model.HealthInProgress, "active 1"))
			p := attempt("p", "Pending")
			p.Pod.Message = "0/1 nodes are available: 1 Insufficient memory."
			f.Then(p)
			time.Sleep(50 * time.Second)
			f.goes("in time")
			time.Sleep(11 * time.Second)
			f.ends("no node has taken it", "web did not get ready within 1m0s: job/default/web: active 1; pod p: 0/1 nodes are available: 1 Insufficient memory.\n  lower what the pod requests")
		}},
		{"a job whose pod a node takes late", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{ReadinessTimeout: time.Minute}, job))
			f.built("web", "")
			f.Then(jobSays(model.HealthInProgress, "active 1"), attempt("p", "Pending"))
			time.Sleep(50 * time.Second)
			f.Then(attempt("p", "Running"))
			time.Sleep(20 * time.Minute)
			f.goes("working")
		}},
		{"time is up: says what it was waiting for", state.Session{Command: state.CommandCI, CITimeout: 10 * time.Minute}, func(f *fixture) {
			dependent := statetest.K8s("api")
			dependent.ResourceDeps = []model.ManifestName{"web"}
			f.Then(statetest.Loaded(web, dependent, gen), state.BuildStarted{Resource: "gen", Serial: 1}, state.BuildProgressed{Resource: "gen", Serial: 1, Stage: "running make"})
			f.Then(state.TiltfileStarted{})
			f.Then(statetest.Loaded(web, dependent, gen))
			f.Then(connected()...)
			f.built("web", "")
			f.Then(state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: model.ObjectID{Kind: "Job"}, UID: "uid-web", Health: model.HealthInProgress}}})
			time.Sleep(3 * time.Minute)
			f.goes("in time")
			f.Then(loaded(model.CISettings{ReadinessTimeout: time.Hour}, web, dependent, gen))
			time.Sleep(7 * time.Minute)
			f.ends("time is up", "timed out after 10m0s: ")
			got := state.TheSession(f.View()).Ended.Failure
			for _, want := range []string{"web is not ready: job/", "api waits for web to be ready", "gen is being updated (running make)", "--timeout"} {
				if !strings.Contains(got, want) {
					f.t.Errorf("%q lacks %q", got, want)
				}
			}
		}},
		{"time is up before the Tiltfile was loaded", state.Session{Command: state.CommandCI}, func(f *fixture) {
			time.Sleep(model.DefaultCISettings.Timeout)
			f.ends("time is up", fmt.Sprintf("timed out after %s: the Tiltfile is not loaded yet", model.DefaultCISettings.Timeout))
		}},
		{"time is up while leftovers go", state.Session{Command: state.CommandCI}, func(f *fixture) {
			f.Then(state.ClusterReported{Connected: true}, loaded(model.CISettings{Timeout: time.Minute}))
			f.Then(state.CollectionReported{Going: []model.ManifestName{"old", "stk"}})
			time.Sleep(time.Minute)
			f.ends("time is up", "timed out after 1m0s: what is no longer declared is still being deleted: old, stk")
		}},
		{"ci_settings(timeout)", ci, func(f *fixture) {
			f.Then(loaded(model.CISettings{Timeout: time.Minute}, web))
			time.Sleep(time.Minute)
			f.ends("time is up", "timed out after 1m0s")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { tc.run(start(t, tc.session)) })
		})
	}
}

// TestCIHearsOfTheCluster does not end before anything is known about the cluster: an empty Tiltfile may have left objects there.
func TestCIHearsOfTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t}
		f.Alone = statetest.Start(t, New(ci, statetest.Logs(t)))
		synctest.Wait()
		f.Then(state.CollectionReported{Local: true}, statetest.Loaded())
		f.goes("nothing is known about the cluster")
		f.Then(state.ClusterReported{Err: "no kubeconfig was found"})
		f.ends("there is none", "")
	})
}

func TestUpGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, state.Session{Command: state.CommandUp, Project: "p"})
		if s := state.TheSession(f.View()); s.Project != "p" || !s.StartedAt.Equal(time.Now()) {
			t.Errorf("opened as %+v", s)
		}
		f.Then(statetest.Loaded(statetest.Local("gen")))
		f.built("gen", "exit code 1")
		f.goes("a build failed")
		f.built("gen", "")
		f.goes("all is done")
		if !state.Updates.In(f.View()).Value("gen").WasReady {
			t.Error("it was not reported that gen is ready")
		}
		f.Then(state.SessionEnded{})
		if !f.Ended() {
			t.Error("the subscriber keeps running after the session's end")
		}
	})
}
