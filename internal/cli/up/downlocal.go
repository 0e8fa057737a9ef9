package up

import (
	"context"
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// locals are the chosen local resources with a recorded down command.
type locals struct {
	downCommands *buildanddeploy.DownCommands
	names        []model.ManifestName
	// all are the resources with a recorded down command, chosen or not.
	all map[model.ManifestName]model.Cmd
	// deps are the dependencies that the Tiltfile declares and, where a resource has recorded its own, those.
	deps ledger.Deps
}

// findLocals reads the recorded down commands.
func findLocals(ctx context.Context, p *opened.Project, tf model.Tiltfile) (l locals, err error) {
	if l.downCommands, err = p.DownCommands(ctx); err != nil {
		return l, err
	}
	l.downCommands.Declare(tf.Manifests)
	var recorded ledger.Deps
	if l.all, recorded, err = l.downCommands.Recorded(); err != nil {
		return l, err
	}
	l.deps = dependencies(tf)
	for name, on := range recorded {
		_, declared := l.deps[name]
		if _, own := l.all[name]; own || !declared {
			l.deps[name] = on
		}
	}
	chosen := chosenOf(tf, state.EnabledNames(tf), p.Args)
	for _, name := range slices.Sorted(maps.Keys(l.all)) {
		if chosen(name) {
			l.names = append(l.names, name)
		}
	}
	return l, nil
}

// apart returns the local resources that depend on nothing in the cluster, as far as known, and those that depend on services of
// Compose, which must run while they are taken down.
func (l locals) apart(tf model.Tiltfile) []model.ManifestName {
	elsewhere, composed := map[model.ManifestName]bool{}, map[model.ManifestName]bool{}
	for name := range l.all {
		elsewhere[name] = true
	}
	for _, m := range tf.Manifests {
		elsewhere[m.Name], composed[m.Name] = !m.IsK8s(), m.IsCompose()
	}
	return slices.DeleteFunc(slices.Clone(l.names), func(name model.ManifestName) bool {
		inCluster, onCompose := false, false
		for on := range reachable(l.deps, name) {
			inCluster, onCompose = inCluster || !elsewhere[on], onCompose || composed[on]
		}
		return inCluster && !onCompose
	})
}

// reachable returns the resources on which a resource depends, directly or indirectly.
func reachable(deps ledger.Deps, name model.ManifestName) map[model.ManifestName]bool {
	out := map[model.ManifestName]bool{}
	for left := deps[name]; len(left) > 0; left = left[1:] {
		if !out[left[0]] {
			out[left[0]] = true
			left = append(slices.Clone(left), deps[left[0]]...)
		}
	}
	return out
}
