package portforwardcontroller

import (
	"sync"

	"github.com/hone-dev/hone/internal/cluster/portforward"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// targets holds the pod of each port, and the open forwards to notify when it changes.
type targets struct {
	mu       sync.Mutex
	current  map[port]*portforward.Target
	forwards map[port]*portforward.Forward
	staying  map[string]bool // the pods that are not being deleted, by "namespace/name"
}

func (t *targets) set(v store.View, want map[port]port) {
	pods := state.PodsByResource.In(v)
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.current)
	clear(t.staying)
	for p := range want {
		for _, pod := range pods[p.resource].Values() {
			if !pod.Deleting {
				t.staying[pod.Namespace+"/"+pod.Name] = true
			}
		}
		t.current[p] = target(p, pods[p.resource].Values())
		if f := t.forwards[p]; f != nil {
			f.SetTarget(t.current[p])
		}
	}
}

func (t *targets) open(p port, f *portforward.Forward) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forwards[p] = f
	f.SetTarget(t.current[p])
}

// leaving reports whether a pod is being deleted, or gone.
func (t *targets) leaving(to portforward.Target) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.staying[to.Namespace+"/"+to.Pod]
}

func (t *targets) closed(p port) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.forwards, p)
}

// target picks the pod that connections go to: it prefers current pods to older ones, ready pods to others, and staying
// pods to pods that are being deleted.
func target(p port, pods []state.Pod) *portforward.Target {
	best, score := -1, 0
	for i, pod := range pods {
		n := 0
		for _, good := range []struct {
			is     bool
			weight int
		}{{pod.Phase == "Running", 8}, {!pod.Deleting, 4}, {pod.Current, 2}, {pod.Ready, 1}} {
			if good.is {
				n += good.weight
			}
		}
		if pod.Phase == "Running" && n > score {
			best, score = i, n
		}
	}
	if best < 0 {
		return nil
	}
	pod := pods[best].Pod
	return &portforward.Target{Namespace: pod.Namespace, Pod: pod.Name, Port: portforward.ResolvePort(p.spec, pod)}
}
