package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Tiltfile may declare clusters beside a session's own one. Its objects there belong to a separate project, recorded under both
// contexts: a session that has such a cluster as its own one deploys other resources there, and neither may delete the other's.

// besides is between the two contexts of a record, and besideSuffix ends the IDs of such projects that have a name.
const besides, besideSuffix = " + ", ".beside"

// Beside returns the project of a Tiltfile in the cluster of a context that it declares beside a session's own one, and records it.
func (r *Registry) Beside(ctx context.Context, tiltfile, own, kubeContext string) (Project, error) {
	p, err := r.resolve(ctx, tiltfile, own+besides+kubeContext, true)
	if p.named {
		p.ID += besideSuffix
	}
	return p, err
}

// withoutBeside returns the ID of a project with a name in its own cluster.
func withoutBeside(id string) string { return strings.TrimSuffix(id, besideSuffix) }

// Clusters returns the contexts, sorted, for which Beside has recorded a project.
func (r *Registry) Clusters(tiltfile, own string) ([]string, error) {
	all, err := r.records()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find the clusters of %s: %w", tiltfile, err)
	}
	real := realPath(tiltfile)
	var out []string
	for _, o := range all {
		if on, beside := strings.CutPrefix(o.Context, own+besides); beside && o.Tiltfile == real {
			out = append(out, on)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// ForgetBeside drops the records of Beside, where nothing of the project is left.
func (r *Registry) ForgetBeside(ctx context.Context, tiltfile, own, kubeContext string) error {
	real := realPath(tiltfile)
	_, err := r.locked(ctx, func() (Project, error) {
		all, err := r.records()
		for _, o := range all {
			if err == nil && o.Context == own+besides+kubeContext && o.Tiltfile == real {
				err = os.Remove(filepath.Join(r.dir, o.ID+ext))
			}
		}
		return Project{}, err
	})
	if err != nil {
		return fmt.Errorf("forget a cluster of %s: %w", tiltfile, err)
	}
	return nil
}
