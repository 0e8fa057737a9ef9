//go:build linux

package declared

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// hasFiles compares the synced files of this machine with those of the containers that hone says it updates in place. A file that
// a container does not have must have been there before the session, since an image need not include it; files that were
// written and deleted must not be there.
func (c Checker) hasFiles(r api.Resource, since time.Time, k known) error {
	var errs []error
	for _, live := range k.lives[r.Name] {
		files, err := c.synced(live, k)
		if err != nil {
			return err
		}
		for _, f := range r.PendingFiles {
			delete(files, f)
		}
		for _, container := range live.Status.Containers {
			root, err := openRoot(container.ContainerID)
			if err != nil {
				return err
			}
			for _, local := range slices.Sorted(maps.Keys(files)) {
				if err := root.has(files[local], local, since); err != nil {
					errs = append(errs, fmt.Errorf("container %s of %s: %w", container.ContainerName, container.PodName, err))
				}
			}
			errs = append(errs, root.Close())
		}
	}
	return some(errs)
}

// synced returns, by its path on this machine, where in the containers of a live update each synced file belongs that exists, or that
// the test has written.
func (c Checker) synced(live v1alpha1.LiveUpdate, k known) (map[string]string, error) {
	watched := k.watches[live.Spec.Sources[0].FileWatch]
	var ignores []model.Ignore
	for _, i := range slices.Concat(watched.Spec.Ignores, k.watches["configs:(Tiltfile)"].Spec.Ignores) {
		ignores = append(ignores, model.Ignore{Base: i.BasePath, Patterns: i.Patterns})
	}
	for _, dir := range watched.Spec.WatchedPaths {
		ignores = append(ignores, model.Ignore{Base: dir, Patterns: watch.Ephemeral})
	}
	ignored, err := watch.NewMatcher(ignores)
	if err != nil {
		return nil, err
	}
	below := func(file string) func(dir string) bool {
		return func(dir string) bool { return dir == file || model.IsChild(dir, file) }
	}
	files := map[string]string{}
	for _, s := range slices.Backward(live.Spec.Syncs) { // the first that covers a file wins
		add := func(file string) {
			if ignored.Matches(file) || !slices.ContainsFunc(watched.Spec.WatchedPaths, below(file)) {
				return
			}
			files[file] = path.Join(s.ContainerPath, filepath.ToSlash(strings.TrimPrefix(file, s.LocalPath)))
			if file == s.LocalPath && strings.HasSuffix(s.ContainerPath, "/") {
				files[file] = path.Join(s.ContainerPath, filepath.Base(file))
			}
		}
		for file := range c.Written {
			if below(file)(s.LocalPath) {
				add(file)
			}
		}
		err := filepath.WalkDir(s.LocalPath, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				add(file)
			}
			return nil // what is gone by now is no file
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// SameTree reports how the files below a folder of a container differ from the files below a folder of this machine.
func SameTree(containerID, remote, local string) error {
	root, err := openRoot(containerID)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.sameTree(remote, local)
}

func (r root) sameTree(remote, local string) error {
	names := map[string]bool{}
	for _, dir := range []string{local, filepath.Join(r.Name(), remote)} {
		if err := addFiles(names, dir); err != nil {
			return err
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(names)) {
		errs = append(errs, r.has(path.Join(remote, name), filepath.Join(local, name), time.Time{}))
	}
	return some(errs)
}

// addFiles adds the paths of the files below a folder, relative to it.
func addFiles(names map[string]bool, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, path)
			names[rel] = true
		}
		return err
	})
}

// fewErrors is the number of differing files that an error lists.
const fewErrors = 5

// some returns the first errors, and how many more there are.
func some(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if more := len(errs) - fewErrors; more > 0 {
		errs = append(errs[:fewErrors:fewErrors], fmt.Errorf("and %d more files", more))
	}
	return errors.Join(errs...)
}
