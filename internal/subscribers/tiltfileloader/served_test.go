package tiltfileloader

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/pkg/model"
)

func serves(versions ...string) model.Capabilities {
	return model.Capabilities{KubeVersion: "v1.34.4", APIVersions: versions}
}

// told is an evaluation of a chart that looks at what the cluster serves.
func told(c model.Capabilities) func() tiltfile.Result {
	return func() tiltfile.Result {
		r := good("web")()
		r.Served = &c
		return r
	}
}

var (
	deployed = state.BuildCompleted{Resource: "web", Deployed: true}
	answers  = state.ClusterReported{Connected: true}
)

// TestServedMore evaluates the Tiltfile again once the cluster serves more than the evaluation was told.
func TestServedMore(t *testing.T) {
	for _, tc := range []struct {
		name      string
		told, now model.Capabilities
		event     state.BuildCompleted // none: the cluster comes back
		after     time.Duration
		want      int
	}{
		{"the cluster was away", model.Capabilities{}, serves("v1"), state.BuildCompleted{}, time.Minute, 2},
		{"a deploy installs a kind", serves("v1"), serves("v1", "x.dev/v1"), deployed, 0, 2},
		{"a deploy installs none", serves("v1", "apps/v1"), serves("apps/v1", "v1"), deployed, time.Hour, 1},
		{"a server behind the cluster is down", serves("v1", "metrics.k8s.io/v1"), serves("v1"), deployed, time.Hour, 1},
		{"an update in place", serves("v1"), serves("v1", "x.dev/v1"), state.BuildCompleted{Resource: "web"}, 0, 1},
		{"others install a kind", serves("v1"), serves("v1", "x.dev/v1"), state.BuildCompleted{Resource: "web"}, time.Minute, 2},
		{"another version", serves("v1"), model.Capabilities{KubeVersion: "v1.35.0", APIVersions: []string{"v1"}}, deployed, 0, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t)
				f.served = func() (model.Capabilities, error) { return tc.now, nil }
				f.evaluations("at first", 1)
				f.answers(told(tc.told))
				time.Sleep(time.Second)
				if tc.event.Resource == "" {
					f.Then(state.ClusterReported{Err: "refused"})
					f.evaluations("while it is away", 1)
				}
				f.Then(answers)
				time.Sleep(time.Second)
				if tc.event.Resource != "" {
					f.Then(tc.event)
				}
				time.Sleep(tc.after)
				f.evaluations("then", tc.want)
				if tc.want == 1 {
					return
				}
				f.answers(told(tc.now))
				f.Then(deployed)
				time.Sleep(time.Hour)
				f.evaluations("when it is told all", 2)
				if log := statetest.Texts(f.logs, "(Tiltfile)"); !slices.Contains(log, "The Cluster Serves More") {
					t.Errorf("the log does not say why: %q", log)
				}
			})
		})
	}
}

// TestServedUnknown asks until the cluster says what it serves.
func TestServedUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		asked := 0
		f.served = func() (model.Capabilities, error) {
			if asked++; asked < 4 {
				return model.Capabilities{}, errors.New("too busy")
			}
			return serves("v1"), nil
		}
		f.answers(told(model.Capabilities{}))
		f.Then(answers)
		time.Sleep(7 * time.Second)
		f.evaluations("unanswered", 1)
		time.Sleep(2 * time.Second)
		f.evaluations("answered", 2)
	})
}

// TestServedCircle slows down evaluations that install one kind after the other.
func TestServedCircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.Then(answers)
		var now model.Capabilities
		f.served = func() (model.Capabilities, error) { return now, nil }
		kind := "v1"
		for range 11 {
			kind += "x"
			f.answers(told(serves(kind)))
			now = serves(kind + "x")
			time.Sleep(600 * time.Millisecond)
			f.Then(deployed)
		}
		f.evaluations("in the pause", 11)
		log := strings.Join(statetest.Texts(f.logs, "(Tiltfile)"), "\n")
		if !strings.Contains(log, "the Tiltfile is in a loop: 11 evaluations in a row have changed what it reads (what the cluster serves); the next one waits for 1s") {
			t.Errorf("the loop is not named: %s", log)
		}
		time.Sleep(time.Second)
		f.evaluations("after the pause", 12)
	})
}

// TestServedShown does no more than what a plan has shown, and says so.
func TestServedShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := statetest.Session
		session.Session.Shown = true
		f := startWith(t, session)
		f.served = func() (model.Capabilities, error) { return serves("v1", "x.dev/v1"), nil }
		f.Then(answers)
		f.answers(told(serves("v1")))
		time.Sleep(time.Second)
		f.Then(deployed)
		time.Sleep(30 * time.Second)
		log := strings.Join(statetest.Texts(f.logs, "(Tiltfile)"), "\n")
		f.evaluations("after the deploy", 1)
		if strings.Count(log, "the cluster serves more now than when the plan was made") != 1 {
			t.Errorf("it is not said once: %s", log)
		}
	})
}
