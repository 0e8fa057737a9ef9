package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// folder is a watched folder: part of a tree that a consumer requested, or an anchor, which is watched because of a root
// directly or further below it.
type folder struct {
	path string
	link bool // it may be a link to a folder
	// dev and ino identify the folder.
	dev, ino uint64
	files    map[string]record   // the wanted files in it, by name
	subs     map[string]struct{} // the names of the folders in it that are watched
	// scanned is set if the folder belongs to a tree and has been read; otherwise it is only an anchor.
	scanned bool
	// held is set once a wanted file has been in it or below it.
	held bool
	// follows is set if something at its path was reported before the folder came: a consumer that looks late finds the folder, even
	// an empty one.
	follows bool
	// unwatched is set if the system sends no events for it, so that it is polled.
	unwatched bool
	// remote is set if others can change it without an event, so that it is polled too.
	remote bool
}

func join(dir, name string) string {
	if dir == filepath.Dir(dir) {
		return dir + name
	}
	return dir + sep + name
}

// walk reads the folders of queue and everything below them that a consumer wants. prior is the registry whose consumers
// have received every change up to now: an unknown file that they want is a change; any other unknown file is not. With
// compare, known files are compared with their state on disk. pause is called between two folders, if not nil.
func (w *Watcher) walk(queue []string, prior *registry, compare bool, pause func()) {
	for len(queue) > 0 && !w.ended.Load() {
		dir := queue[len(queue)-1]
		queue = append(queue[:len(queue)-1], w.visit(dir, prior, compare)...)
		if pause != nil {
			pause()
		}
	}
}

// visit watches and reads one folder and returns the folders in it.
func (w *Watcher) visit(dir string, prior *registry, compare bool) []string {
	if !w.reg.wantsBelow(dir) {
		return nil
	}
	f, fresh, err := w.open(dir, w.reg.roots[dir] != nil)
	if err != nil {
		if compare && missing(err) {
			w.gone(dir)
		}
		return nil
	}
	return w.list(f, prior, compare || fresh && f.scanned)
}

// open makes sure that a folder is watched; dir may be a link to a folder if link is set. fresh reports whether dir was not
// watched, or was another folder.
func (w *Watcher) open(dir string, link bool) (f *folder, fresh bool, err error) {
	f = w.folders[dir]
	link = link || f != nil && f.link
	st, err := follow(dir)
	if err != nil {
		return nil, false, err
	}
	if f != nil && (f.dev != st.dev || f.ino != st.ino) {
		w.backend.Remove(dir) // the watch belongs to another folder
		f.dev, f.ino = st.dev, st.ino
	}
	fresh, err = w.backend.Add(dir, link)
	limited := errors.Is(err, errNoWatches) || errors.Is(err, errNoInstance)
	switch {
	case limited:
		w.troubles.limit(err)
	case errors.Is(err, fs.ErrPermission):
		w.troubles.unreadable(dir, err)
		return nil, false, err
	case err != nil:
		return nil, false, err
	}
	if f == nil {
		f = &folder{path: dir, link: link, dev: st.dev, ino: st.ino, files: map[string]record{}, subs: map[string]struct{}{}, follows: w.left[dir]}
		parent := w.folders[filepath.Dir(dir)]
		if parent != nil {
			parent.subs[filepath.Base(dir)] = struct{}{}
		}
		if parent != nil && parent.dev == f.dev {
			f.remote = parent.remote
		} else {
			f.remote = isRemote(dir)
		}
		w.folders[dir] = f
	}
	w.polling.mark(f, limited)
	return f, fresh, nil
}

// list reads a folder and returns the folders in it. See walk.
func (w *Watcher) list(f *folder, prior *registry, compare bool) []string {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			w.troubles.unreadable(f.path, err)
		} else {
			w.lookIn(f.path, w.times.gone)
		}
		return nil
	}
	f.scanned = true
	var dirs []string
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		path := join(f.path, e.Name())
		rec, known := f.files[e.Name()]
		seen[e.Name()] = true
		switch {
		case e.IsDir():
			if known && compare {
				w.lookIn(path, w.times.fresh)
			}
			if w.reg.wantsBelow(path) {
				dirs = append(dirs, path)
			}
		case known:
			if compare {
				w.compare(f, path, rec)
			}
		case e.Type()&^fs.ModeSymlink == 0 && w.reg.wants(path):
			w.found(f, path, prior)
		}
	}
	if compare {
		w.missed(f, seen)
	}
	return dirs
}

// found handles an unknown file.
func (w *Watcher) found(f *folder, path string, prior *registry) {
	if prior.wants(path) {
		if w.pending.at[path] == nil {
			w.lookIn(path, w.times.fresh)
		}
		return
	}
	st, err := lstat(path)
	if err != nil || st.kind != kindFile && st.kind != kindLink {
		return
	}
	rec := newRecord(st, time.Now())
	switch {
	case st.kind == kindLink:
		hash, _, err := hashFile(path, st, &w.buf)
		rec.hash, rec.hashed = hash, err == nil
	case st.size <= smallFile:
		w.hasher.hashAhead(path, st.size)
	}
	w.remember(f, path, rec)
}

// compare looks at a file if its metadata differs from the record, or cannot prove that the file is unchanged.
func (w *Watcher) compare(f *folder, path string, rec record) {
	st, err := lstat(path)
	young := uint16(youngFile)
	if f.unwatched || f.remote {
		young = youngPolledFile
	}
	if err != nil || !st.same(rec.stat) || rec.age < young {
		w.look(path)
	}
}

// missed handles the known entries of a folder that were not seen in it.
func (w *Watcher) missed(f *folder, seen map[string]bool) {
	for name := range f.files {
		if !seen[name] {
			w.lookIn(join(f.path, name), w.times.gone)
		}
	}
	for name := range f.subs {
		if !seen[name] {
			w.lookIn(join(f.path, name), w.times.gone)
		}
	}
}

// remember stores the record of a file.
func (w *Watcher) remember(f *folder, path string, rec record) {
	f.files[filepath.Base(path)] = rec
	w.twins.add(path, rec.stat)
	for ; f != nil && !f.held; f = w.folders[filepath.Dir(f.path)] {
		f.held = true
		if f.path == filepath.Dir(f.path) {
			return
		}
	}
}

// gone notes that path no longer exists, nor anything below it.
func (w *Watcher) gone(path string) {
	if f := w.folders[filepath.Dir(path)]; f != nil && f.path != path {
		if rec, ok := f.files[filepath.Base(path)]; ok {
			delete(f.files, filepath.Base(path))
			w.report(path, rec.print(), PrintAbsent, w.told)
		}
	}
	if f := w.folders[path]; f != nil {
		w.goneFolder(f)
	}
	w.backend.Remove(path)
}

func (w *Watcher) goneFolder(f *folder) {
	for name, rec := range f.files {
		w.report(join(f.path, name), rec.print(), PrintAbsent, w.told)
	}
	for name := range f.subs {
		if sub := w.folders[join(f.path, name)]; sub != nil {
			w.goneFolder(sub)
		}
	}
	switch {
	case !f.scanned:
	case f.held:
		w.left[f.path] = true
		w.report(f.path, PrintFolder, PrintAbsent, w.told)
	case f.follows:
		w.report(f.path, PrintUnknown, PrintAbsent, w.told)
	}
	w.forget(f)
}

// forget stops watching a folder.
func (w *Watcher) forget(f *folder) {
	delete(w.folders, f.path)
	if parent := w.folders[filepath.Dir(f.path)]; parent != nil {
		delete(parent.subs, filepath.Base(f.path))
	}
	w.polling.unmark(f)
	w.troubles.readable(f.path)
	w.backend.Remove(f.path)
}
