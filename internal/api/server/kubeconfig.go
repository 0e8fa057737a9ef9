package server

import (
	"maps"
	"net/http"
	"slices"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// kubeconfig handles POST /api/kubeconfig. It asks the cluster, which may take a while.
func (s *Subscriber) kubeconfig(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.KubeconfigRequest
	switch {
	case !decode(w, r, &req):
		return
	case s.options.ReadOnly == nil:
		failBy(w, http.StatusConflict, problem.New("this session has no cluster", "start it with a kubeconfig"))
		return
	case req.ForMs < api.LeastKubeconfig || req.ForMs > api.LongestToken:
		fail(w, http.StatusBadRequest, "for: a kubeconfig is valid for 10 minutes up to 720 hours")
		return
	}
	out, err := s.options.ReadOnly(r.Context(), namespacesOf(src.View()), req.ForMs.Duration())
	if err != nil {
		failBy(w, http.StatusConflict, err)
		return
	}
	respond(w, out)
}

// namespacesOf returns the namespaces of the session's own cluster that hold objects of resources, in order.
func namespacesOf(v store.View) []string {
	all := map[string]bool{}
	for e := range state.Updates.In(v).Refs() {
		for _, o := range e.Value.Applied {
			if o.Namespace != "" && o.Cluster == "" {
				all[o.Namespace] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}
