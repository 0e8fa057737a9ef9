package rest

import (
	"net/http"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// discover responds to a discovery request for the given parts of a path.
func (h *Handler) discover(a *answer, parts []string) {
	aggregated := a.as == "APIGroupDiscoveryList"
	switch path := strings.Join(parts, "/"); {
	case path == "healthz" || path == "livez" || path == "readyz":
		a.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = a.w.Write([]byte("ok"))
	case path == "version":
		a.sendValue(http.StatusOK, h.versionInfo())
	case path == "api" && aggregated:
		h.sendAggregated(a, []apidiscoveryv2.APIGroupDiscovery{})
	case path == "apis" && aggregated:
		h.sendAggregated(a, h.aggregated())
	case path == "api":
		a.sendValue(http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{}})
	case path == "apis":
		a.sendValue(http.StatusOK, metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: h.groups()})
	case len(parts) == 2:
		h.sendGroup(a, parts[1])
	case len(parts) == 3:
		h.sendResources(a, parts[1], parts[2])
	default:
		a.fail(notThere())
	}
}

func notThere() error {
	return statusOf(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
}

func (h *Handler) versionInfo() version.Info {
	major, rest, _ := strings.Cut(h.version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return version.Info{Major: major, Minor: minor, GitVersion: "v" + h.version, GitTreeState: "clean", Compiler: "gc"}
}

// groups returns every group with its versions, in the order of the kinds.
func (h *Handler) groups() []metav1.APIGroup {
	groups := []metav1.APIGroup{}
	for _, k := range h.kinds {
		v := metav1.GroupVersionForDiscovery{GroupVersion: k.Group + "/" + k.Version, Version: k.Version}
		i := slices.IndexFunc(groups, func(g metav1.APIGroup) bool { return g.Name == k.Group })
		switch {
		case i < 0:
			groups = append(groups, metav1.APIGroup{Name: k.Group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
		case !slices.Contains(groups[i].Versions, v):
			groups[i].Versions = append(groups[i].Versions, v)
		}
	}
	return groups
}

func (h *Handler) sendGroup(a *answer, name string) {
	for _, g := range h.groups() {
		if g.Name == name {
			g.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			a.sendValue(http.StatusOK, g)
			return
		}
	}
	a.fail(notThere())
}

func (h *Handler) sendResources(a *answer, group, version string) {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group + "/" + version}
	for _, k := range h.kinds {
		if k.Group != group || k.Version != version {
			continue
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: k.Plural, SingularName: singular(k), Kind: k.Name, Verbs: k.verbs(),
			ShortNames: k.ShortNames, Categories: categories(k)})
		if k.Write != nil {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: k.Plural + "/status", Kind: k.Name, Verbs: statusVerbs})
		}
	}
	if list.APIResources == nil {
		a.fail(notThere())
		return
	}
	a.sendValue(http.StatusOK, list)
}

// statusVerbs are the verbs for the status subresource.
var statusVerbs = metav1.Verbs{"get", "patch", "update"}

func singular(k *kind) string { return strings.ToLower(k.Name) }

// categories let users request all kinds of a group at once.
func categories(k *kind) []string {
	group, _, _ := strings.Cut(k.Group, ".")
	return []string{group}
}

// aggregated returns every group with all its versions and resources.
func (h *Handler) aggregated() []apidiscoveryv2.APIGroupDiscovery {
	var out []apidiscoveryv2.APIGroupDiscovery
	for _, g := range h.groups() {
		d := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.Name}}
		for _, v := range g.Versions {
			d.Versions = append(d.Versions, apidiscoveryv2.APIVersionDiscovery{Version: v.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
				Resources: h.aggregatedResources(g.Name, v.Version)})
		}
		out = append(out, d)
	}
	return out
}

func (h *Handler) aggregatedResources(group, version string) (out []apidiscoveryv2.APIResourceDiscovery) {
	for _, k := range h.kinds {
		if k.Group != group || k.Version != version {
			continue
		}
		gvk := metav1.GroupVersionKind(k.gvk())
		r := apidiscoveryv2.APIResourceDiscovery{Resource: k.Plural, ResponseKind: &gvk, Scope: apidiscoveryv2.ScopeCluster,
			SingularResource: singular(k), Verbs: k.verbs(), ShortNames: k.ShortNames, Categories: categories(k)}
		if k.Write != nil {
			r.Subresources = []apidiscoveryv2.APISubresourceDiscovery{{Subresource: "status", ResponseKind: &gvk, Verbs: statusVerbs}}
		}
		out = append(out, r)
	}
	return out
}

func (h *Handler) sendAggregated(a *answer, groups []apidiscoveryv2.APIGroupDiscovery) {
	a.w.Header().Add("Vary", "Accept")
	list := apidiscoveryv2.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}, Items: groups}
	a.sendTyped(http.StatusOK, mediaJSON+";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", list)
}
