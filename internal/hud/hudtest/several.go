package hudtest

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// Eu is the context of the declared cluster of Several.
const Eu = "admin@eu-west"

// Several is the shop in a session on two clusters: web and mailer are on the declared cluster eu, all others on the session's own.
func Several() *Scene {
	tf := shopTiltfile()
	tf.Clusters = []model.ClusterDeclaration{{Name: "eu", Context: Eu, Namespace: "shop"}}
	for i, m := range tf.Manifests {
		if m.Name == "web" || m.Name == "mailer" {
			tf.Manifests[i].K8s.Cluster = Eu
		}
	}
	s := New()
	s.Open(tf)
	s.At(time.Second, state.ClusterReported{On: Eu, Cluster: model.Cluster{Context: Eu, Namespace: "shop"}, Connected: true})
	return s.shop()
}
