package liveupdate

import (
	"fmt"
	"io/fs"
	"path/filepath"
)

// kind is what a changed path is now.
type kind int8

const (
	missing     kind = iota // deleted
	file                    // a regular file or a symbolic link
	folder                  // a folder whose entries are separate changes
	emptyFolder             // a folder that its entries would not create
)

// change is a path that the plan must account for.
type change struct {
	path string
	kind kind
}

// expander collects changes, each path once.
type expander struct {
	in    Input
	roots map[string]bool // local paths of the syncs
	seen  map[string]bool
	out   []change
}

// expandAll classifies the paths and adds the paths below folders. Ignored paths and those that are neither file, link
// nor folder (sockets, pipes, devices) are left out.
func (in Input) expandAll(paths []string) ([]change, error) {
	e := expander{in: in, roots: map[string]bool{}, seen: make(map[string]bool, len(paths))}
	for _, s := range in.Spec.Syncs {
		e.roots[filepath.Clean(s.LocalPath)] = true
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return nil, fmt.Errorf("changed path %q is not absolute", p)
		}
		if _, err := e.add(filepath.Clean(p)); err != nil {
			return nil, err
		}
	}
	return e.out, nil
}

// add adds one path and reports whether it counts, that is, whether it is not left out.
func (e *expander) add(p string) (counts bool, err error) {
	if e.in.Ignore(p) {
		return false, nil
	}
	if e.seen[p] {
		return true, nil
	}
	info, err := e.in.Exists(p)
	if gone(err) {
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
		return true, nil
	}
	return false, nil
}

func (e *expander) addFolder(p string) error {
	at := len(e.out)
	e.put(p, folder)
	entries, err := e.in.List(p)
	if gone(err) {
		return nil // deleted meanwhile: that is an event of its own
	}
	if err != nil {
		return &FallBackError{Reason: fmt.Sprintf("cannot read %s: %v", p, err), Path: p}
	}
	held := false
	for _, entry := range entries {
		counts, err := e.add(filepath.Join(p, entry.Name()))
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
	e.out = append(e.out, change{p, k})
}

func (e *expander) listable(p string) bool {
	_, err := e.in.List(p)
	return err == nil
}
