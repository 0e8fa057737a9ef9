package sessioncontroller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestQuiet checks when ci says what it waits for.
func TestQuiet(t *testing.T) {
	ci := state.Session{Command: state.CommandCI}
	web := statetest.K8s("web")
	var many []model.Manifest
	for i := range 6 {
		many = append(many, statetest.K8s(fmt.Sprintf("m%d", i)))
	}
	for _, tc := range []struct {
		name    string
		session state.Session
		run     func(f *fixture)
		want    []string
	}{
		{"the Tiltfile takes long", ci, func(*fixture) { time.Sleep(5 * time.Second) },
			[]string{"2s Waiting: the Tiltfile is not loaded yet"}},
		{"the evaluation says it itself", ci, func(f *fixture) {
			f.Then(state.TiltfileStarted{At: time.Now()})
			time.Sleep(time.Minute)
		}, nil},
		{"in up", state.Session{Command: state.CommandUp}, func(*fixture) { time.Sleep(time.Hour) }, nil},
		{"the cluster does not answer", ci, func(f *fixture) {
			f.Then(state.TiltfileStarted{}, loaded(model.CISettings{}, web))
			time.Sleep(40 * time.Second)
		}, []string{"2s Waiting: web waits for the cluster to answer", "32s Waiting: web waits for the cluster to answer"}},
		{"one after the other", ci, func(f *fixture) {
			f.Then(state.TiltfileStarted{}, loaded(model.CISettings{}, web))
			time.Sleep(5 * time.Second)
			f.Then(connected()...)
			f.Then(state.BuildStarted{Resource: "web", Serial: 1}, state.BuildProgressed{Resource: "web", Serial: 1, Stage: "pushing image"})
			time.Sleep(5 * time.Second)
		}, []string{"2s Waiting: web waits for the cluster to answer", "5s Waiting: web is not updated yet", "7s Waiting: web is being updated (pushing image)"}},
		{"something else is said", ci, func(f *fixture) {
			f.Then(state.TiltfileStarted{}, loaded(model.CISettings{}, web))
			for range 10 {
				time.Sleep(time.Second)
				f.logs.Append(logstore.Entry{Resource: "web", Text: "working", Level: logstore.LevelInfo})
			}
		}, nil},
		{"details do not count", ci, func(f *fixture) {
			f.Then(state.TiltfileStarted{}, loaded(model.CISettings{}, web))
			time.Sleep(time.Second)
			f.logs.Append(logstore.Entry{Resource: "web", Text: "working", Level: logstore.LevelDebug})
			time.Sleep(1500 * time.Millisecond)
		}, []string{"2s Waiting: web waits for the cluster to answer"}},
		{"many", ci, func(f *fixture) {
			f.Then(state.TiltfileStarted{}, loaded(model.CISettings{}, many...))
			time.Sleep(3 * time.Second)
		}, []string{"2s Waiting: m0 waits for the cluster to answer; m1 waits for the cluster to answer; m2 waits for the cluster to answer; m3 waits for the cluster to answer; and 2 more"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, begin := start(t, tc.session), time.Now()
				tc.run(f)
				synctest.Wait()
				var got []string
				for _, l := range f.logs.Tail(logstore.Filter{}, 100) {
					if strings.HasPrefix(l.Text, "Waiting") {
						got = append(got, l.Time.Sub(begin).Round(time.Second).String()+" "+l.Text)
					}
				}
				if !slices.Equal(got, tc.want) {
					t.Error(cmp.Diff(tc.want, got))
				}
			})
		})
	}
}
