package server

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"

	"github.com/hone-dev/hone/internal/loop/shell"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
)

// shell serves GET /api/shell.
func (s *Subscriber) shell(src *source, w http.ResponseWriter, r *http.Request) {
	v, q := src.View(), r.URL.Query()
	place, err := shell.Of(v, q.Get("resource"))
	if err == nil {
		place, err = place.In(q.Get("pod"), q.Get("container"))
	}
	if err != nil {
		failBy(w, codeOf(err), err)
		return
	}
	out := api.Shell{Resource: string(place.Resource)}
	for _, c := range place.Containers {
		out.Containers = append(out.Containers, api.ShellContainer{Namespace: c.Namespace, Pod: c.Pod, Container: c.Name, ID: c.ID,
			Kind: string(c.Kind), PodReady: c.PodReady, Current: !c.Old, Live: c.Live})
	}
	switch {
	case place.Folder != nil:
		out.Folder = &api.ShellFolder{Dir: place.Folder.Dir}
		if overSocket(r) {
			out.Folder.Env = slices.Concat(s.options.Env, place.Folder.Env)
		}
	case place.Compose:
		out.Engine = state.TheEngine(v).Host
	default:
		c := state.ClusterOf(v, state.Resources.In(v).Value(string(place.Resource)).Manifest)
		out.Cluster = &api.ShellCluster{Context: c.Context, Server: c.Server, Kubeconfig: s.options.Kubeconfig}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

// overSocket reports whether a request came over the session's socket, which only its user can connect to.
func overSocket(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && at.Network() == "unix"
}
