package status

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Locate returns the places in the source tree where a file that the output of a resource names may be, the most likely one
// first. The name may be absolute, relative, or the path of a file in a container. The caller checks which of the files exists.
func Locate(v store.View, name model.ManifestName, file string) []string {
	m := state.Resources.In(v).Value(string(name)).Manifest
	var out []string
	add := func(path string) {
		if path = filepath.Clean(path); !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	var roots []string
	for _, im := range m.Images {
		for _, s := range im.LiveUpdate.Syncs {
			if rest, ok := below(file, s.RemotePath); ok {
				add(filepath.Join(s.LocalPath, rest))
			}
		}
		if im.Docker != nil && im.Docker.Context != "" {
			roots = append(roots, im.Docker.Context)
		}
		for _, s := range im.LiveUpdate.Syncs {
			roots = append(roots, s.LocalPath)
		}
	}
	if m.Local != nil {
		roots = append(roots, m.Local.Update.Dir, m.Local.Serve.Dir)
	}
	roots = append(roots, filepath.Dir(state.TheTiltfile(v).Path))
	roots = slices.DeleteFunc(roots, func(r string) bool { return r == "" || r == "." })
	if filepath.IsAbs(file) {
		add(file)
	} else {
		for _, r := range roots {
			add(filepath.Join(r, file))
		}
	}
	// A path in a container or of another machine ends like one in the source tree.
	parts := strings.Split(strings.Trim(filepath.ToSlash(file), "/"), "/")
	for i := 1; i < len(parts); i++ {
		for _, r := range roots {
			add(filepath.Join(r, filepath.Join(parts[i:]...)))
		}
	}
	return out
}

// FirstPlace returns the first place in the source tree that one of some texts names: its file, and the reference to it. exists reports whether
// there is a regular file with a path.
func FirstPlace(v store.View, name model.ManifestName, texts []string, exists func(path string) bool) (file string, at logline.Place, ok bool) {
	for _, text := range texts {
		for _, at := range logline.Places(text) {
			files := Locate(v, name, at.File)
			if i := slices.IndexFunc(files, exists); i >= 0 {
				return files[i], at, true
			}
		}
	}
	return "", at, false
}

// below returns the part of a path below a folder.
func below(path, folder string) (rest string, ok bool) {
	if path == folder {
		return "", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}
