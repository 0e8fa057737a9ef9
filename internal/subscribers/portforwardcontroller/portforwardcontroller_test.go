package portforwardcontroller

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/cluster/portforward"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const host = "127.0.0.1"

// fixture is a PortForwardController at work on a cluster whose pods answer with their name and port.
type fixture struct {
	*statetest.Alone
	t       *testing.T
	cluster *k8stest.Fake
	logs    *logstore.Store
	port    int
}

func start(t *testing.T) *fixture {
	f := &fixture{t: t, cluster: k8stest.New(), logs: statetest.Logs(t), port: freePort(t)}
	t.Cleanup(func() { _ = f.cluster.Close() })
	f.cluster.OnDial(func(pod string, port int) func(net.Conn) {
		return func(c net.Conn) { _, _ = fmt.Fprintf(c, "%s:%d", pod, port) }
	})
	sub := New(func(string) portforward.Dialer { return f.cluster }, host, f.logs)
	sub.retry, sub.failing = 10*time.Millisecond, 10*time.Millisecond
	f.Alone = statetest.Start(t, sub, "Other")
	f.Dispatch(statetest.Session)
	return f
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// web is a resource with one port forward.
func (f *fixture) web(change func(*model.PortForward)) model.Manifest {
	m := statetest.K8s("web")
	m.K8s.PortForwards = []model.PortForward{{LocalPort: f.port}}
	if change != nil {
		change(&m.K8s.PortForwards[0])
	}
	return m
}

func (f *fixture) pod(name string, port int, change func(*state.Pod)) {
	e := k8stest.RunningPod("default", name)
	e.Pod.Resource = "web"
	e.Pod.Containers[0].Ports = []int{port}
	p := state.Pod{Pod: e.Pod, Current: true}
	if change != nil {
		change(&p)
	}
	f.cluster.SetPod(e)
	f.Dispatch(state.PodChanged{Pod: p})
}

func (f *fixture) gone(name string) {
	f.cluster.DeletePod("default", name)
	f.Dispatch(state.PodGone{Pod: model.Pod{UID: "uid-" + name, Name: name}})
}

// is waits until the forward is in a state with a pod.
func (f *fixture) is(want state.ForwardState, pod string) {
	f.t.Helper()
	f.Until(fmt.Sprintf("the forward is %s to %q", want, pod), func(v store.View) bool {
		e := state.Forwards.In(v).Ref(fmt.Sprintf("web/%d", f.port))
		return e != nil && e.Value.State == want && e.Value.Pod == pod
	})
}

func (f *fixture) dial() (net.Conn, error) {
	return net.DialTimeout("tcp", net.JoinHostPort(host, fmt.Sprint(f.port)), 5*time.Second)
}

// answers checks which pod answers on the connection.
func (f *fixture) answers(c net.Conn, want string) {
	f.t.Helper()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	got, err := io.ReadAll(c)
	_ = c.Close()
	if err != nil || string(got) != want {
		f.t.Errorf("%q answers (%v), want %q", got, err, want)
	}
}

func (f *fixture) connects(want string) {
	f.t.Helper()
	c, err := f.dial()
	if err != nil {
		f.t.Fatal(err)
	}
	f.answers(c, want)
}

func TestTheListenerStaysWhilePodsChange(t *testing.T) {
	f := start(t)
	f.Dispatch(statetest.Loaded(f.web(nil)))
	f.is(state.ForwardWaiting, "")
	early, err := f.dial() // it waits for a pod
	if err != nil {
		t.Fatal(err)
	}
	f.pod("one", 80, nil)
	f.is(state.ForwardReady, "default/one:80")
	f.answers(early, "one:80")
	f.gone("one")
	f.is(state.ForwardWaiting, "")
	f.pod("two", 81, nil)
	f.is(state.ForwardReady, "default/two:81")
	f.connects("two:81")
	e := state.Forwards.In(f.View()).Ref(fmt.Sprintf("web/%d", f.port))
	if want := fmt.Sprintf("http://%s:%d/", host, f.port); e.Value.URL != want || e.Created.IsZero() {
		t.Errorf("URL %s, want %s", e.Value.URL, want)
	}
}

func TestAChangedForwardIsOpenedAgain(t *testing.T) {
	f := start(t)
	f.pod("one", 80, nil)
	f.Dispatch(statetest.Loaded(f.web(nil)))
	f.is(state.ForwardReady, "default/one:80")
	f.Dispatch(statetest.Loaded(f.web(func(p *model.PortForward) { p.ContainerPort = 90 })))
	f.is(state.ForwardReady, "default/one:90")
	f.connects("one:90")
}

func TestAPortInUseIsTriedAgain(t *testing.T) {
	f := start(t)
	holder, err := net.Listen("tcp", net.JoinHostPort(host, fmt.Sprint(f.port)))
	if err != nil {
		t.Fatal(err)
	}
	f.pod("one", 80, nil)
	f.Dispatch(statetest.Loaded(f.web(nil)))
	f.is(state.ForwardFailed, "")
	e := state.Forwards.In(f.View()).Value(fmt.Sprintf("web/%d", f.port))
	if !strings.Contains(e.Err, fmt.Sprint(f.port)) || len(statetest.Texts(f.logs, "web")) == 0 {
		t.Errorf("says %q, and in the log %v", e.Err, statetest.Texts(f.logs, "web"))
	}
	_ = holder.Close()
	f.is(state.ForwardReady, "default/one:80")
	f.connects("one:80")
	if e := state.Forwards.In(f.View()).Value(fmt.Sprintf("web/%d", f.port)); e.Err != "" {
		t.Errorf("still says %q", e.Err)
	}
	texts := statetest.Texts(f.logs, "web")
	if n := len(slices.Compact(slices.Sorted(slices.Values(texts)))); n != len(texts) {
		t.Errorf("it is said more than once: %q", texts)
	}
}

func TestAPodThatRefusesIsShown(t *testing.T) {
	f := start(t)
	f.cluster.OnDial(nil)
	f.pod("one", 80, nil)
	f.Dispatch(statetest.Loaded(f.web(nil)))
	f.is(state.ForwardReady, "default/one:80")
	c, err := f.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	f.is(state.ForwardFailed, "default/one:80")
}

// The Collector acts when it is the last one that holds a resource, so the port must be closed before that.
func TestThePortIsClosedBeforeTheResourceIsLetGo(t *testing.T) {
	f := start(t)
	f.pod("one", 80, nil)
	f.Dispatch(statetest.Loaded(f.web(nil)))
	f.is(state.ForwardReady, "default/one:80")
	f.Dispatch(statetest.Loaded())
	f.Until("the resource is let go", func(v store.View) bool {
		e := state.Resources.In(v).Ref("web")
		return e != nil && e.Phase == store.TearingDown && !slices.Contains(e.Finalizers, name)
	})
	if c, err := f.dial(); err == nil {
		_ = c.Close()
		t.Error("the port is still open")
	}
	if n := state.Forwards.In(f.View()).Len(); n != 0 {
		t.Errorf("%d forwards are left", n)
	}
}

func TestWithoutAClusterNothingIsOpened(t *testing.T) {
	a := statetest.Start(t, New(nil, host, nil))
	m := statetest.K8s("web")
	m.K8s.PortForwards = []model.PortForward{{LocalPort: 1}}
	a.Dispatch(statetest.Session, statetest.Loaded(m))
	a.Until("the resource is declared", func(v store.View) bool { return state.Resources.In(v).Len() == 1 })
	a.Dispatch(statetest.Loaded())
	a.Until("the resource is gone", func(v store.View) bool { return state.Resources.In(v).Len() == 0 })
	if n := state.Forwards.In(a.View()).Len(); n != 0 {
		t.Errorf("%d forwards", n)
	}
}

func TestTarget(t *testing.T) {
	pod := func(name, phase string, current, deleting, ready bool) state.Pod {
		return state.Pod{Current: current, Pod: model.Pod{Namespace: "n", Name: name, Phase: phase, Deleting: deleting, Ready: ready}}
	}
	for _, tc := range []struct {
		name string
		pods []state.Pod
		want string
	}{
		{"none", nil, ""},
		{"none that runs", []state.Pod{pod("a", "Pending", true, false, false), pod("b", "Succeeded", true, false, false)}, ""},
		{"the current one, though it is not ready yet", []state.Pod{pod("new", "Running", true, false, false), pod("old", "Running", false, false, true)}, "new"},
		{"the old one, while the current one does not run", []state.Pod{pod("new", "Pending", true, false, false), pod("old", "Running", false, false, true)}, "old"},
		{"a ready one", []state.Pod{pod("a", "Running", true, false, false), pod("b", "Running", true, false, true)}, "b"},
		{"one that stays", []state.Pod{pod("going", "Running", true, true, true), pod("old", "Running", false, false, false)}, "old"},
		{"one that goes, rather than none", []state.Pod{pod("going", "Running", true, true, true)}, "going"},
		{"the first of equals", []state.Pod{pod("a", "Running", true, false, true), pod("b", "Running", true, false, true)}, "a"},
	} {
		got := ""
		if to := target(port{spec: model.PortForward{LocalPort: 1}}, tc.pods); to != nil {
			got = to.Pod
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestURL(t *testing.T) {
	for _, tc := range []struct{ host, path, want string }{
		{"localhost", "", "http://localhost:80/"},
		{"0.0.0.0", "", "http://localhost:80/"},
		{"::", "", "http://localhost:80/"},
		{"::1", "", "http://[::1]:80/"},
		{"10.0.0.1", "docs", "http://10.0.0.1:80/docs"},
		{"localhost", "/a?b", "http://localhost:80/a?b"},
	} {
		if got := url(tc.host, model.PortForward{LocalPort: 80, LinkPath: tc.path}); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}

// TestFailuresAreSaid connects while nothing in the pod listens, then again when something does.
func TestFailuresAreSaid(t *testing.T) {
	f := start(t)
	f.cluster.OnDial(func(string, int) func(net.Conn) { return nil })
	f.Dispatch(statetest.Loaded(f.web(nil)))
	f.pod("one", 80, nil)
	f.is(state.ForwardReady, "default/one:80")
	early, err := f.dial()
	if err != nil {
		t.Fatal(err)
	}
	where := net.JoinHostPort(host, fmt.Sprint(f.port))
	fails := "port forward " + where + " → pod default/one:80 fails: connection refused: nothing listens on port 80 of the pod"
	f.says(fails)
	f.is(state.ForwardFailed, "default/one:80")
	f.cluster.OnDial(func(string, int) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, "back") }
	})
	f.answers(early, "back")
	f.says(fails, "port forward "+where+" → pod default/one:80 works again")
	f.is(state.ForwardReady, "default/one:80")
}

// says waits until the resource's log is as given.
func (f *fixture) says(want ...string) {
	f.t.Helper()
	var got []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if got = statetest.Texts(f.logs, "web"); slices.Equal(got, want) {
			return
		}
	}
	f.t.Errorf("the log says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// TestDownloadOfALeavingPod reads from a pod until it ends: with its connection in order while it stays, cut off while it
// is being deleted.
func TestDownloadOfALeavingPod(t *testing.T) {
	for _, tt := range []struct {
		name    string
		leaves  bool
		wantErr error
	}{
		{"stays", false, nil},
		{"is deleted", true, syscall.ECONNRESET},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t)
			stop := make(chan struct{})
			f.cluster.OnDial(func(string, int) func(net.Conn) {
				return func(c net.Conn) {
					_, _ = io.WriteString(c, "begin")
					<-stop
				}
			})
			f.Dispatch(statetest.Loaded(f.web(nil)))
			f.pod("one", 80, nil)
			f.is(state.ForwardReady, "default/one:80")
			c, err := f.dial()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.ReadFull(c, make([]byte, len("begin"))); err != nil {
				t.Fatal(err)
			}
			if tt.leaves {
				// The second pod shows that the subscriber has seen the end of the first.
				f.pod("one", 80, func(p *state.Pod) { p.Deleting = true })
				f.pod("two", 80, nil)
				f.is(state.ForwardReady, "default/two:80")
			}
			close(stop)
			if _, err := io.ReadAll(c); !errors.Is(err, tt.wantErr) {
				t.Errorf("the download ends with %v, want %v", err, tt.wantErr)
			}
		})
	}
}
