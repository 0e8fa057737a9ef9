package synclet

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// same reports whether a conversation with the one container is one with the other: both are the same run, and the same may
// be written there.
func same(a, b model.ContainerRef) bool {
	return a.Namespace == b.Namespace && a.Pod == b.Pod && a.Name == b.Name && a.ID == b.ID && a.Image == b.Image && a.Ref == b.Ref &&
		a.Synclet == b.Synclet && a.Arch == b.Arch && slices.Equal(a.Syncs, b.Syncs)
}

// Places returns what may be written: the destination of each sync, with what is below it where a folder is synced.
func Places(syncs []model.Sync) []protocol.Place {
	var out []protocol.Place
	for _, s := range syncs {
		remote := path.Clean(s.RemotePath)
		info, err := os.Stat(filepath.Clean(s.LocalPath))
		folder := err == nil && info.IsDir()
		if remote == "/" || folder {
			out = append(out, protocol.Place{Dir: remote})
			continue
		}
		if n := len(s.RemotePath); s.RemotePath[n-1] == '/' { // a file goes into the folder under its own name
			out = append(out, protocol.Place{Dir: remote, Name: filepath.Base(s.LocalPath)})
			continue
		}
		out = append(out, protocol.Place{Dir: path.Dir(remote), Name: path.Base(remote)})
		if err != nil {
			out = append(out, protocol.Place{Dir: remote}) // nobody knows yet what it will be
		}
	}
	return out
}
