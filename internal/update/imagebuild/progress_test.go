package imagebuild

import (
	"fmt"
	"testing"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

// TestProgress checks that a build reports the steps of its Dockerfile, a build command reports none, and a push reports its
// progress.
func TestProgress(t *testing.T) {
	engine := dockertest.New()
	engine.AddImage("busybox")
	reg := model.Registry{Host: startRegistry(t, engine)}
	var got []string
	step := func(begun, all int) { got = append(got, fmt.Sprintf("%d/%d", begun, all)) }
	web := model.ImageTarget{Ref: "web", Docker: &model.DockerBuild{Contents: "FROM busybox AS a\nENV X=1\nRUN true\nFROM scratch\nCOPY --from=a /x /x\n"}}
	result, err := New(engine).Build(t.Context(), Request{Target: web, Registry: reg, OnStep: step})
	if err != nil {
		t.Fatal(err)
	}
	sent := func(percent int) { got = append(got, fmt.Sprintf("%d %%", percent)) }
	if err := NewDeliverer(engine).Deliver(t.Context(), Plan{Method: model.DeliverRegistry, Registry: reg}, result, nil, sent); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1/3", "2/3", "3/3", "100 %"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	engine.AddImage("made:v1")
	made := model.ImageTarget{Ref: "made", Custom: &model.CustomBuild{Command: model.Cmd{Argv: []string{"true"}}, Tag: "v1"}}
	got = nil
	if _, err := New(engine).Build(t.Context(), Request{Target: made, OnStep: step}); err != nil || got != nil {
		t.Errorf("steps of a build command: %q, %v", got, err)
	}
}
