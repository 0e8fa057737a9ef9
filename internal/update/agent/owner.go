//go:build linux

package agent

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// owner returns whom an entry at a path is to be given: the owner that was asked for; else, where this is root, who can give
// it away, that of what it replaces or, for something new, that of the folder it comes into, so that programs which have put
// root aside can work with it as with what is around it. Nil leaves it to whom the program runs as. Kept says that it is the
// owner of what is replaced.
func owner(root *os.Root, rel string, asked *protocol.Owner) (o *protocol.Owner, kept bool) {
	if asked != nil || os.Getuid() != 0 {
		return asked, false
	}
	info, err := root.Lstat(rel)
	kept = err == nil
	for dir := rel; err != nil && dir != "."; {
		dir = path.Dir(dir)
		info, err = root.Stat(dir)
	}
	if err != nil {
		return nil, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 && int(st.Gid) == os.Getgid() {
		return nil, false
	}
	return &protocol.Owner{UID: uint64(st.Uid), GID: uint64(st.Gid)}, kept
}

// give makes an entry belong to an owner, by a function that changes it. That root may not give away what is new is no error
// unless it was asked for.
func give(o *protocol.Owner, must bool, chown func(uid, gid int) error) error {
	if o == nil {
		return nil
	}
	err := chown(int(o.UID), int(o.GID))
	if !must && errors.Is(err, syscall.EPERM) {
		return nil
	}
	return err
}

// folders makes a folder and those above it, each for the owner that was asked for, or that of the one above. Whatever else
// stands in their places was a folder's name once on the other side, too, and goes.
func folders(root *os.Root, dir string, asked *protocol.Owner) error {
	if dir == "." {
		return nil
	}
	info, err := root.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return err // it leads out of the root, or may not be looked at
	}
	if err := folders(root, path.Dir(dir), asked); err != nil {
		return err
	}
	o, _ := owner(root, path.Dir(dir), asked)
	err = root.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		if info, serr := root.Stat(dir); serr == nil && info.IsDir() {
			return nil // several make folders at a time
		}
		if err := root.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err = root.Mkdir(dir, 0o755)
	}
	if err != nil {
		return err
	}
	return give(o, asked != nil, func(uid, gid int) error { return root.Lchown(dir, uid, gid) })
}
