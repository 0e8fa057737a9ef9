package liveupdate

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// kind is the present kind of a changed path.
type kind int8

const (
	missing     kind = iota // deleted
	file                    // a regular file or a symbolic link
	folder                  // a folder whose entries are separate changes
	emptyFolder             // a folder without entries
)

// change is a path that the plan must account for.
type change struct {
	path string
	kind kind
	size int64 // of a file
}

// expander collects changes, each path once.
type expander struct {
	in    Input
	roots map[string]bool // local paths of the syncs
	seen  map[string]bool
	out   []change
	// links caches, by folder, whether the folder or one above it is a link; see linked.
	links map[string]bool
}

// expandAll classifies the paths and adds the paths below folders. Ignored paths and those that are neither file, link
// nor folder (sockets, pipes, devices) are left out.
func (in Input) expandAll(paths []string) ([]change, error) {
	e := expander{in: in, roots: map[string]bool{}, seen: make(map[string]bool, len(paths)), links: map[string]bool{}}
	for _, s := range in.Spec.Syncs {
		e.roots[filepath.Clean(s.LocalPath)] = true
	}
	ahead := in.existAll(paths)
	for i, p := range paths {
		if !filepath.IsAbs(p) {
			return nil, fmt.Errorf("changed path %q is not absolute", p)
		}
		exists := e.exists
		if ahead != nil {
			exists = func(string) (fs.FileInfo, error) { return ahead[i].info, ahead[i].err }
		}
		if _, err := e.add(filepath.Clean(p), exists); err != nil {
			return nil, err
		}
	}
	return e.out, nil
}

const (
	// aheadFrom is the number of paths from which on several goroutines ask for them, and aheadRun how many one asks for at a time.
	aheadFrom, aheadRun = 512, 128
	// mostAsking bounds these goroutines.
	mostAsking = 4
)

// existing is the result of Exists.
type existing struct {
	info fs.FileInfo
	err  error
}

// existAll asks for many paths at once; it returns nil for few.
func (in Input) existAll(paths []string) []existing {
	if len(paths) < aheadFrom {
		return nil
	}
	out := make([]existing, len(paths))
	var asking errgroup.Group
	asking.SetLimit(min(mostAsking, runtime.GOMAXPROCS(0)))
	for first := 0; first < len(paths); first += aheadRun {
		asking.Go(func() error {
			for i := first; i < min(first+aheadRun, len(paths)); i++ {
				out[i].info, out[i].err = in.Exists(filepath.Clean(paths[i]))
			}
			return nil
		})
	}
	_ = asking.Wait() // each has its own error
	return out
}

func (e *expander) exists(p string) (fs.FileInfo, error) { return e.in.Exists(p) }

// add adds one path and reports whether it counts, that is, whether it is not left out.
func (e *expander) add(p string, exists func(string) (fs.FileInfo, error)) (counts bool, err error) {
	if e.in.Ignore(p) {
		return false, nil
	}
	if e.seen[p] {
		return true, nil
	}
	info, err := exists(p)
	if gone(err) || err == nil && e.behindLink(p) {
		e.put(p, missing)
		return true, nil
	}
	if err != nil {
		return false, &FallBackError{Reason: fmt.Sprintf("cannot read %s: %v", p, err), Path: p}
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return true, e.addFolder(p)
	case mode&fs.ModeSymlink != 0 && e.roots[p] && e.listable(p):
		// A link must not replace the remote folder, so a synced root stands for the target of the link.
		return true, e.addFolder(p)
	case mode.IsRegular(), mode&fs.ModeSymlink != 0:
		e.put(p, file)
		e.out[len(e.out)-1].size = info.Size()
		return true, nil
	}
	return false, nil
}

// behindLink reports whether a path is reached through a symbolic link below a sync's root. Then it is no path of the tree: where a
// link to another folder replaced a folder, the old entries are gone, though the other folder may have files of the same names.
func (e *expander) behindLink(p string) bool {
	dir := filepath.Dir(p)
	for at := dir; !e.roots[at]; at = filepath.Dir(at) {
		if at == filepath.Dir(at) {
			return false // it is not below a root
		}
	}
	return !e.roots[p] && e.linked(dir)
}

// linked reports whether a folder below a root, or one between the two, is a link.
func (e *expander) linked(dir string) bool {
	if e.roots[dir] {
		return false
	}
	is, known := e.links[dir]
	if !known {
		info, err := e.in.Exists(dir)
		is = err == nil && info.Mode()&fs.ModeSymlink != 0 || e.linked(filepath.Dir(dir))
		e.links[dir] = is
	}
	return is
}

func (e *expander) addFolder(p string) error {
	at := len(e.out)
	e.put(p, folder)
	entries, err := e.in.List(p)
	if gone(err) {
		e.out = e.out[:at] // deleted meanwhile: that is an event of its own
		return nil
	}
	if err != nil {
		return &FallBackError{Reason: fmt.Sprintf("cannot read %s: %v", p, err), Path: p}
	}
	held := false
	for _, entry := range entries {
		counts, err := e.add(filepath.Join(p, entry.Name()), e.exists)
		if err != nil {
			return err
		}
		held = held || counts
	}
	if !held {
		e.out[at].kind = emptyFolder
	}
	return nil
}

func (e *expander) put(p string, k kind) {
	e.seen[p] = true
	e.out = append(e.out, change{path: p, kind: k})
}

func (e *expander) listable(p string) bool {
	_, err := e.in.List(p)
	return err == nil
}
