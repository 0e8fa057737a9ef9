package watch

import (
	"path/filepath"
	"time"
)

// rootStat returns the stat of a root; a link to a folder counts as the folder.
func rootStat(path string) (st stat, link bool, err error) {
	st, err = lstat(path)
	if err != nil || st.kind != kindLink {
		return st, false, err
	}
	if to, err := follow(path); err == nil && to.kind == kindDir {
		return to, true, nil
	}
	return st, true, nil
}

// arrive starts watching a root without reporting existing files, and returns the folders to walk.
func (w *Watcher) arrive(path string, prior *registry) []string {
	w.anchor(path)
	st, _, err := rootStat(path)
	switch {
	case err != nil:
	case st.kind == kindDir:
		return []string{path}
	case w.reg.wants(path):
		f := w.folders[filepath.Dir(path)]
		if f == nil {
			break
		}
		if _, known := f.files[filepath.Base(path)]; !known {
			w.found(f, path, prior)
		}
	}
	return nil
}

// anchor watches the folder whose events show that a root comes, goes or is replaced: the parent if the root is a file
// or a link, the nearest existing folder if the root does not exist, none if the root is a folder, whose own events show
// it. The folders above are watched for being moved.
func (w *Watcher) anchor(root string) {
	for range 100 { // the tree may change while it is looked at
		dir := anchorFor(root)
		if dir != "" {
			if _, _, err := w.open(dir, true); err != nil && missing(err) {
				continue
			}
		}
		old := w.anchors[root]
		w.anchors[root] = dir
		if old != "" && old != dir {
			w.release(old)
		}
		if dir == anchorFor(root) {
			break
		}
	}
	for p := root; p != filepath.Dir(p); {
		p = filepath.Dir(p)
		if w.folders[p] == nil {
			w.backend.AddSelf(p)
		}
	}
}

// anchorFor returns the folder to watch for a root's sake, "" if there is none.
func anchorFor(root string) string {
	st, link, err := rootStat(root)
	if err == nil && (st.kind != kindDir || link) {
		return filepath.Dir(root)
	}
	if err == nil {
		return ""
	}
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		if st, err := follow(dir); err == nil && st.kind == kindDir || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

// isAnchor reports whether a folder is watched for the sake of some root.
func (w *Watcher) isAnchor(dir string) bool {
	for _, a := range w.anchors {
		if a == dir {
			return true
		}
	}
	return false
}

// release stops watching a folder that was an anchor, if nothing else needs it.
func (w *Watcher) release(dir string) {
	f := w.folders[dir]
	if f == nil || w.isAnchor(dir) {
		return
	}
	if f.scanned && w.reg.wantsBelow(dir) {
		return
	}
	w.forget(f)
}

// sweep releases everything that no consumer wants anymore.
func (w *Watcher) sweep(old *registry) {
	for root := range w.anchors {
		if w.reg.roots[root] == nil {
			delete(w.anchors, root)
		}
	}
	anchors := map[string]bool{}
	for _, dir := range w.anchors {
		anchors[dir] = true
	}
	for path, f := range w.folders {
		f.scanned = f.scanned && w.reg.wantsBelow(path)
		if !f.scanned && !anchors[path] {
			w.forget(f)
			continue
		}
		for name := range f.files {
			if !w.reg.wants(join(path, name)) {
				delete(f.files, name)
			}
		}
	}
	for path := range old.spine {
		if w.folders[path] == nil && !w.reg.spine[path] {
			w.backend.Remove(path)
		}
	}
	for path := range w.reg.spine {
		if w.folders[path] == nil && w.reg.roots[path] == nil {
			w.backend.AddSelf(path)
		}
	}
	w.troubles.sweep(w.reg)
	if !w.polling.anyUnwatched() {
		w.troubles.noLimit()
	}
}

// lookIn schedules a look at path after delay.
func (w *Watcher) lookIn(path string, delay time.Duration) {
	w.pending.put(path, time.Now(), delay, false)
}
