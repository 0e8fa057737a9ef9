package tables

import (
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestUpdateWord checks the status of updates in words.
func TestUpdateWord(t *testing.T) {
	at := func(stage string, far model.BuildProgress) state.Update {
		return state.Update{History: state.History{Current: &state.Build{Stage: stage, Progress: far}}}
	}
	for want, u := range map[string]state.Update{
		"started":                        at("", model.BuildProgress{}),
		"1/3 Building Dockerfile: [api]": at("1/3 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Nth: 1, Images: 1}),
		"1/3 Building Dockerfile: [api], step 4 of 7":               at("1/3 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Nth: 1, Images: 1, Step: 4, Steps: 7}),
		"3/5 Building Dockerfile: [api], image 2 of 2, step 4 of 7": at("3/5 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Nth: 2, Images: 2, Step: 4, Steps: 7}),
		"2/3 Pushing api:1, 45 %":                                   at("2/3 Pushing api:1", model.BuildProgress{Kind: model.StepPush, Nth: 1, Images: 1, Percent: 45}),
		"3/3 Deploying: the API server answers 503, trying again":   at("3/3 Deploying: the API server answers 503, trying again", model.BuildProgress{Kind: model.StepApply, Waits: "x"}),
		"none": {},
	} {
		if got := updateWord(u); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
