//go:build linux

package agent

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// errOutside means that a path lies in no place.
var errOutside = errors.New(protocol.FaultOutside)

// place is a part of the file system that may be written. Everything goes through its os.Root, which does not follow
// symbolic links out of it.
type place struct {
	protocol.Place
	files files
	root  *os.Root
	// owner is the owner of the folder, if it has to be created; nil for the owner of the folder above.
	owner *protocol.Owner
	// made are folders that were created so that the place exists, innermost last.
	made []string
}

// open makes sure that the place's folder exists and can be used.
func (p *place) open() (*os.Root, error) {
	if p.root != nil {
		return p.root, nil
	}
	if err := p.mkdir(p.Dir); err != nil {
		return nil, err
	}
	root, err := p.files.OpenRoot(p.Dir)
	if err != nil {
		return nil, err
	}
	p.root = root
	return root, nil
}

// mkdir creates a folder and those above it, and remembers which it created.
func (p *place) mkdir(dir string) error {
	if info, err := p.files.Stat(dir); err == nil {
		if !info.IsDir() {
			return &os.PathError{Op: "mkdir", Path: dir, Err: fs.ErrExist}
		}
		return nil
	}
	if parent := path.Dir(dir); parent != dir {
		if err := p.mkdir(parent); err != nil {
			return err
		}
	}
	if err := p.files.Mkdir(dir, 0o755); err != nil {
		return err
	}
	p.made = append(p.made, dir)
	above, err := p.files.OpenRoot(path.Dir(dir))
	if err != nil {
		return nil // a folder that may be written and not read
	}
	defer above.Close()
	o, _ := owner(above, ".", p.owner)
	return give(o, p.owner != nil, func(uid, gid int) error { return above.Lchown(path.Base(dir), uid, gid) })
}

// undo removes the folders that were created for the place, if they are empty.
func (p *place) undo() {
	if len(p.made) == 0 {
		return
	}
	p.close()
	for i := len(p.made) - 1; i >= 0; i-- {
		_ = p.files.Remove(p.made[i])
	}
	p.made = nil
}

func (p *place) close() {
	if p.root != nil {
		_ = p.root.Close()
		p.root = nil
	}
}

// places are all places that may be written.
type places []*place

func newPlaces(list []protocol.Place, fs files) places {
	out := make(places, 0, len(list))
	for _, p := range list {
		out = append(out, &place{Place: p, files: fs})
	}
	return out
}

// find returns the place that a path lies in, and the path relative to it. Of nested places the innermost counts. A place for this
// path alone comes first: it exists because it is not known beforehand whether the path will be a file or a folder.
func (ps places) find(name string) (*place, string, error) {
	if !path.IsAbs(name) || path.Clean(name) != name {
		return nil, "", errors.New("the path is not clean and absolute")
	}
	var best *place
	var rel string
	for _, p := range ps {
		r, ok := below(p.Dir, name)
		switch {
		case !ok:
		case p.Name == "":
			if best == nil || len(p.Dir) > len(best.Dir) {
				best, rel = p, r
			}
		case p.Name == r:
			return p, r, nil
		}
	}
	if best == nil {
		return nil, "", errOutside
	}
	return best, rel, nil
}

// below returns a path relative to a folder: "." for the folder itself.
func below(dir, name string) (string, bool) {
	switch {
	case name == dir:
		return ".", true
	case dir == "/":
		return name[1:], true
	case strings.HasPrefix(name, dir) && name[len(dir)] == '/':
		return name[len(dir)+1:], true
	}
	return "", false
}

func (ps places) close() {
	for _, p := range ps {
		p.close()
	}
}
