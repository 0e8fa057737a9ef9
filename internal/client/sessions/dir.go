package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Dir returns the folder of the registry: in the user's runtime folder, which the system empties, if it exists and belongs to
// the user; otherwise in the state folder.
func Dir(runtime, state string) string {
	if info, err := os.Stat(runtime); runtime != "" && err == nil && info.IsDir() && owned(info) {
		return filepath.Join(runtime, "hone")
	}
	return filepath.Join(state, "run")
}

// private creates a folder that only its owner can enter, and checks the permissions: a user who could put files there could
// impersonate a session.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create the folder of sessions: %w", err)
		}
		info, err = os.Lstat(dir)
	}
	switch {
	case err != nil:
		return fmt.Errorf("check the folder of sessions: %w", err)
	case !info.IsDir():
		return problem.New(dir+" is not a folder", "hone keeps the sockets of sessions there: move the file away")
	case !owned(info):
		return problem.New(dir+" belongs to another user", "set XDG_RUNTIME_DIR to a folder of your own")
	case exposed(info):
		return problem.New(fmt.Sprintf("others can enter %s (mode %04o)", dir, info.Mode().Perm()), "chmod 700 "+dir)
	}
	return nil
}

// maxSocket is the maximum length of a socket's path that every system supports.
const maxSocket = 103

// socketPath returns the path of a session's socket: next to its other files, or in a folder with a short path if that path is
// too long.
func (r *Registry) socketPath(name string) string {
	if path := r.path(name, extSocket); len(path) <= maxSocket {
		return path
	}
	return filepath.Join(shortDir(), shortHash(r.dir+"\x00"+name)+extSocket)
}
