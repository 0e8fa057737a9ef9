package synclet

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// same reports whether a and b can share a conversation: they are the same run of the same container, with the same
// writable places.
func same(a, b model.ContainerRef) bool {
	return a.Namespace == b.Namespace && a.Pod == b.Pod && a.Name == b.Name && a.ID == b.ID && a.Image == b.Image && a.Ref == b.Ref &&
		a.Synclet == b.Synclet && a.Arch == b.Arch && slices.Equal(a.Syncs, b.Syncs)
}

// Places returns the places that may be written: the destination of each sync, with everything below it if a folder is
// synced.
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
		// It may become a folder.
		out = append(out, protocol.Place{Dir: path.Dir(remote), Name: path.Base(remote)}, protocol.Place{Dir: remote})
	}
	return out
}
