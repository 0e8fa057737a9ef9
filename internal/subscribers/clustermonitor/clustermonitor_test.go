package clustermonitor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a cluster that answers or not, and records its requests with their times.
type client struct {
	mu    sync.Mutex
	err   error
	moved string // the address, if it is another one than at the start
	begun time.Time
	asked []string
}

func (c *client) ask(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, fmt.Sprintf("%s@%g", what, time.Since(c.begun).Seconds()))
	return c.err
}

func (c *client) set(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err, c.asked, c.begun = err, nil, time.Now()
}

func (c *client) log() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.asked, " ")
}

func (c *client) Cluster() model.Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	return model.Cluster{Context: "dev", Server: cmp.Or(c.moved, "https://x")}
}

func (c *client) Detect(context.Context) (model.Cluster, error) {
	return model.Cluster{Context: "dev", Product: model.ProductKIND}, c.ask("detect")
}

func (c *client) Healthy(context.Context) error { return c.ask("healthy") }

func (c *client) Alive(context.Context) error { return c.ask("alive") }

func (c *client) Stuck() time.Duration { return 0 }

func (c *client) Renew(ctx context.Context) error { return c.Alive(ctx) }

func (c *client) Quiet() (time.Duration, bool) { return 0, true }

func TestPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{}
		c.set(nil)
		a := statetest.Start(t, New(c, model.Cluster{Context: "dev"})).Then(statetest.Session)
		check := func(what string, connected bool, err, asked string) {
			t.Helper()
			synctest.Wait()
			got := state.TheCluster(a.View())
			if got.Connected != connected || got.Err != err || got.Product != model.ProductKIND {
				t.Errorf("%s: %+v, want connected %v, error %q", what, got, connected, err)
			}
			if diff := gocmp.Diff(asked, c.log()); diff != "" {
				t.Errorf("%s: asked (-want +got):\n%s", what, diff)
			}
		}
		time.Sleep(31 * time.Second)
		check("healthy", true, "", "detect@0 healthy@15 healthy@30")
		c.set(problem.New("cannot reach cluster", "start it"))
		time.Sleep(14 * time.Second)
		check("one failure says nothing", true, "", "healthy@14")
		time.Sleep(time.Second)
		check("two do", false, "cannot reach cluster\n  start it", "healthy@14 healthy@15")
		time.Sleep(60 * time.Second)
		check("pauses grow to a limit", false, "cannot reach cluster\n  start it",
			"healthy@14 healthy@15 healthy@17 healthy@21 healthy@25 healthy@29 healthy@33 healthy@37 healthy@41 healthy@45 healthy@49 healthy@53 healthy@57 healthy@61 healthy@65 healthy@69 healthy@73")
		c.set(nil)
		time.Sleep(10 * time.Second)
		check("back", true, "", "healthy@2")
	})
}

// TestDoubt: after an update that does not get through, the cluster is checked at once, and again soon.
func TestDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{}
		c.set(nil)
		a := statetest.Start(t, New(c, model.Cluster{Context: "dev"}), "BuildController").Then(statetest.Session)
		time.Sleep(10 * time.Second)
		c.set(errors.New("refused"))
		away := state.BuildCompleted{Resource: "web", Cancelled: true, ClusterErr: "the cluster does not answer: EOF"}
		a.Then(away)
		if got := state.TheCluster(a.View()); got.Connected || got.Err != away.ClusterErr || c.log() != "healthy@0" {
			t.Errorf("%+v, asked %s", got, c.log())
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if got := state.TheCluster(a.View()); got.Connected || got.Err != "refused" || c.log() != "healthy@0 healthy@1" {
			t.Errorf("%+v, asked %s", got, c.log())
		}
		c.set(nil)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := state.TheCluster(a.View()); !got.Connected || got.Err != "" {
			t.Errorf("%+v, asked %s", got, c.log())
		}
		c.set(nil)
		a.Then(away) // a blip
		if got := state.TheCluster(a.View()); !got.Connected || c.log() != "healthy@0" {
			t.Errorf("%+v, asked %s", got, c.log())
		}
	})
}

// TestMovedCluster: a cluster that starts again at another address is shown there.
func TestMovedCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{}
		c.set(nil)
		a := statetest.Start(t, New(c, model.Cluster{Context: "dev"})).Then(statetest.Session)
		c.set(errors.New("refused"))
		time.Sleep(20 * time.Second)
		c.mu.Lock()
		c.moved = "https://x:2"
		c.mu.Unlock()
		c.set(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := state.TheCluster(a.View()); !got.Connected || got.Server != "https://x:2" {
			t.Errorf("%+v", got)
		}
	})
}

func TestNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{}
		c.set(errors.New("refused"))
		a := statetest.Start(t, New(c, model.Cluster{Context: "dev", Server: "https://x"})).Then(statetest.Session)
		if got := state.TheCluster(a.View()); got.Ever || got.Err != "refused" || got.Server != "https://x" {
			t.Errorf("at once: %+v", got)
		}
		c.set(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := state.TheCluster(a.View()); !got.Connected || got.Product != model.ProductKIND || c.log() != "detect@1" {
			t.Errorf("a second later: %+v, asked %s", got, c.log())
		}
	})
}

// TestFirstAnswerBreaksOff starts a session whose first question is cut off: one that is answered a second later has not failed, and
// a second failure is reported.
func TestFirstAnswerBreaksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{}
		c.set(fmt.Errorf("detect: %w", io.ErrUnexpectedEOF))
		a := statetest.Start(t, New(c, model.Cluster{Context: "dev"})).Then(statetest.Session)
		if got := state.TheCluster(a.View()); got.Err != "" || c.log() != "detect@0" {
			t.Errorf("at once: %+v, asked %s", got, c.log())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := state.TheCluster(a.View()); got.Connected || got.Err == "" {
			t.Errorf("after two: %+v", got)
		}
		c.set(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := state.TheCluster(a.View()); !got.Connected || got.Err != "" {
			t.Errorf("answered: %+v", got)
		}
	})
}

// TestStarting waits for a cluster that answers only that it cannot serve requests: for the time that it requests, and at
// most a minute.
func TestStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{}
		c.set(fmt.Errorf("detect: %w", &k8s.Busy{Status: 503, RetryAfter: 7 * time.Second}))
		a := statetest.Start(t, New(c, model.Cluster{Context: "dev"})).Then(statetest.Session)
		starts := func(want bool) {
			t.Helper()
			synctest.Wait()
			if got := state.TheCluster(a.View()); got.Ever || got.Starting != want || !strings.Contains(got.Err, "503 Service Unavailable") {
				t.Errorf("after %s: %+v, want starting %v", time.Since(c.begun), got, want)
			}
		}
		starts(true)
		time.Sleep(50 * time.Second)
		starts(true)
		time.Sleep(10 * time.Second)
		starts(false)
		if c.log() != "detect@0 detect@7 detect@14 detect@21 detect@28 detect@35 detect@42 detect@49 detect@56" {
			t.Errorf("asked %s", c.log())
		}
		c.set(nil)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := state.TheCluster(a.View()); !got.Connected || got.Starting {
			t.Errorf("%+v", got)
		}
	})
}

func TestWithoutKubeconfig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := statetest.Start(t, New(nil, model.Cluster{}))
		if got := state.TheCluster(a.View()); got.Err != "" || a.Ended() {
			t.Errorf("before the session has started: %+v", got)
		}
		a.Then(statetest.Session)
		if got := state.TheCluster(a.View()); !strings.Contains(got.Err, "KUBECONFIG") || !a.Ended() {
			t.Errorf("%+v", got)
		}
	})
}
