package settle

import (
	"slices"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// WithCommands adds to the names of resources the commands that these depend on, directly or through others: a compiler that still runs
// is about to write their files. nil, which stands for all resources, stays nil.
func WithCommands(v store.View, names []model.ManifestName) []model.ManifestName {
	resources := state.Resources.In(v)
	out := slices.Clone(names)
	seen := map[model.ManifestName]bool{}
	for next := names; len(next) > 0; {
		var deps []model.ManifestName
		for _, n := range next {
			for _, dep := range resources.Value(string(n)).Manifest.ResourceDeps {
				if seen[dep] {
					continue
				}
				seen[dep] = true
				deps = append(deps, dep)
				e := resources.Ref(string(dep))
				if e == nil || !e.Value.Enabled || slices.Contains(out, dep) {
					continue
				}
				if m := e.Value.Manifest; m.IsLocal() && !m.Local.Update.Empty() {
					out = append(out, dep)
				}
			}
		}
		next = deps
	}
	return out
}
