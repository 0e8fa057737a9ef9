package state_test

import (
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestActivity checks the words for a running update.
func TestActivity(t *testing.T) {
	for _, tc := range []struct {
		stage string
		far   model.BuildProgress
		want  string
	}{
		{"", model.BuildProgress{}, ""},
		{"1/3 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Nth: 1, Images: 1}, "1/3 Building Dockerfile: [api]"},
		{"1/3 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Nth: 1, Images: 1, Step: 4, Steps: 7}, "1/3 Building Dockerfile: [api], step 4 of 7"},
		{"3/5 Building Dockerfile: [api]", model.BuildProgress{Kind: model.StepBuild, Nth: 2, Images: 2, Step: 4, Steps: 7}, "3/5 Building Dockerfile: [api], image 2 of 2, step 4 of 7"},
		{"2/3 Pushing api:1", model.BuildProgress{Kind: model.StepPush, Nth: 1, Images: 1, Percent: 45}, "2/3 Pushing api:1, 45 %"},
		{"3/3 Deploying: the API server answers 503, trying again", model.BuildProgress{Kind: model.StepApply, Waits: "x"}, "3/3 Deploying: the API server answers 503, trying again"},
	} {
		if got := (state.Build{Stage: tc.stage, Progress: tc.far}).Activity(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
