package up

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// tiltInPath makes hone answer to the name tilt in commands of the Tiltfile and its extensions, which were written for Tilt:
// it makes a link to this program below dir, and returns the variable PATH that finds it first. Each program has a folder
// of its own, so that two versions of hone do not take it from each other.
func tiltInPath(dir string) ([]string, error) {
	if runtime.GOOS == "windows" {
		return nil, nil // where links need a privilege
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program of hone: %w", err)
	}
	sum := sha256.Sum256([]byte(program))
	dir = filepath.Join(dir, hex.EncodeToString(sum[:4]))
	link := filepath.Join(dir, "tilt")
	if to, err := os.Readlink(link); err != nil || to != program {
		if err := makeLink(program, link); err != nil {
			return nil, fmt.Errorf("make the link tilt for commands: %w", err)
		}
	}
	return []string{"PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH")}, nil
}

// makeLink makes a link, or replaces one that leads elsewhere, in one step.
func makeLink(to, link string) error {
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(to, fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, link); err != nil {
		_ = os.Remove(fresh)
		return err
	}
	return nil
}
