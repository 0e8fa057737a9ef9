package buildcontrol

import (
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestTakenBackWhileItBuilds declares an image in another way, and takes that back while it builds: the resource is deployed as it is
// declared, but the failure of that build would stay.
func TestTakenBackWhileItBuilds(t *testing.T) {
	declare := func(contents string) store.Action {
		im := statetest.Image("a")
		im.Docker = &model.DockerBuild{Context: "/src/a", Contents: contents}
		return statetest.Loaded(statetest.K8s("a", im))
	}
	for name, tt := range map[string]struct {
		then   []store.Action // while it builds
		builds bool           // again
	}{
		"it is taken back":       {[]store.Action{declare("FROM a")}, true},
		"and declared once more": {[]store.Action{declare("FROM a"), declare("FROM a\nRUN exit 3"), declare("FROM a")}, true},
		"it stays":               {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := up(same).Then(declare("FROM a")).Deployed("a").Then(declare("FROM a\nRUN exit 3")).Begin("a").Then(tt.then...)
			u := state.Updates.In(s.View()).Value("a")
			if stale := Stale(&u, u.Current.StartedAt); stale != tt.builds {
				t.Errorf("the build that runs is stale: %t", stale)
			}
			s.Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Err = "image", "exit code 3" })
			if got := text(Decide(s.View(), nil)); (got != "") != tt.builds {
				t.Errorf("it starts %q", got)
			}
		})
	}
	s := up(same).Then(declare("FROM a")).Deployed("a").Then(declare("FROM b"), declare("FROM a"))
	if got := text(Decide(s.View(), nil)); got != "" {
		t.Errorf("nothing builds, and it is deployed as it is declared: %q", got)
	}
}
