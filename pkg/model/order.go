package model

import (
	"maps"
	"slices"
)

// DependentsFirst sorts the keys of deps, which maps each resource to its dependencies, so that each resource comes before
// its direct and indirect dependencies. Names that are not keys only connect other resources and are not returned. Otherwise
// the order is by name, descending. Cycles are broken at an arbitrary place.
func DependentsFirst(deps map[ManifestName][]ManifestName) []ManifestName {
	var out []ManifestName
	seen := map[ManifestName]bool{}
	var visit func(n ManifestName)
	visit = func(n ManifestName) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, d := range deps[n] {
			visit(d)
		}
		if _, asked := deps[n]; asked {
			out = append(out, n)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(deps)) {
		visit(n)
	}
	slices.Reverse(out)
	return out
}

// DependsOn reports whether resource n depends on resource on, directly or indirectly.
func DependsOn(deps map[ManifestName][]ManifestName, n, on ManifestName) bool {
	seen := map[ManifestName]bool{}
	var visit func(n ManifestName) bool
	visit = func(n ManifestName) bool {
		if seen[n] {
			return false
		}
		seen[n] = true
		return slices.ContainsFunc(deps[n], func(d ManifestName) bool { return d == on || visit(d) })
	}
	return visit(n)
}
