package podlogmanager

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a cluster in memory that knows which logs are open.
type cluster struct {
	*k8stest.Fake
	mu   sync.Mutex
	open []string
}

// Logs implements Client.
func (c *cluster) Logs(ctx context.Context, req k8s.LogRequest) (io.ReadCloser, error) {
	r, err := c.Fake.Logs(ctx, req)
	if err != nil {
		return nil, err
	}
	name := req.Pod + "/" + req.Container
	if req.Previous {
		name += " (previous)"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, name)
	return &log{ReadCloser: r, close: sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.open, name)
		c.open = slices.Delete(c.open, i, i+1)
	})}, nil
}

type log struct {
	io.ReadCloser
	close func()
}

// Close implements io.Closer.
func (l *log) Close() error {
	l.close()
	return l.ReadCloser.Close()
}

// fixture is a PodLogManager at work.
type fixture struct {
	*statetest.Alone
	t       *testing.T
	cluster *cluster
	engine  *dockertest.Fake
	logs    *logstore.Store
	began   time.Time
}

func start(t *testing.T, manifests ...model.Manifest) *fixture {
	f := &fixture{t: t, cluster: &cluster{Fake: k8stest.New()}, engine: dockertest.New(), logs: statetest.Logs(t), began: time.Now()}
	f.Alone = statetest.Start(t, New(f.cluster, f.engine, f.logs), "Other")
	f.Then(statetest.Session, statetest.Loaded(manifests...))
	return f
}

// pod makes a pod of resource web with the given containers known to the cluster and to the store.
func (f *fixture) pod(name string, containers ...model.Container) {
	e := k8stest.RunningPod("default", name)
	e.Pod.Resource, e.Pod.Containers = "web", containers
	f.cluster.SetPod(e)
	f.Then(state.PodChanged{Pod: state.Pod{Pod: e.Pod, Current: true}})
}

func running(name, id string) model.Container {
	return model.Container{Name: name, ID: id, State: model.ContainerRunning}
}

// say adds a line to the log of the container's current run.
func (f *fixture) say(pod, container, text string) {
	time.Sleep(time.Millisecond)
	f.cluster.AppendLog("default", pod, container, time.Now(), text)
	synctest.Wait()
}

func (f *fixture) want(what string, open string, lines ...string) {
	f.t.Helper()
	synctest.Wait()
	f.cluster.mu.Lock()
	got := slices.Sorted(slices.Values(f.cluster.open))
	f.cluster.mu.Unlock()
	if strings.Join(got, ", ") != open {
		f.t.Errorf("%s: open %q, want %q", what, got, open)
	}
	if diff := cmp.Diff(lines, statetest.Texts(f.logs, "web")); diff != "" {
		f.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestOneStreamPerContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("web"))
		f.pod("p", running("main", "c1"))
		f.say("p", "main", "one")
		f.want("a container", "p/main", "one")
		for i := range 5 {
			c := running("main", "c1")
			c.Restarts = i
			f.pod("p", c)
		}
		f.want("the pod changes in other ways", "p/main", "one")
		f.pod("q", running("main", "c2"), running("side", "c3"), running("istio-proxy", "c4"), model.Container{Name: "starting", State: model.ContainerWaiting})
		f.say("q", "main", "two")
		f.say("q", "side", "three")
		f.say("q", "istio-proxy", "noise")
		f.want("a pod of several", "p/main, q/main, q/side", "one", "[q main] two", "[q side] three")
		var from []string
		for _, l := range f.logs.Tail(logstore.Filter{}, 10) {
			from = append(from, l.Pod+"/"+l.Container)
		}
		if got := strings.Join(from, " "); got != "p/main q/main q/side" {
			t.Errorf("the lines are from %s", got)
		}
	})
}

// TestStallMax bounds the requests for silent streams to 20 a second.
func TestStallMax(t *testing.T) {
	for streams, want := range map[int64]time.Duration{1: time.Minute, 1200: time.Minute, 6000: 5 * time.Minute} {
		if got := stallMax(streams); got != want {
			t.Errorf("%d streams: %s, want %s", streams, got, want)
		}
	}
}

func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("web"))
		f.pod("p", running("main", "c1"))
		f.say("p", "main", "one")
		f.say("p", "main", "last words")
		f.cluster.RestartLog("default", "p", "main")
		f.say("p", "main", "again")
		c := running("main", "c2")
		c.LastID, c.StartedAt = "c1", time.Now()
		f.pod("p", c)
		time.Sleep(5 * time.Second)
		f.say("p", "main", "two")
		f.want("the container restarted", "p/main", "one", "last words", "again", "two")
		var spans []string
		for _, l := range f.logs.Tail(logstore.Filter{}, 10) {
			spans = append(spans, l.Span)
		}
		if len(slices.Compact(spans)) != 2 || !strings.HasSuffix(spans[0], ":c1") {
			t.Errorf("spans: %v", spans)
		}
	})
}

// TestRunsOfACrashLoop has a container whose first run is over before its log is opened. While Kubernetes waits with the
// next run, the log is complete: the lines of the next run are not taken for the end of the one before.
func TestRunsOfACrashLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("web"))
		e := k8stest.RunningPod("default", "p")
		f.cluster.SetPod(e)
		f.say("p", "main", "one")
		f.cluster.RestartLog("default", "p", "main")
		f.say("p", "main", "two")
		f.pod("p", running("main", "c1"))
		f.pod("p", model.Container{Name: "main", ID: "c2", LastID: "c2", State: model.ContainerWaiting, Reason: "CrashLoopBackOff"})
		time.Sleep(time.Minute)
		f.want("while Kubernetes waits", "", "two")
		f.cluster.RestartLog("default", "p", "main")
		f.say("p", "main", "three")
		time.Sleep(time.Minute)
		c := running("main", "c3")
		c.LastID, c.StartedAt = "c2", time.Now()
		f.pod("p", c)
		time.Sleep(5 * time.Second)
		f.want("it has started again", "p/main", "two", "three")
		lines := f.logs.Tail(logstore.Filter{}, 10)
		if span := lines[len(lines)-1].Span; !strings.HasSuffix(span, ":c3") {
			t.Errorf("the last line is of %s", span)
		}
	})
}

func TestMissedRunIsReadFirst(t *testing.T) {
	for _, tc := range []struct {
		name  string
		began time.Duration // of the current run, after the session's
		want  []string
	}{
		{"the runs of this session", time.Second, []string{"crashed", "again"}},
		{"not those before it", -time.Hour, []string{"again"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := start(t, statetest.K8s("web"))
			e := k8stest.RunningPod("default", "p")
			f.cluster.SetPod(e)
			f.say("p", "main", "crashed")
			f.cluster.RestartLog("default", "p", "main")
			f.say("p", "main", "again")
			c := running("main", "c2")
			c.LastID, c.StartedAt = "c1", f.began.Add(tc.began)
			f.pod("p", c)
			time.Sleep(10 * time.Second)
			f.want(tc.name, "p/main", tc.want...)
		})
	}
}

func TestLastLinesOfADeletedPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("web"))
		f.pod("p", running("main", "c1"))
		f.say("p", "main", "one")
		e := state.Pods.In(f.View()).Value("uid-p")
		f.Then(state.PodGone{Pod: e.Pod})
		f.want("the pod is gone; its log is still coming", "p/main", "one")
		f.say("p", "main", "goodbye")
		f.cluster.EndLog("default", "p", "main")
		f.cluster.DeletePod("default", "p")
		time.Sleep(time.Minute)
		f.want("it ends by itself", "", "one", "goodbye")
	})
}

func TestALeavingResourceIsClosedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("web"), statetest.K8s("api"))
		f.pod("p", running("main", "c1"))
		f.say("p", "main", "one")
		f.Then(statetest.Loaded(statetest.K8s("api")))
		f.say("p", "main", "two")
		f.want("the resource has left", "", "one")
		e := state.Resources.In(f.View()).Ref("web")
		if got := fmt.Sprint(e.Phase, e.Finalizers); got != fmt.Sprint(store.TearingDown, []string{"Other"}) {
			t.Errorf("finalizers: %s", got)
		}
		f.Release("web", "Other")
		synctest.Wait()
		f.want("and is gone", "", "one")
	})
}

// TestSince reads the end of a run that failed before the session began, and nothing else that is older than the session.
func TestSince(t *testing.T) {
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	before, after := began.Add(-time.Hour), began.Add(time.Second)
	for _, tt := range []struct {
		name string
		c    model.Container
		want time.Time
	}{
		{"runs", model.Container{State: model.ContainerRunning, StartedAt: before, LastReason: "Error", LastFinishedAt: before}, began},
		{"crashes", model.Container{State: model.ContainerWaiting, Reason: "CrashLoopBackOff", LastFinishedAt: before}, before.Add(-lastWords)},
		{"has just failed", model.Container{State: model.ContainerTerminated, Reason: "Error", ExitCode: 1, FinishedAt: before}, before.Add(-lastWords)},
		{"is complete", model.Container{State: model.ContainerTerminated, Reason: "Completed", FinishedAt: before}, began},
		{"fails now", model.Container{State: model.ContainerTerminated, Reason: "Error", ExitCode: 1, FinishedAt: after}, began},
		{"has not run", model.Container{State: model.ContainerWaiting, Reason: "ContainerCreating"}, began},
	} {
		if got := since(tt.c, began); !got.Equal(tt.want) {
			t.Errorf("a container that %s is read since %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestACompletedRunIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("web"))
		f.cluster.SetPod(k8stest.RunningPod("default", "p"))
		f.say("p", "main", "done")
		f.cluster.EndLog("default", "p", "main")
		c := running("main", "c1")
		c.State = model.ContainerTerminated
		for i := range 3 {
			c.Restarts = i
			f.pod("p", c)
			time.Sleep(time.Minute)
		}
		f.want("a container that has ended", "", "done")
	})
}

func TestWithoutAClusterResourcesAreLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := statetest.Start(t, New(nil, nil, nil)).Then(statetest.Session, statetest.Loaded(statetest.K8s("web")), statetest.Loaded())
		if n := state.Resources.In(a.View()).Len(); n != 0 {
			t.Errorf("%d resources are left", n)
		}
	})
}

// restarted runs a subscriber again on request, as the supervisor does after a crash.
type restarted struct {
	*Subscriber
	crash chan struct{}
}

// Run implements store.Subscriber.
func (r restarted) Run(ctx context.Context, rt *store.Runtime) error {
	once, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.Subscriber.Run(once, rt)
	}()
	<-r.crash
	cancel()
	<-done
	return r.Subscriber.Run(ctx, rt)
}

func TestACrashRepeatsNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, cluster: &cluster{Fake: k8stest.New()}, engine: dockertest.New(), logs: statetest.Logs(t), began: time.Now()}
		sub := restarted{New(f.cluster, f.engine, f.logs), make(chan struct{})}
		f.Alone = statetest.Start(t, sub, "Other")
		f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
		f.pod("p", running("main", "c1"))
		f.say("p", "main", "one")
		sub.crash <- struct{}{}
		synctest.Wait()
		f.pod("p", running("main", "c1"), running("side", "c2")) // wakes it
		f.say("p", "main", "two")
		f.want("after the crash", "p/main, p/side", "one", "[main] two")
	})
}

// TestComposeContainers reads the log of a container that is restarted as it is, which is one log: no line is lost or
// written twice, even when the engine itself is restarted, and lines from before the session are left out.
func TestComposeContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.Compose("web"))
		c := model.Container{Name: "web", ID: "c1", State: model.ContainerRunning, StartedAt: f.began}
		pod := func() {
			f.Then(state.PodChanged{Pod: state.Pod{Pod: model.Pod{Name: "shop-web-1", UID: "c1", Resource: "web", Engine: "running",
				Containers: []model.Container{c}}, Current: true}})
		}
		say := func(text string) {
			time.Sleep(time.Millisecond)
			f.engine.ChangeContainer("c1", func(c *dockertest.Container) {
				c.Log = append(c.Log, dockertest.Line{Time: time.Now(), Text: text})
			})
			synctest.Wait()
		}
		status := func(status string) {
			f.engine.ChangeContainer("c1", func(c *dockertest.Container) { c.State.Status = status })
		}
		f.engine.AddContainer("c1", dockertest.Container{Name: "shop-web-1", Log: []dockertest.Line{{Time: f.began.Add(-time.Hour), Text: "long ago"}}})
		pod()
		say("one")
		f.want("a container", "", "one")

		status("exited")
		c.State = model.ContainerTerminated
		pod()
		time.Sleep(time.Second)
		status("running")
		say("two")
		c.State, c.StartedAt = model.ContainerRunning, time.Now()
		pod()
		say("three")
		time.Sleep(time.Second)
		f.want("restarted", "", "one", "two", "three")

		f.engine.Interrupt()
		say("four")
		time.Sleep(time.Second)
		f.want("the engine was restarted", "", "one", "two", "three", "four")
	})
}

// TestComposeContainerBeforeItsStart: a container of Compose has its id before it runs. Its log belongs to the run that
// writes it.
func TestComposeContainerBeforeItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.Compose("web"))
		c := model.Container{Name: "web", ID: "c1", State: model.ContainerWaiting}
		pod := func() model.Pod {
			p := model.Pod{Name: "shop-web-1", UID: "c1", Resource: "web", Engine: "created", Containers: []model.Container{c}}
			f.Then(state.PodChanged{Pod: state.Pod{Pod: p, Current: true}})
			return p
		}
		f.engine.AddContainer("c1", dockertest.Container{Name: "shop-web-1"})
		pod()
		synctest.Wait()
		time.Sleep(time.Millisecond)
		f.engine.ChangeContainer("c1", func(c *dockertest.Container) {
			c.Log = append(c.Log, dockertest.Line{Time: time.Now(), Text: "one"})
		})
		synctest.Wait() // the line is there before the start is known
		c.State, c.StartedAt = model.ContainerRunning, time.Now()
		p := pod()
		time.Sleep(time.Second)
		synctest.Wait()
		lines := f.logs.Tail(logstore.Filter{Resources: []model.ManifestName{"web"}, Span: state.LogSpan(p, "web", state.RunOf(p, c))}, 10)
		if len(lines) != 1 || lines[0].Text != "one" {
			t.Errorf("the run's log: %+v", lines)
		}
	})
}
