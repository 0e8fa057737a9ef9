package buildcontroller

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// TestPace checks which reports of a build become actions, and when.
func TestPace(t *testing.T) {
	step := func(stage string, n int) state.BuildProgressed {
		return state.BuildProgressed{Stage: stage, Progress: model.BuildProgress{Step: n}}
	}
	for name, tc := range map[string]struct {
		story func(p *pace)
		want  []string
	}{
		"rare": {func(p *pace) {
			for i := range 3 {
				p.report(step("build", i))
				time.Sleep(paceInterval)
			}
		}, []string{"0s build 0", "100ms build 1", "200ms build 2"}},
		"many": {func(p *pace) {
			for i := range 71 {
				p.report(step("build", i))
				time.Sleep(7 * time.Millisecond)
			}
			time.Sleep(time.Second)
		}, []string{"0s build 0", "100ms build 14", "200ms build 28", "300ms build 42", "400ms build 57", "500ms build 70"}},
		"another step": {func(p *pace) {
			p.report(step("build", 1))
			p.report(step("build", 2))
			p.report(step("push", 0))
			p.report(step("push", 1))
			time.Sleep(time.Second)
			p.report(step("deploy", 0))
		}, []string{"0s build 1", "0s push 0", "100ms push 1", "1s deploy 0"}},
		"the end": {func(p *pace) {
			p.report(step("build", 1))
			p.report(step("build", 2))
			p.report(step("build", 3))
			p.end()
			p.report(step("build", 4))
			p.report(step("push", 1))
			time.Sleep(time.Second)
		}, []string{"0s build 1", "0s build 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var got []string
				p := &pace{send: func(r state.BuildProgressed) {
					got = append(got, fmt.Sprintf("%s %s %d", time.Since(began), r.Stage, r.Progress.Step))
				}}
				tc.story(p)
				p.end()
				if !slices.Equal(got, tc.want) {
					t.Error(cmp.Diff(tc.want, got))
				}
			})
		})
	}
}

// TestProgressOfSteps checks that a snapshot shows how far a build is, and that a thousand reports make few snapshots.
func TestProgressOfSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a", statetest.Image("a")))
		before := f.View().Seq
		for i := range 1000 {
			f.builder.call("a").req.Progress("image", "1/2 Building", model.BuildProgress{Kind: model.StepBuild, Image: "a", Nth: 1, Images: 1, Step: i, Steps: 1000})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(paceInterval)
		synctest.Wait()
		if b := f.update("a").Current; b == nil || b.Progress.Step != 999 || b.Progress.Steps != 1000 {
			t.Errorf("current build: %+v", b)
		}
		if n := f.View().Seq - before; n > 12 {
			t.Errorf("%d snapshots in a second", n)
		}
		f.builder.call("a").req.Progress("image", "1/2 Building", model.BuildProgress{Kind: model.StepBuild, Step: 1000, Steps: 1000})
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "image", Deployed: true}})
		if u := f.update("a"); u.Current != nil || u.Builds[0].Progress != (model.BuildProgress{}) {
			t.Errorf("the build has ended: %+v", u.History)
		}
	})
}
