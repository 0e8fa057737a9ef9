package liveupdate

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// mapper maps local paths to paths in the container. The first sync that covers a path wins.
type mapper []rule

// rule is a prepared sync. All paths are clean; self is the destination of the local path itself, and remote is the
// folder for the paths below it. They differ for a file that is synced into a folder.
type rule struct {
	local, self, remote string
	owner               model.Owner
}

// mapper prepares the syncs.
func (in Input) mapper() mapper {
	m := make(mapper, 0, len(in.Spec.Syncs))
	for _, s := range in.Spec.Syncs {
		r := rule{local: filepath.Clean(s.LocalPath), remote: path.Clean(s.RemotePath), owner: s.Owner}
		r.self = r.remote
		if strings.HasSuffix(s.RemotePath, "/") && in.isFile(r.local) {
			r.self = path.Join(r.remote, filepath.Base(r.local))
		}
		m = append(m, r)
	}
	return m
}

// isFile reports whether a synced path is a single file. A path that is gone counts as a file: then its deletion
// removes at most the entry of its name, never the folder that it was synced into.
func (in Input) isFile(local string) bool {
	info, err := in.Exists(local)
	switch {
	case err != nil:
		return true
	case info.Mode()&fs.ModeSymlink != 0:
		_, err := in.List(local)
		return err != nil
	}
	return !info.IsDir()
}

// remote returns the path in the container that p is synced to, and its owner.
func (m mapper) remote(p string) (string, model.Owner, bool) {
	for _, r := range m {
		if p == r.local {
			return r.self, r.owner, true
		}
		if model.IsChild(r.local, p) {
			rel := strings.TrimPrefix(p[len(r.local):], string(filepath.Separator))
			return path.Join(r.remote, filepath.ToSlash(rel)), r.owner, true
		}
	}
	return "", model.Owner{}, false
}
