package buildanddeploy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// working is an images whose work takes time.
type working struct{ images }

func (s *working) Build(ctx context.Context, req imagebuild.Request) (model.ImageResult, error) {
	time.Sleep(5 * time.Second)
	if req.Target.Docker != nil {
		req.OnContext(time.Second)
	}
	return s.images.Build(ctx, req)
}

func (s *working) Deliver(ctx context.Context, plan imagebuild.Plan, r model.ImageResult, log logstore.Logger, sent func(int)) error {
	time.Sleep(300 * time.Millisecond)
	return s.images.Deliver(ctx, plan, r, log, sent)
}

func (s *working) Deploy(ctx context.Context, req Request, results map[string]model.ImageResult) ([]model.AppliedObject, error) {
	time.Sleep(100 * time.Millisecond)
	return s.images.Deploy(ctx, req, results)
}

// TestStepsOfImages checks which steps an update reports and how long each took: the transfer of the build context is one of its own.
func TestStepsOfImages(t *testing.T) {
	m := model.Manifest{Name: "shop", K8s: &model.K8sTarget{Objects: []model.K8sObject{{JSON: `{"image":"web"}`}}},
		Images: []model.ImageTarget{{Ref: "base", Custom: &model.CustomBuild{}}, {Ref: "web", Docker: &model.DockerBuild{}, DependsOn: []string{"base"}}}}
	built := []model.BuildStep{
		{Kind: model.StepBuild, What: "base", Took: 5 * time.Second},
		{Kind: model.StepContext, What: "web", Took: time.Second},
		{Kind: model.StepBuild, What: "web", Took: 4 * time.Second},
	}
	pushed := slices.Concat(built, []model.BuildStep{{Kind: model.StepPush, What: "web", Took: 300 * time.Millisecond}})
	applied := slices.Concat(pushed, []model.BuildStep{{Kind: model.StepApply, Took: 100 * time.Millisecond}})
	for name, tc := range map[string]struct {
		change func(*Request, *images)
		want   []model.BuildStep
	}{
		"all":                   {func(*Request, *images) {}, applied},
		"the build fails":       {func(_ *Request, i *images) { i.fail = map[string]error{"build web": errors.New("no")} }, built},
		"the delivery fails":    {func(_ *Request, i *images) { i.fail = map[string]error{"deliver web:new": errors.New("no")} }, pushed},
		"the deploy fails":      {func(_ *Request, i *images) { i.fail = map[string]error{"deploy": errors.New("no")} }, applied},
		"only the objects":      {func(req *Request, _ *images) { req.Manifest.Images = nil }, applied[4:]},
		"not for this builder":  {func(req *Request, _ *images) { req.Manifest = model.Manifest{Local: &model.LocalTarget{}} }, nil},
		"the engine is missing": {func(_ *Request, i *images) { i.fail = map[string]error{"ping": errors.New("no")} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &diary{}
				i := &working{images{d: d}}
				b := NewImage(NewEnvironment(i), i, i, i, nil)
				b.here.known = &environment{}
				req := d.request(m)
				tc.change(&req, &i.images)
				if i.fail["ping"] != nil {
					b.here.known = nil
				}
				r, _ := b.BuildAndDeploy(t.Context(), req)
				if diff := cmp.Diff(tc.want, r.Steps); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

// sending is a working that sends layers ahead for a time.
type sending struct {
	working
	time time.Duration
	ends sync.WaitGroup
}

func (s *sending) Build(ctx context.Context, req imagebuild.Request) (model.ImageResult, error) {
	if req.OnBuild != nil {
		req.OnBuild()
	}
	return s.working.Build(ctx, req)
}

func (s *sending) Ahead(context.Context, imagebuild.Plan, imagebuild.Request, model.ImageResult) *imagebuild.Transfer {
	t := imagebuild.BeginTransfer()
	s.ends.Go(func() {
		time.Sleep(s.time)
		t.End()
	})
	return t
}

// TestLayersAhead checks the times of layers that go to the cluster beside the steps: they count until the update ends.
func TestLayersAhead(t *testing.T) {
	m := model.Manifest{Name: "shop", K8s: &model.K8sTarget{Objects: []model.K8sObject{{JSON: `{"image":"web"}`}}},
		Images: []model.ImageTarget{{Ref: "base", Custom: &model.CustomBuild{}}, {Ref: "web", Docker: &model.DockerBuild{}, DependsOn: []string{"base"}}}}
	const base, web = 5 * time.Second, 5*time.Second + 400*time.Millisecond
	for name, tc := range map[string]struct{ sends, counts time.Duration }{
		"within the build": {time.Second, time.Second},
		"on the delivery":  {base + time.Millisecond, base + time.Millisecond},
		"beyond the end":   {time.Minute, web},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &diary{}
				i := &sending{working: working{images{d: d}}, time: tc.sends}
				b := NewImage(NewEnvironment(i), i, i, i, nil)
				b.here.known = &environment{}
				r, err := b.BuildAndDeploy(t.Context(), d.request(m))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]model.LayersAhead{{Image: "web", From: base, Took: tc.counts}}, r.LayersAhead); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				i.ends.Wait()
			})
		})
	}
}

// counted is an images that reports how far it is.
type counted struct{ images }

func (c *counted) Build(ctx context.Context, req imagebuild.Request) (model.ImageResult, error) {
	if req.Target.Docker != nil {
		req.OnWait("waiting for arm64")
		req.OnWait("")
		req.OnStep(0, 2)
		req.OnStep(2, 2)
	}
	return c.images.Build(ctx, req)
}

func (c *counted) Deliver(ctx context.Context, plan imagebuild.Plan, r model.ImageResult, log logstore.Logger, sent func(int)) error {
	sent(50)
	return c.images.Deliver(ctx, plan, r, log, sent)
}

// TestProgressOfImages checks the reports of an update while it runs: the image that is built, the steps of its Dockerfile, its wait for a
// builder, and the share that has been pushed. The words of the stage stay the same meanwhile.
func TestProgressOfImages(t *testing.T) {
	m := model.Manifest{Name: "shop", K8s: &model.K8sTarget{Objects: []model.K8sObject{{JSON: `{"image":"web"}`}}},
		Images: []model.ImageTarget{{Ref: "base", Custom: &model.CustomBuild{}}, {Ref: "done", Docker: &model.DockerBuild{}},
			{Ref: "web", Docker: &model.DockerBuild{}, DependsOn: []string{"base", "done"}}}}
	type report struct {
		Stage string
		At    model.BuildProgress
	}
	var got []report
	i := &counted{images{d: &diary{}}}
	b := NewImage(NewEnvironment(i), i, i, i, nil)
	b.here.known = &environment{}
	req := i.d.request(m)
	req.Results = map[string]model.ImageResult{"done": {Local: "done:old"}}
	req.Progress = func(mode, stage string, at model.BuildProgress) {
		if mode != "image" {
			t.Errorf("mode %q", mode)
		}
		got = append(got, report{stage, at})
	}
	if _, err := b.BuildAndDeploy(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	build, push, web := model.StepBuild, model.StepPush, "2/4 Building Dockerfile: [web]"
	want := []report{
		{"1/4 Building Custom Build: [base]", model.BuildProgress{Kind: build, Image: "base", Nth: 1, Images: 2}},
		{web, model.BuildProgress{Kind: build, Image: "web", Nth: 2, Images: 2}},
		{web + ": waiting for arm64", model.BuildProgress{Kind: build, Image: "web", Nth: 2, Images: 2, Waits: "waiting for arm64"}},
		{web, model.BuildProgress{Kind: build, Image: "web", Nth: 2, Images: 2}},
		{web, model.BuildProgress{Kind: build, Image: "web", Nth: 2, Images: 2, Steps: 2}},
		{web, model.BuildProgress{Kind: build, Image: "web", Nth: 2, Images: 2, Step: 2, Steps: 2}},
		{"3/4 Pushing web:new", model.BuildProgress{Kind: push, Image: "web", Nth: 2, Images: 2}},
		{"3/4 Pushing web:new", model.BuildProgress{Kind: push, Image: "web", Nth: 2, Images: 2, Percent: 50}},
		{"4/4 Deploying", model.BuildProgress{Kind: model.StepApply}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestStepsOfOthers checks the steps of resources without images that hone builds: a Compose service and a local command.
func TestStepsOfOthers(t *testing.T) {
	s := newShop(t)
	kinds := func(r Result) (out []model.StepKind) {
		for _, step := range r.Steps {
			out = append(out, step.Kind)
		}
		return out
	}
	m := s.service("made")
	m.Compose.Build = &model.ComposeBuild{Context: s.project.Dir}
	if diff := cmp.Diff([]model.StepKind{model.StepBuild, model.StepStart}, kinds(s.update(m, nil))); diff != "" {
		t.Errorf("a service that Compose builds (-want +got):\n%s", diff)
	}
	for _, script := range []string{"true", "false"} {
		req := s.request(model.Manifest{Name: "gen", Local: &model.LocalTarget{Update: model.Cmd{Argv: []string{script}}}})
		r, _ := Local{}.BuildAndDeploy(t.Context(), req)
		if diff := cmp.Diff([]model.StepKind{model.StepRun}, kinds(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", script, diff)
		}
	}
}
