package buildcontroller

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// engine carries out builds as the chain of builders does: it makes the images that are dirty or have no result, and deploys them.
type engine struct {
	made map[string]model.ImageTarget
	// runs is the state of the cluster: the images, and the declaration of the objects.
	runs    map[string]model.ImageTarget
	objects []model.K8sObject
}

// end ends a build. If it fails, that is after it has made the images, and before it applies anything.
func (e *engine) end(c *call, fails bool) outcome {
	o := outcome{result: buildanddeploy.Result{Mode: "image", Images: map[string]model.ImageResult{}}}
	for _, im := range c.req.Manifest.Images {
		if _, have := c.req.Results[im.Ref]; !have || c.req.Dirty[im.Ref] {
			e.made[im.Ref] = im
			o.result.Images[im.Ref] = model.ImageResult{Local: im.Ref + ":1", Cluster: im.Ref + ":1", StartedAt: c.req.StartedAt}
		}
	}
	if fails {
		o.err = errors.New("apply deployment/a: no")
		return o
	}
	e.runs, e.objects = map[string]model.ImageTarget{}, c.req.Manifest.K8s.Objects
	for ref, im := range e.made {
		e.runs[ref] = im
	}
	o.result.Deployed = true
	return o
}

// wait is a way in which a resource waits for the user, or does not.
type wait struct {
	mode model.TriggerMode
	asks bool
	// then makes a resource wait that is being updated, and goes ends the wait.
	then, goes []store.Action
}

// redeclared is a resource that is declared in another way while it is being updated.
type redeclared struct {
	what, how string
	change    func(*model.Manifest)
	wait      wait
	// first is set for its first update, and commits for an update that has begun to change the cluster.
	first, commits bool
	// end is the end of the update.
	end string
}

func (c redeclared) String() string {
	return fmt.Sprintf("%s/%s/first=%v/commits=%v/%s", c.what, c.how, c.first, c.commits, c.end)
}

// declaration is the resource, as it was declared first or after the change.
func (c redeclared) declaration(changed bool) model.Manifest {
	m := statetest.K8s("a", statetest.Image("base"), statetest.Image("a"))
	m.TriggerMode, m.Images[1].DependsOn = c.wait.mode, []string{"base"}
	m.Images[0].LiveUpdate, m.Images[1].LiveUpdate = model.LiveUpdate{}, model.LiveUpdate{}
	if changed {
		c.change(&m)
	}
	return m
}

// allRedeclared are all combinations.
func allRedeclared() (all []redeclared) {
	arg := "2"
	changes := map[string]func(*model.Manifest){
		"Dockerfile": func(m *model.Manifest) {
			m.Images[1].Docker = &model.DockerBuild{Context: "/src/a", Contents: "FROM other"}
		},
		"build_args": func(m *model.Manifest) {
			m.Images[1].Docker = &model.DockerBuild{Context: "/src/a", BuildArgs: map[string]*string{"V": &arg}}
		},
		"entrypoint": func(m *model.Manifest) { m.Images[1].Entrypoint = []string{"other"} },
		"base image": func(m *model.Manifest) {
			m.Images[0].Docker = &model.DockerBuild{Context: "/src/base", Target: "other"}
		},
		"another way": func(m *model.Manifest) { m.Images[1].Docker, m.Images[1].Custom = nil, &model.CustomBuild{} },
		"objects":     func(m *model.Manifest) { m.K8s.Objects[0].JSON = `{"name":"a","other":true}` },
	}
	waits := map[string]wait{
		"automatic": {},
		"manual":    {mode: model.TriggerManual, goes: []store.Action{state.ResourcesTriggered{Names: []model.ManifestName{"a"}}}},
		"paused":    {then: []store.Action{state.SessionPaused{}}, goes: []store.Action{state.SessionResumed{}}},
		"asks":      {asks: true, goes: []store.Action{state.ChangesConfirmed{Names: []model.ManifestName{"a"}}}},
	}
	for what, change := range changes {
		for how, wait := range waits {
			for _, end := range []string{"succeeds", "fails", "ends when it is cancelled", "was reverted"} {
				for i := range 4 {
					all = append(all, redeclared{what: what, how: how, change: change, wait: wait, first: i%2 == 0, commits: i/2 == 0, end: end})
				}
			}
		}
	}
	return all
}

// TestRedeclaredWhileItBuilds declares a resource in another way while it is being updated, in all combinations. In the end, the
// last declaration runs, and an update for the first declaration that has changed nothing yet is cancelled if another replaces it
// at once.
func TestRedeclaredWhileItBuilds(t *testing.T) {
	for _, c := range allRedeclared() {
		t.Run(c.String(), func(t *testing.T) { synctest.Test(t, c.run) })
	}
}

func (c redeclared) run(t *testing.T) {
	session := statetest.Session
	session.Session.Confirmation.Asked = c.wait.asks
	f := startIn(t, session, Options{}, c.declaration(false))
	f.builder.stubborn = c.end != "ends when it is cancelled"
	world := &engine{made: map[string]model.ImageTarget{}}
	f.Then(c.wait.goes...)
	if !c.first {
		f.finish("a", world.end(f.builder.call("a"), false))
		f.Then(statetest.Change("a", "/src/a/x"))
		f.Then(c.wait.goes...)
	}
	build := f.builder.call("a")
	if c.commits {
		build.req.Commit()
	}
	f.Then(c.wait.then...)
	f.Then(statetest.Loaded(c.declaration(true)))
	if got, want := build.ctx.Err() != nil, c.how == "automatic" && !c.commits; got != want {
		t.Errorf("the update is cancelled: %v, want %v", got, want)
	}
	if c.end == "was reverted" {
		f.Then(statetest.Loaded(c.declaration(false)))
	}
	if f.builder.call("a") == build {
		f.finish("a", world.end(build, c.end == "fails"))
	}
	f.Then(c.wait.goes...)
	for n := 0; f.builder.call("a") != nil; n++ {
		if n > 3 {
			t.Fatal("updates do not end")
		}
		f.finish("a", world.end(f.builder.call("a"), false))
	}
	m := c.declaration(c.end != "was reverted")
	if !reflect.DeepEqual(world.objects, m.K8s.Objects) {
		t.Errorf("objects are deployed as %v, want %v", world.objects, m.K8s.Objects)
	}
	for _, im := range m.Images {
		if !reflect.DeepEqual(world.runs[im.Ref], im) {
			t.Errorf("image %s runs as built from %+v, want %+v", im.Ref, world.runs[im.Ref], im)
		}
	}
	u := f.update("a")
	if last, _ := u.Last(); last.Err != "" || !u.Declared.IsZero() {
		t.Errorf("in the end: error %q, declared %v", last.Err, u.Declared)
	}
}
