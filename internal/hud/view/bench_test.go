package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// many is a session of n resources, all built and running.
func many(tb testing.TB, n int) store.View {
	s := hudtest.New()
	var tf model.Tiltfile
	for i := range n {
		name := model.ManifestName(fmt.Sprintf("service-%03d", i))
		tf.Manifests = append(tf.Manifests, model.Manifest{Name: name, AutoInit: true, Labels: []string{fmt.Sprintf("team-%d", i%7)},
			Images: []model.ImageTarget{{Ref: string(name), Docker: &model.DockerBuild{}}}, K8s: &model.K8sTarget{PodReadiness: model.PodWait}})
	}
	s.Open(tf)
	for i, m := range tf.Manifests {
		at := time.Duration(i+2) * time.Second
		s.Build(m.Name, 1, at, at+time.Millisecond, hudtest.Applied("image", model.ObjectID{Group: "apps", Kind: "Deployment", Name: string(m.Name)}))
		s.At(at+time.Second, state.PodChanged{Pod: hudtest.Pod(m.Name, at, true)})
		s.At(at+time.Second, state.ObjectsChanged{Objects: []model.ObjectStatus{{UID: "uid-" + string(m.Name), Resource: m.Name, Health: model.HealthCurrent}}})
	}
	return s.View(tb.Context())
}

func BenchmarkBuild300(b *testing.B) {
	v := many(b, 300)
	b.ReportAllocs()
	for b.Loop() {
		if got := Build(v, hudtest.ShopTime, 0); got.Header.Counts.Well != 301 {
			b.Fatalf("%+v", got.Header.Counts)
		}
	}
}
