package hudtest

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Drifted returns the shop after others have changed it in the cluster: fields of api's objects with several tools, an object of web
// was deleted so often that hone does not make it again, one of migrate was made again.
func Drifted() *Scene {
	s := Shop()
	id := func(group, kind, name string) model.ObjectID {
		return model.ObjectID{Group: group, Kind: kind, Namespace: "default", Name: name}
	}
	deployment, settings, token := id("apps", "Deployment", "api"), id("", "ConfigMap", "api-settings"), id("", "Secret", "api-token")
	account, job := id("", "ServiceAccount", "web"), id("batch", "Job", "migrate")
	at := 40*time.Minute + 50*time.Second
	s.Build("api", 3, at, at+100*time.Millisecond, Applied("image", deployment, settings, token))
	s.Build("web", 3, at, at+100*time.Millisecond, Applied("image", account))
	s.Build("migrate", 2, at, at+100*time.Millisecond, Applied("image", job))
	when := func(seconds int) *time.Time {
		t := Start.Add(40*time.Minute + time.Duration(seconds)*time.Second)
		return &t
	}
	s.At(at+2*time.Second,
		state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: deployment, UID: "uid-api", Resource: "api", Health: model.HealthCurrent},
			{ObjectID: job, UID: "uid-migrate", Resource: "migrate", Health: model.HealthCurrent}}},
		state.ResourceDrifted{Resource: "api", Objects: []state.ObjectDrift{
			{Object: settings, What: state.DriftChanged, Fields: []api.FieldChange{
				{Path: "data.flags", Class: api.ChangeDrift, From: "fast\nbold\nquiet\n", To: "fast\nshy\nquiet\n", Manager: "kubectl-edit", At: when(51)},
				{Path: `data["log.level"]`, Class: api.ChangeDrift, To: "info"},
			}},
			{Object: deployment, What: state.DriftChanged, Fields: []api.FieldChange{
				{Path: "spec.replicas", Class: api.ChangeDrift, From: int64(3), To: int64(1), Manager: "kube-controller-manager", At: when(50)},
				{Path: "spec.template.spec.containers[name=main].image", Class: api.ChangeDrift, From: "registry.example.com/platform/team/api:v2-debug",
					To: "registry.example.com/platform/team/api:tilt-1f2e3d4c5b6a7988", Manager: "kubectl-set", At: when(51)},
			}},
			{Object: token, What: state.DriftChanged, Fields: []api.FieldChange{{Path: "data.password", Class: api.ChangeDrift, Masked: true, Manager: "kubectl-patch", At: when(51)}}},
		}},
		state.ResourceDrifted{Resource: "web", Objects: []state.ObjectDrift{{Object: account, UID: "uid-web", What: state.DriftDeleted, Reason: "again and again"}}},
		state.ResourceDrifted{Resource: "migrate", Objects: []state.ObjectDrift{{Object: job, What: state.DriftRemade, Reason: `it exists already: "argocd" wrote it`}}})
	return s
}
