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

// owner returns the owner that an entry at a path gets: the requested owner; otherwise, if this program runs as root, which can
// change owners, the owner of the entry that it replaces or, for a new entry, of its folder, so that programs which have dropped
// root can use it like its surroundings. nil leaves the entry to the user that the program runs as. kept reports that it is the
// owner of the replaced entry.
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

// give changes the owner of an entry by calling chown. EPERM is not an error unless must is set: then the owner was requested, or
// is the owner of the entry that is replaced.
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

// folders creates a folder and the missing ones above it, each with the requested owner, or the owner of the folder above. Any
// other entry at their paths is removed, since it is a folder in the local tree.
func folders(root *os.Root, dir string, asked *protocol.Owner) error {
	if dir == "." {
		return nil
	}
	info, err := root.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return err // it leads out of the root, or may not be accessed
	}
	if err := folders(root, path.Dir(dir), asked); err != nil {
		return err
	}
	o, _ := owner(root, path.Dir(dir), asked)
	err = root.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		if info, serr := root.Stat(dir); serr == nil && info.IsDir() {
			return nil // several goroutines create folders at a time
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
