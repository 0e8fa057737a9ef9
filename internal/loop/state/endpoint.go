package state

import (
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// Endpoint is an address at which a resource answers. Name may be empty.
type Endpoint struct{ URL, Name string }

// Endpoints returns the addresses of a resource, each once: its forwards in the order of the Tiltfile, its Services, its links, and the
// ports that Compose publishes.
func Endpoints(m model.Manifest, forwards []Forward, services []model.Service, pods []Pod) []Endpoint {
	var out []Endpoint
	add := func(url, name string) {
		if url != "" && !slices.ContainsFunc(out, func(e Endpoint) bool { return e.URL == url }) {
			out = append(out, Endpoint{url, name})
		}
	}
	links := m.Links
	if m.K8s != nil {
		place := func(f Forward) int { return slices.Index(m.K8s.PortForwards, f.Spec) }
		forwards = slices.SortedStableFunc(slices.Values(forwards), func(a, b Forward) int { return place(a) - place(b) })
		links = slices.Concat(links, m.K8s.Links)
	}
	if m.Local != nil {
		links = slices.Concat(links, m.Local.Links)
	}
	for _, f := range forwards {
		add(f.URL, f.Spec.Name)
	}
	for _, s := range services {
		add(s.URL, s.Name)
	}
	for _, l := range links {
		add(l.URL, l.Name)
	}
	for _, p := range Published(m, pods) {
		add(p.URL(), p.Name)
	}
	return out
}

// Fails reports whether a forward is broken. One whose pod is not ready yet only waits. A port that could not be opened has no pod.
func (f Forward) Fails(pods []Pod) bool {
	if f.State != ForwardFailed || f.Pod == "" {
		return f.State == ForwardFailed
	}
	return slices.ContainsFunc(pods, func(p Pod) bool {
		return p.Ready && !p.Deleting && strings.HasPrefix(f.Pod, p.Namespace+"/"+p.Name+":")
	})
}
