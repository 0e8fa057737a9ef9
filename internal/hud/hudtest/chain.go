package hudtest

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// Chain returns a scene in which one failure has caused others: db is in a crash loop and runs again at the moment, api and web
// have crashed since, e2e has failed, and lint waits.
func Chain() *Scene {
	s := New()
	sec := time.Second
	var tf model.Tiltfile
	for _, r := range []struct {
		name  model.ManifestName
		local bool
		deps  []model.ManifestName
	}{
		{name: "db"}, {name: "api", deps: []model.ManifestName{"db"}}, {name: "web", deps: []model.ManifestName{"api"}},
		{name: "e2e", local: true, deps: []model.ManifestName{"web"}}, {name: "lint", local: true, deps: []model.ManifestName{"web"}},
	} {
		m := model.Manifest{Name: r.name, AutoInit: true, ResourceDeps: r.deps, K8s: &model.K8sTarget{PodReadiness: model.PodWait}}
		if r.local {
			m.K8s, m.Local = nil, &model.LocalTarget{}
		}
		tf.Manifests, tf.Enabled = append(tf.Manifests, m), append(tf.Enabled, r.name)
	}
	s.Open(tf)
	for i, n := range []model.ManifestName{"db", "api", "web"} {
		s.Build(n, 1, sec, 2*sec, Applied("image", model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: string(n)}))
		p := troubled("crash")
		p.Resource, p.Name, p.UID = n, string(n)+"-7c9d-x2v1", "pod-"+string(n)
		p.Containers[0].ID, p.Containers[0].LastID = "c-"+string(n), "c-"+string(n)
		s.At(36*time.Minute+time.Duration(i)*10*sec, state.PodChanged{Pod: p})
	}
	s.Build("e2e", 1, 38*time.Minute, 38*time.Minute+2*sec, state.BuildCompleted{Mode: "local", Err: "npm test: exit code 1"})
	p := Pod("db", 3*sec, true)
	c := &p.Containers[0]
	c.StartedAt, c.Restarts, c.ID = Start.Add(40*time.Minute+58*sec), 5, "c-db-5"
	c.LastReason, c.LastExitCode, c.LastID = "Error", 1, "c-db"
	c.LastStartedAt, c.LastFinishedAt = Start.Add(40*time.Minute+16*sec), Start.Add(40*time.Minute+18*sec)
	s.At(40*time.Minute+58*sec, state.PodChanged{Pod: p})
	return s
}
