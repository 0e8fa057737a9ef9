package synclet

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// Target is a container that updates go into.
type Target struct {
	// Resource is what the container belongs to.
	Resource  model.ManifestName
	Namespace string
	Pod       string
	// Name is the container's, ID the runtime's id of its current run.
	Name string
	ID   string
	// Image identifies what the container runs, by content: what works in one container of an image works in the others.
	Image string
	// Ref is the reference by which the Tiltfile calls that image, empty where it does not build it.
	Ref string
	// Installed is where the container has the program, if its pod was given it when it was deployed.
	Installed string
	// Arch is the architecture of the node; empty means that of this machine.
	Arch string
	// Syncs say which places may be written.
	Syncs []model.Sync
}

// same reports whether a conversation with the one container is one with the other.
func (t Target) same(o Target) bool {
	return t.Namespace == o.Namespace && t.Pod == o.Pod && t.Name == o.Name && t.ID == o.ID && t.Image == o.Image && t.Ref == o.Ref && t.Installed == o.Installed &&
		t.Arch == o.Arch && slices.Equal(t.Syncs, o.Syncs)
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
