package sessioncontroller

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestCauses checks the fields of each kind of end apart from the text.
func TestCauses(t *testing.T) {
	gen := statetest.Local("gen")
	for _, tc := range []struct {
		name string
		run  func(f *fixture)
		want state.Ending
	}{
		{"all is ready", func(f *fixture) { f.Then(statetest.Loaded()) }, state.Ending{}},
		{"a fault of the Tiltfile", func(f *fixture) { f.Then(state.TiltfileLoaded{Err: "syntax error"}) },
			state.Ending{Failure: "syntax error", Cause: state.EndTiltfile, Resource: model.TiltfileName}},
		{"a fault of the command line", func(f *fixture) { f.Then(state.TiltfileLoaded{Err: "no resource is called x", Usage: true}) },
			state.Ending{Failure: "no resource is called x", Cause: state.EndOutside}},
		{"a failed build", func(f *fixture) {
			f.Then(statetest.Loaded(gen))
			f.built("gen", "exit code 1")
		}, state.Ending{Failure: "gen: exit code 1", Cause: state.EndResource, Resource: "gen"}},
		{"no cluster", func(f *fixture) {
			f.Then(statetest.Loaded(statetest.K8s("web")), state.ClusterReported{Err: "cannot reach cluster"})
		}, state.Ending{Failure: "cannot reach cluster", Cause: state.EndOutside}},
		{"time is up", func(f *fixture) {
			f.Then(loaded(model.CISettings{Timeout: time.Minute}, gen))
			time.Sleep(time.Minute)
		}, state.Ending{Failure: "timed out after 1m0s: gen waits for the Tiltfile\n  raise the limit with --timeout or ci_settings(timeout=…)", Cause: state.EndTimeout}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, ci)
				tc.run(f)
				f.ends(tc.name, tc.want.Failure)
				got := *state.TheSession(f.View()).Ended
				got.At = time.Time{}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("ended (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestCannotBegin(t *testing.T) {
	image := statetest.K8s("web", statetest.Image("web"))
	refused := state.ClusterReported{Err: "cannot reach cluster"}
	for _, tc := range []struct {
		name    string
		actions []store.Action
		want    string // empty: the session goes on
	}{
		{"wrong arguments", []store.Action{state.TiltfileLoaded{Err: "no resource is called x", Usage: true}}, "no resource is called x"},
		{"a broken Tiltfile can be mended", []store.Action{state.TiltfileLoaded{Err: "syntax error"}}, ""},
		{"no cluster", []store.Action{statetest.Loaded(statetest.K8s("web")), refused}, "cannot reach cluster"},
		{"no cluster, known before the Tiltfile", []store.Action{refused, statetest.Loaded(statetest.K8s("web"))}, "cannot reach cluster"},
		{"a cluster that is starting", []store.Action{statetest.Loaded(statetest.K8s("web")), state.ClusterReported{Err: "503", Starting: true}}, ""},
		{"it does not start", []store.Action{statetest.Loaded(statetest.K8s("web")), state.ClusterReported{Err: "503", Starting: true},
			state.ClusterReported{Err: "503"}}, "503"},
		{"nobody needs the cluster", []store.Action{refused, statetest.Loaded(statetest.Local("gen"))}, ""},
		{"the cluster went away", []store.Action{state.ClusterReported{Connected: true}, refused, statetest.Loaded(statetest.K8s("web"))}, ""},
		{"no engine", []store.Action{statetest.Loaded(image), state.EngineReported{Err: "no engine"}}, "no engine"},
		{"nobody needs the engine", []store.Action{statetest.Loaded(statetest.K8s("web")), state.EngineReported{Err: "no engine"}}, ""},
		{"something was done already", []store.Action{statetest.Loaded(statetest.K8s("web"), statetest.Local("gen")),
			state.BuildStarted{Resource: "gen", Serial: 1}, refused}, ""},
		{"wrong arguments of a changed Tiltfile", []store.Action{statetest.Loaded(), state.TiltfileLoaded{Err: "usage", Usage: true}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, state.Session{Command: state.CommandUp})
				f.Then(tc.actions...)
				if tc.want == "" {
					time.Sleep(24 * time.Hour)
					f.goes(tc.name)
				} else {
					f.ends(tc.name, tc.want)
				}
			})
		})
	}
}
