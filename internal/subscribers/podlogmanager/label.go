package podlogmanager

import (
	"strings"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// label sets the prefix for the lines of each container of a resource: the container where the pod has several, and the pod where the
// resource has several.
func (f *follower) label(pods []state.Pod) {
	var live []model.Pod
	for _, p := range pods {
		if p.Stands() && !p.Ended() {
			live = append(live, p.Pod)
		}
	}
	for _, pod := range pods {
		p := pod.Pod
		mark := podMark(p, live)
		for _, c := range p.AllContainers() {
			sp := f.places[place{p.UID, c.Name}]
			if sp == nil {
				continue
			}
			if text := prefix(p, c, mark); text != *sp.prefix.Load() {
				sp.prefix.Store(&text)
			}
		}
	}
}

// podMark returns the name that distinguishes a pod's lines from the lines of the resource's other pods, or "" if only one
// pod is live. A pod that a rollout replaces does not count as live.
func podMark(p model.Pod, live []model.Pod) string {
	names, workloads := map[string]bool{}, map[string]bool{workload(p): true}
	for _, o := range live {
		names[o.Name] = true // a container of Compose that is replaced has the name of the next one
		workloads[workload(o)] = true
	}
	w := workload(p)
	switch hashed := w != p.Controller && strings.HasPrefix(p.Name, p.Controller+"-"); {
	case len(names) < 2:
		return ""
	case hashed && len(workloads) > 1:
		return w + p.Name[len(p.Controller):]
	case hashed:
		return p.Name[len(p.Controller)+1:]
	}
	return p.Name
}

// workload returns the name of the workload that a pod belongs to. For a pod of a ReplicaSet that a Deployment made, it is
// the name of the Deployment, which the hash of the template follows.
func workload(p model.Pod) string {
	if p.Controller == "" {
		return p.Name
	}
	if i := strings.LastIndexByte(p.Controller, '-'); i > 0 && hash(p.Controller[i+1:]) {
		return p.Controller[:i]
	}
	return p.Controller
}

// hash reports whether a part of a name is a hash that Kubernetes made of a template: it has no vowels.
func hash(s string) bool {
	return len(s) >= 6 && len(s) <= 10 && strings.Trim(s, "bcdfghjklmnpqrstvwxz2456789") == ""
}

func prefix(p model.Pod, c model.Container, mark string) string {
	several := c.Init || len(p.Containers) > 1
	switch {
	case mark != "" && several:
		return "[" + mark + " " + c.Name + "] "
	case mark != "":
		return "[" + mark + "] "
	case several:
		return "[" + c.Name + "] "
	}
	return ""
}
