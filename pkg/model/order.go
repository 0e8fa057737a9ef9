package model

import (
	"maps"
	"slices"
)

// DependentsFirst sorts the keys of deps, which maps resources to those that they depend on, so that each comes before what
// it depends on, directly or through others. Names that are no keys count only as links between others. Otherwise the order
// is that of the names, the last first. Circles are cut somewhere.
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

// DependsOn reports whether a resource depends on another, directly or through others.
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
