package status_test

import (
	"fmt"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/model"
)

// TestBlocker checks which failed resource keeps others waiting, and what they say.
func TestBlocker(t *testing.T) {
	local := func(name model.ManifestName, deps ...model.ManifestName) model.Manifest {
		m := statetest.Local(string(name))
		m.ResourceDeps, m.Local.AllowParallel = deps, true
		return m
	}
	// Each layer waits for both resources of the one below, so that the number of ways down doubles with each.
	var layers []model.Manifest
	below := []model.ManifestName{"base"}
	for i := range 30 {
		l, r := model.ManifestName(fmt.Sprintf("l%d", i)), model.ManifestName(fmt.Sprintf("r%d", i))
		layers = append(layers, local(l, below...), local(r, below...))
		below = []model.ManifestName{l, r}
	}
	change := state.FilesChanged{At: statetest.Epoch, Changes: []state.FileChange{{Target: statetest.Local("db").DeployID(), Paths: []string{"/src/db"}}}}
	chain := func() *statetest.State {
		return up(local("db"), local("api", "db"), local("web", "api", "gen"), local("gen"))
	}
	for _, tc := range []struct {
		name  string
		state *statetest.State
		of    model.ManifestName
		text  string
	}{
		{"nothing has failed", chain(), "web", "waits for api, gen to be ready"},
		{"its dependency has failed", chain().Begin("db").Finish("db", broken("exit code 3")), "api", "waits for db, which has failed"},
		{"one further down has failed", chain().Begin("db").Finish("db", broken("exit code 3")), "web", "waits for api, gen to be ready, but db has failed"},
		{"the other one has failed", chain().Begin("gen").Finish("gen", broken("exit code 3")), "web", "waits for api, gen to be ready, but gen has failed"},
		{"it does not wait for what has failed", chain().Begin("gen").Finish("gen", broken("exit code 3")), "api", "waits for db to be ready"},
		{"it is tried again", chain().Begin("db").Finish("db", broken("exit code 3")).Begin("db"), "api", "waits for db to be ready"},
		{"a change tries it again", chain().Begin("db").Finish("db", broken("exit code 3")).Then(change), "api", "waits for db to be ready"},
		{"a trigger tries it again", chain().Begin("db").Finish("db", broken("exit code 3")).Then(state.ResourcesTriggered{Names: []model.ManifestName{"db"}}), "api", "waits for db to be ready"},
		{"it succeeds in the end", chain().Begin("db").Finish("db", broken("exit code 3")).Deployed("db"), "api", "starting"},
		{"many ways down", up(append(layers, local("base"))...).Begin("base").Finish("base", broken("exit code 3")), "l29", "waits for l28, r28 to be ready, but base has failed"},
		{"many ways down to nothing", up(append(layers, local("base"))...), "r29", "waits for l28, r28 to be ready"},
		{"a circle", up(local("a", "b"), local("b", "a")), "a", "waits for b to be ready"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := tc.state.View()
			is := status.Of(v, state.UpdatingOf(v, state.Resources.In(v).Ref(string(tc.of))))
			if is.Text != tc.text {
				t.Errorf("%q, want %q", is.Text, tc.text)
			}
			if is.Blocker != nil && is.Blocker.Why != "exit code 3" {
				t.Errorf("blocked by %+v", is.Blocker)
			}
		})
	}
}
