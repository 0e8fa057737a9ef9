//go:build linux

package agent

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// files gives access to the files that a conversation is about, by clean absolute paths.
type files interface {
	Lstat(name string) (fs.FileInfo, error)
	Stat(name string) (fs.FileInfo, error)
	Open(name string) (*os.File, error)
	Readlink(name string) (string, error)
	Mkdir(name string, mode fs.FileMode) error
	Remove(name string) error
	// OpenRoot opens a folder that no path can leave.
	OpenRoot(name string) (*os.Root, error)
}

// ownFiles are the files of this container.
type ownFiles struct{}

func (ownFiles) Lstat(name string) (fs.FileInfo, error)    { return os.Lstat(name) }
func (ownFiles) Stat(name string) (fs.FileInfo, error)     { return os.Stat(name) }
func (ownFiles) Open(name string) (*os.File, error)        { return os.Open(name) }
func (ownFiles) Readlink(name string) (string, error)      { return os.Readlink(name) }
func (ownFiles) Mkdir(name string, mode fs.FileMode) error { return os.Mkdir(name, mode) }
func (ownFiles) Remove(name string) error                  { return os.Remove(name) }
func (ownFiles) OpenRoot(name string) (*os.Root, error)    { return os.OpenRoot(name) }

// otherFiles are the files of another container, seen through its root folder. Symbolic links have the same targets as for the
// programs of that container: an absolute one begins at its root. A link that appears while it is being followed is an error of
// os.Root, never a way out.
type otherFiles struct{ root *os.Root }

func (o otherFiles) Lstat(name string) (fs.FileInfo, error) {
	return resolved(o, name, false, o.root.Lstat)
}

func (o otherFiles) Stat(name string) (fs.FileInfo, error) {
	return resolved(o, name, true, o.root.Stat)
}

func (o otherFiles) Open(name string) (*os.File, error) {
	return resolved(o, name, true, o.root.Open)
}

func (o otherFiles) Readlink(name string) (string, error) {
	return resolved(o, name, false, o.root.Readlink)
}

func (o otherFiles) OpenRoot(name string) (*os.Root, error) {
	return resolved(o, name, true, o.root.OpenRoot)
}

func (o otherFiles) Remove(name string) error {
	_, err := resolved(o, name, false, func(rel string) (struct{}, error) { return struct{}{}, o.root.Remove(rel) })
	return err
}

func (o otherFiles) Mkdir(name string, mode fs.FileMode) error {
	_, err := resolved(o, name, false, func(rel string) (struct{}, error) { return struct{}{}, o.root.Mkdir(rel, mode) })
	return err
}

// resolved calls do with the resolved path; the last element is followed if last is set.
func resolved[T any](o otherFiles, name string, last bool, do func(rel string) (T, error)) (out T, err error) {
	rel, err := o.resolve(name, last)
	if err != nil {
		return out, err
	}
	return do(rel)
}

// maxLinks bounds how many symbolic links a path may contain, as the kernel does.
const maxLinks = 40

// resolve returns the path below the root without symbolic links.
func (o otherFiles) resolve(name string, last bool) (string, error) {
	at, links := ".", 0
	for rest := strings.Split(name, "/"); len(rest) > 0; {
		element := rest[0]
		rest = rest[1:]
		switch element {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at) // of "." that is "."
			continue
		}
		at = path.Join(at, element)
		if len(rest) == 0 && !last {
			break
		}
		target, err := o.root.Readlink(at)
		if err != nil {
			continue // it is not a link, or does not exist
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "follow", Path: name, Err: syscall.ELOOP}
		}
		at = path.Dir(at)
		if path.IsAbs(target) {
			at = "."
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, nil
}
