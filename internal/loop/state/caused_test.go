package state_test

import (
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// rounds is a session in which time passes with each step.
type rounds struct {
	*statetest.State
	at time.Time
}

func (r *rounds) step() time.Time {
	r.at = r.at.Add(100 * time.Millisecond)
	return r.at
}

func (r *rounds) do(actions ...store.Action) {
	for _, a := range actions {
		r.Now = r.at
		r.Then(a)
	}
}

// TestCirclesThroughUpdates lets other work and a chain of updates request each other by the files that they change: from the
// second round on, they have to wait, but no save by a person, and nothing that an update changes in its containers.
func TestCirclesThroughUpdates(t *testing.T) {
	type work struct {
		reason   state.BuildReason
		begins   func(at, made time.Time) store.Action
		ends     func(at time.Time) store.Action
		circling func(r *rounds, made time.Time) bool
	}
	tiltfile := work{state.ReasonConfig,
		func(at, _ time.Time) store.Action { return state.TiltfileStarted{At: at} },
		func(at time.Time) store.Action { return evaluated(at) },
		func(r *rounds, _ time.Time) bool { return state.TheTiltfile(r.View()).Circling() }}
	gen := work{state.ReasonFiles,
		func(_, made time.Time) store.Action {
			return state.CommandStarted{Name: "gen", Files: []string{"in"}, Made: made}
		},
		func(time.Time) store.Action { return state.CommandEnded{Name: "gen"} },
		func(r *rounds, made time.Time) bool { return state.Commands.In(r.View()).Value("gen").Circling(made) }}
	writing := tiltfile
	writing.reason = state.ReasonFiles
	for _, tc := range []struct {
		name, mode string
		chain      []model.ManifestName
		work
	}{
		{"the Tiltfile", "local", []model.ManifestName{"web"}, tiltfile},
		{"the Tiltfile", "synclet", []model.ManifestName{"web"}, tiltfile},
		{"the Tiltfile and a chain of", "local", []model.ManifestName{"web", "api", "db"}, tiltfile},
		{"the Tiltfile, which writes a file,", "image", []model.ManifestName{"web"}, writing},
		{"the Tiltfile, which writes a file, and a chain of", "local", []model.ManifestName{"web", "api", "db"}, writing},
		{"a declared command", "local", []model.ManifestName{"web"}, gen},
		{"a declared command", "synclet", []model.ManifestName{"web"}, gen},
		{"a declared command and a chain of", "image", []model.ManifestName{"web", "api", "db"}, gen},
	} {
		t.Run(tc.name+" and "+tc.mode, func(t *testing.T) {
			r := &rounds{statetest.New(statetest.Session, evaluated(statetest.Epoch)), statetest.Epoch.Add(time.Minute)}
			made := r.step()
			changed := func() {
				r.do(state.FilesChanged{Made: made, At: r.at, Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetConfigs}, Paths: []string{"/src/in"}}}})
			}
			changed()
			for n := 1; n <= 7; n++ {
				r.do(tc.begins(r.step(), made))
				written := r.step()
				r.do(tc.ends(r.step()))
				reason := tc.reason
				for _, name := range tc.chain {
					r.do(state.BuildStarted{Resource: name, Serial: n, Reason: reason, At: r.step(), Made: written})
					written, reason = r.step(), state.ReasonFiles
					r.do(state.BuildCompleted{Resource: name, Serial: n, At: r.step(), Mode: tc.mode})
				}
				made = written
				changed()
				if got, want := tc.circling(r, made), n >= 2 && tc.mode != "synclet"; got != want {
					t.Errorf("after round %d: %v", n, got)
				}
			}
			made = r.step()
			changed()
			if tc.circling(r, made) {
				t.Error("a save between two rounds has to wait")
			}
		})
	}
}

// evaluated is the end of an evaluation that declares resources and a command.
func evaluated(at time.Time) state.TiltfileLoaded {
	l := statetest.Loaded(statetest.Local("web"), statetest.Local("api"), statetest.Local("db"))
	l.At, l.Result.Commands = at, []model.Command{{Name: "gen"}}
	return l
}
