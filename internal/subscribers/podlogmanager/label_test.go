package podlogmanager

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

func TestPodMark(t *testing.T) {
	pod := func(controller, name string) model.Pod {
		return model.Pod{UID: name, Name: name, Controller: controller}
	}
	a, b := pod("web-5c7d9f6b8", "web-5c7d9f6b8-x2v1q"), pod("web-5c7d9f6b8", "web-5c7d9f6b8-bcdfg")
	job := pod("web-worker-66d9c4bd", "web-worker-66d9c4bd-zz8kl")
	db0, db1 := pod("db", "db-0"), pod("db", "db-1")
	one, two := pod("", "shop-web-1"), pod("", "shop-web-2")
	next := one
	next.UID = "other"
	for _, tt := range []struct {
		name string
		p    model.Pod
		live []model.Pod
		want string
	}{
		{"one pod", a, []model.Pod{a}, ""},
		{"replicas", a, []model.Pod{a, b}, "x2v1q"},
		{"two workloads", job, []model.Pod{a, job}, "web-worker-zz8kl"},
		{"replicas of two workloads", b, []model.Pod{a, b, job}, "web-bcdfg"},
		{"a rollout of one pod", pod("web-7788995566", "web-7788995566-old42"), []model.Pod{a}, ""},
		{"a rollout of two pods", pod("web-7788995566", "web-7788995566-old42"), []model.Pod{a, b}, "old42"},
		{"a stateful set", db0, []model.Pod{db0, db1}, "db-0"},
		{"compose", one, []model.Pod{one}, ""},
		{"compose, replaced", one, []model.Pod{one, next}, ""},
		{"compose, scaled", two, []model.Pod{one, two}, "shop-web-2"},
		{"the last has ended", a, nil, ""},
	} {
		if got := podMark(tt.p, tt.live); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestReplicasAreToldApart adds and removes a replica while the stream of the other is open.
func TestReplicasAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("web"))
		set := func(name, id string, deleting bool) {
			e := k8stest.RunningPod("default", name)
			e.Pod.Resource, e.Pod.Containers, e.Pod.Controller, e.Pod.Deleting = "web", []model.Container{running("main", id)}, "web-5c7d9f6b8", deleting
			f.cluster.SetPod(e)
			f.Then(state.PodChanged{Pod: state.Pod{Pod: e.Pod, Current: true}})
			synctest.Wait()
		}
		a, b := "web-5c7d9f6b8-aaaaa", "web-5c7d9f6b8-bbbbb"
		set(a, "c1", false)
		f.say(a, "main", "one")
		set(b, "c2", false)
		f.say(b, "main", "two")
		f.say(a, "main", "three")
		set(b, "c2", true)
		f.say(a, "main", "four")
		time.Sleep(time.Second)
		f.want("a replica came and went", a+"/main, "+b+"/main", "one", "[bbbbb] two", "[aaaaa] three", "four")
	})
}
