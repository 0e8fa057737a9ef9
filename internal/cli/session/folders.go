package session

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// folders are folders of another machine that this one has, too.
type folders []folder

type folder struct{ there, here string }

// parseFolders parses the values of --map: REMOTE=LOCAL.
func parseFolders(all []string) (folders, error) {
	var out folders
	for _, s := range all {
		there, here, ok := strings.Cut(s, "=")
		if !ok || !path.IsAbs(there) || here == "" {
			return nil, problem.New(fmt.Sprintf("%q maps no folder", s), "write --map REMOTE=LOCAL, where REMOTE is an absolute path: --map /home/dev/shop=$HOME/src/shop")
		}
		here, err := filepath.Abs(here)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", here, err)
		}
		out = append(out, folder{path.Clean(there), here})
	}
	return out, nil
}

// local returns the path here of a file there, by the closest folder; empty if no folder has it.
func (f folders) local(file string) string {
	file = path.Clean(filepath.ToSlash(file))
	var best folder
	found := ""
	for _, d := range f {
		below, ok := strings.CutPrefix(file, strings.TrimSuffix(d.there, "/")+"/")
		switch {
		case len(d.there) < len(best.there):
		case file == d.there:
			best, found = d, d.here
		case ok:
			best, found = d, filepath.Join(d.here, filepath.FromSlash(below))
		}
	}
	return found
}
