// Package statetest makes snapshots of hone's state from actions, for tests of the code that reads them.
package statetest

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Epoch is the time of the first action of a State; each further one comes a second later.
var Epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// State is a store whose clock stands still between actions. It is for one goroutine.
type State struct {
	Now   time.Time
	store *store.Store
}

// New returns the state after the given actions.
func New(actions ...store.Action) *State {
	s := &State{Now: Epoch}
	return s.Then(actions...)
}

// Then reduces further actions, one snapshot each, and returns s.
func (s *State) Then(actions ...store.Action) *State {
	for _, a := range actions {
		if s.store == nil {
			s.store = store.New(state.Schema, store.WithClock(func() time.Time { return s.Now }))
		}
		s.store.Dispatch(a)
		s.store.Step()
		s.Now = s.Now.Add(time.Second)
	}
	return s
}

// Hold makes a subscriber hold all resources that are declared from now on. It does not release them.
func (s *State) Hold(subscriber string) *State {
	store.NewRuntime(s.store, holder(subscriber))
	return s
}

// View returns everything.
func (s *State) View() store.View { return s.store.Snapshot().All() }

// Snapshot returns the newest snapshot.
func (s *State) Snapshot() *store.Snapshot { return s.store.Snapshot() }

// Session is a plain "hone up".
var Session = state.SessionStarted{Session: state.Session{Command: state.CommandUp, Tiltfile: "/src/Tiltfile", UpdateMode: model.UpdateAuto}}

// Loaded evaluates a Tiltfile that declares the given manifests.
func Loaded(manifests ...model.Manifest) state.TiltfileLoaded {
	return state.TiltfileLoaded{Result: model.Tiltfile{Manifests: manifests, Update: model.DefaultUpdateSettings, CI: model.DefaultCISettings}}
}

// K8s is a resource of one Deployment of the same name, with the given images.
func K8s(name string, images ...model.ImageTarget) model.Manifest {
	return model.Manifest{Name: model.ManifestName(name), AutoInit: true, Images: images, K8s: &model.K8sTarget{
		PodReadiness: model.PodWait,
		Objects:      []model.K8sObject{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, JSON: `{"name":"` + name + `"}`}},
	}}
}

// Local is a resource with an update command.
func Local(name string) model.Manifest {
	return model.Manifest{Name: model.ManifestName(name), AutoInit: true,
		Local: &model.LocalTarget{Update: model.Cmd{Argv: []string{"true"}}}}
}

// Image is an image built from /src/REF, with a live update that syncs it to /app.
func Image(ref string) model.ImageTarget {
	dir := "/src/" + ref
	return model.ImageTarget{Ref: ref, Docker: &model.DockerBuild{Context: dir},
		LiveUpdate: model.LiveUpdate{Syncs: []model.Sync{{LocalPath: dir, RemotePath: "/app"}}},
		Watch:      model.WatchSpec{Paths: []string{dir}}}
}

// Change is a change of files of an image.
func Change(ref string, paths ...string) state.FilesChanged {
	return state.FilesChanged{Changes: []state.FileChange{{Target: model.ImageID(ref), Paths: paths}}}
}

// Connected reports that cluster and engine answer.
func Connected() []store.Action {
	return []store.Action{
		state.ClusterReported{Cluster: model.Cluster{Context: "hone-dev", Namespace: "default", Product: model.ProductHone}, Connected: true},
		state.EngineReported{Connected: true},
	}
}

// Eu is the context of the cluster that OnEu declares.
const Eu = "admin@eu"

// OnEu declares the cluster "eu" in a Tiltfile, and deploys resources to it.
func OnEu(l state.TiltfileLoaded, names ...string) state.TiltfileLoaded {
	l.Result.Clusters = []model.ClusterDeclaration{{Name: "eu", Context: Eu, Namespace: "shop"}}
	for i, m := range l.Result.Manifests {
		if slices.Contains(names, string(m.Name)) {
			k8s := *m.K8s
			k8s.Cluster = Eu
			l.Result.Manifests[i].K8s = &k8s
		}
	}
	return l
}

// Begin starts a build of a resource on the newest snapshot. It takes a slot unless the resource has only objects.
func (s *State) Begin(name string) *State {
	u, m := state.Updates.In(s.View()).Value(name), state.Resources.In(s.View()).Value(name).Manifest
	slot := !m.IsK8s() || len(m.Images) > 0 || m.K8s.CustomDeploy != nil
	return s.Then(state.BuildStarted{Resource: model.ManifestName(name), Serial: u.Serial + 1, At: s.Snapshot().At, Slot: slot})
}

// Finish ends the running build of a resource; change, if not nil, fills in the result.
func (s *State) Finish(name string, change func(*state.BuildCompleted)) *State {
	u := state.Updates.In(s.View()).Value(name)
	done := state.BuildCompleted{Resource: model.ManifestName(name), Serial: u.Serial, At: s.Now}
	if change != nil {
		change(&done)
	}
	return s.Then(done)
}

// Deployed fills in a successful deploy of a Deployment with the resource's images.
func (s *State) Deployed(name string) *State {
	m := state.Resources.In(s.View()).Value(name).Manifest
	return s.Begin(name).Finish(name, func(b *state.BuildCompleted) {
		b.Deployed = true
		b.Images = map[string]model.ImageResult{}
		for _, im := range m.Images {
			b.Images[im.Ref] = model.ImageResult{Local: im.Ref + ":1", Cluster: im.Ref + ":1", StartedAt: state.Updates.In(s.View()).Value(name).Current.StartedAt}
		}
		if m.IsK8s() {
			b.Mode = "image"
			b.Applied = []model.AppliedObject{{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: name},
				APIVersion: "apps/v1", UID: "uid-" + name, TemplateHash: "hash-" + name}}
		}
	})
}

// Healthy reports that the Deployment of a resource is rolled out.
func Healthy(name string) state.ObjectsChanged {
	return state.ObjectsChanged{Objects: []model.ObjectStatus{{
		ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: name},
		UID:      "uid-" + name, Resource: model.ManifestName(name), Health: model.HealthCurrent}}}
}

// Pod is a running, ready pod of a resource's newest deploy, with one container of the given id and image.
func Pod(resource, pod, container, image string) state.PodChanged {
	return state.PodChanged{Pod: state.Pod{Current: true, Pod: model.Pod{Namespace: "default", Name: pod, UID: "uid-" + pod,
		Resource: model.ManifestName(resource), Phase: "Running", Status: "Running", Ready: true,
		Containers: []model.Container{{Name: "main", ID: container, Runtime: "containerd", Image: image, Ready: true, State: model.ContainerRunning}}}}}
}
