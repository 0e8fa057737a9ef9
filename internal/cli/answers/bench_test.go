package answers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cli/answers"
	"github.com/hone-dev/hone/internal/cli/answers/answerstest"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// deployment is a Deployment as an object in JSON.
const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"app.kubernetes.io/managed-by":"hone"},"name":"%[1]s","namespace":"default"},` +
	`"spec":{"replicas":5,"selector":{"matchLabels":{"app":"%[1]s"}},"template":{"metadata":{"labels":{"app":"%[1]s"}},"spec":{"containers":[{"env":[` +
	`{"name":"PORT","value":"8080"},{"name":"LOG_LEVEL","value":"debug"}],"image":"registry.example.com/shop/%[1]s","name":"main","ports":[{"containerPort":8080}],` +
	`"readinessProbe":{"httpGet":{"path":"/healthz","port":8080}},"resources":{"limits":{"memory":"64Mi"}}}]}}}}`

// many is a session of n resources with pods each, all built and running.
func many(tb testing.TB, n, pods int) store.View {
	s := hudtest.New()
	var tf model.Tiltfile
	for i := range n {
		name := model.ManifestName(fmt.Sprintf("service-%03d", i))
		dir := "/home/dev/shop/" + string(name)
		tf.Manifests = append(tf.Manifests, model.Manifest{Name: name, AutoInit: true, Labels: []string{fmt.Sprintf("team-%d", i%7)},
			Images: []model.ImageTarget{{Ref: "registry.example.com/shop/" + string(name), Docker: &model.DockerBuild{Context: dir},
				LiveUpdate: model.LiveUpdate{Syncs: []model.Sync{{LocalPath: dir, RemotePath: "/app"}}}, Watch: model.WatchSpec{Paths: []string{dir}}}},
			K8s: &model.K8sTarget{PodReadiness: model.PodWait, Objects: []model.K8sObject{{APIVersion: "apps/v1", Kind: "Deployment", Name: string(name),
				JSON: fmt.Sprintf(deployment, name)}}}})
	}
	s.Open(tf)
	for i, m := range tf.Manifests {
		at := time.Duration(i+2) * time.Second
		id := model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: string(m.Name)}
		for b := range 3 {
			s.Build(m.Name, b+1, at, at+time.Millisecond, hudtest.Applied("image", id), "main.go")
		}
		for p := range pods {
			pod := hudtest.Pod(m.Name, at, true)
			pod.UID, pod.Name = fmt.Sprintf("%s-%d", pod.UID, p), fmt.Sprintf("%s-%d", pod.Name, p)
			s.At(at+time.Second, state.PodChanged{Pod: pod})
		}
		s.At(at+time.Second, state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: id, UID: "uid-" + string(m.Name), Resource: m.Name, Health: model.HealthCurrent}}})
	}
	return s.View(tb.Context())
}

// BenchmarkStatus1000 asks a session over a connection how it is.
func BenchmarkStatus1000(b *testing.B) {
	const resources, pods = 1000, 5
	c := answerstest.Serve(b, many(b, resources, pods), hudtest.ShopTime, nil)
	b.ReportAllocs()
	for b.Loop() {
		if got, err := answers.AskStatus(b.Context(), c); err != nil || got.OK != resources+1 {
			b.Fatal(got, err)
		}
	}
}

// BenchmarkWhy1000 asks a session of that size why a resource is as it is.
func BenchmarkWhy1000(b *testing.B) {
	const resources, pods = 1000, 5
	c := answerstest.Serve(b, many(b, resources, pods), hudtest.ShopTime, nil)
	b.ReportAllocs()
	for b.Loop() {
		if got, err := answers.AskWhy(b.Context(), c, "service-500"); err != nil || len(got) == 0 {
			b.Fatal(got, err)
		}
	}
}
