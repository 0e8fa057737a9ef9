package buildcontroller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// TestBuildAheadThenDeploy follows a resource that waits for another one.
func TestBuildAheadThenDeploy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := building("web")
		web.ResourceDeps = []model.ManifestName{"db"}
		f := start(t, Options{}, statetest.K8s("db"), web)
		f.running("db web")
		if !f.builder.call("web").req.BuildOnly {
			t.Fatal("it would be deployed")
		}
		f.finish("db", applied("db", outcome{}))
		f.finish("web", builtAhead(f.builder.call("web"), map[string]int{}))
		f.running("")
		f.Then(statetest.Healthy("db"), state.ResourcesReady{Names: []model.ManifestName{"db"}})
		f.running("web")
		req := f.builder.call("web").req
		if req.BuildOnly || req.Dirty["web"] || req.Results["web"].Local != "web:1" {
			t.Errorf("the deploy has %+v, dirty %v", req.Results, req.Dirty)
		}
		f.finish("web", outcome{result: buildanddeploy.Result{Mode: "deploy", Deployed: true}})
		if u := f.update("web"); !u.Succeeded || len(u.Builds) != 2 || !u.Builds[1].BuildOnly || u.Builds[1].Deployed {
			t.Errorf("%+v", u.Builds)
		}
	})
}

// builtAhead is the outcome of a build of the images that have no result, or lack files. numbers counts the builds of each image.
func builtAhead(c *call, numbers map[string]int) outcome {
	r := buildanddeploy.Result{Mode: "image", Images: map[string]model.ImageResult{}}
	for _, im := range c.req.Manifest.Images {
		if _, have := c.req.Results[im.Ref]; have && !c.req.Dirty[im.Ref] {
			continue
		}
		numbers[im.Ref]++
		name := fmt.Sprintf("%s:%d", im.Ref, numbers[im.Ref])
		r.Images[im.Ref] = model.ImageResult{Local: name, Cluster: name, StartedAt: c.req.StartedAt}
	}
	return outcome{result: r}
}

// applied is the outcome of a build whose Deployment was applied.
func applied(name string, o outcome) outcome {
	o.result.Mode, o.result.Deployed = "image", true
	o.result.Applied = []model.AppliedObject{{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: name}, APIVersion: "apps/v1", UID: "uid-" + name}}
	return o
}

// TestBuildAheadOfRandomGraphs builds and deploys random graphs of resources, while files change and builds end in any order. Each resource
// is deployed with the newest image of it, which has all changes from before its build, and only then if all that it waits for is ready.
func TestBuildAheadOfRandomGraphs(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomGraph(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func randomGraph(t *testing.T, random *rand.Rand) {
	const n = 8
	var all []model.Manifest
	for i := range n {
		m := building(fmt.Sprintf("r%d", i))
		for j := range i {
			if random.IntN(3) == 0 {
				m.ResourceDeps = append(m.ResourceDeps, all[j].Name)
			}
		}
		all = append(all, m)
	}
	f := start(t, Options{}, all...)
	numbers, ready, ahead := map[string]int{}, map[model.ManifestName]bool{}, 0
	changed := map[string]time.Time{} // the last change of the files of an image
	var deployedOnes []string
	for step := 0; len(ready) < n; step++ {
		if step > 2000 {
			t.Fatalf("after %d steps, only %d are ready, and %s run", step, len(ready), f.builder.names())
		}
		time.Sleep(time.Second) // virtual, so that no two things happen at the same time
		running := strings.Fields(f.builder.names())
		if random.IntN(4) == 0 && step < 100 {
			name := string(all[random.IntN(n)].Name)
			changed[name] = time.Now()
			f.Then(statetest.Change(name, "/src/"+name+"/x"))
			continue
		}
		if len(running) == 0 {
			f.Then() // let retries and timers fire
			continue
		}
		name := running[random.IntN(len(running))]
		c := f.builder.call(name)
		o := builtAhead(c, numbers)
		if c.req.BuildOnly {
			ahead++
			f.finish(name, o)
			continue
		}
		for _, dep := range c.req.Manifest.ResourceDeps {
			if !ready[dep] {
				t.Errorf("%s is deployed before %s is ready", name, dep)
			}
		}
		image, isNew := o.result.Images[name]
		if !isNew {
			image = c.req.Results[name]
		}
		if want := fmt.Sprintf("%s:%d", name, numbers[name]); image.Local != want {
			t.Errorf("%s is deployed with %s, and %s is the newest", name, image.Local, want)
		}
		if at := changed[name]; at.After(image.StartedAt) && !at.After(c.req.StartedAt) {
			t.Errorf("%s is deployed with an image from before the last change", name)
		}
		f.finish(name, applied(name, o))
		if !slices.Contains(deployedOnes, name) {
			deployedOnes = append(deployedOnes, name)
			f.Then(statetest.Healthy(name), state.ResourcesReady{Names: []model.ManifestName{model.ManifestName(name)}})
		}
		ready[model.ManifestName(name)] = true
	}
	if ahead == 0 && slices.ContainsFunc(all, func(m model.Manifest) bool { return len(m.ResourceDeps) > 0 }) {
		t.Error("nothing was built ahead")
	}
}
