package watch

import (
	"path/filepath"
	"slices"
)

// twins are the names of files that have several (hard links), as package managers make them. The system reports a change only for the
// name under which the file was written.
type twins map[inode][]string

type inode struct{ dev, ino uint64 }

// add notes a name of a file.
func (t twins) add(path string, st stat) {
	at := inode{st.dev, st.ino}
	linked := st.kind == kindFile && st.links > 1 && st.ino != 0
	if linked && !slices.Contains(t[at], path) {
		t[at] = append(t[at], path)
	}
}

// lookAtTwins looks at the other names of a file that has changed. Names that are no longer of this file are forgotten.
func (w *Watcher) lookAtTwins(path string, rec record) {
	at := inode{rec.dev, rec.ino}
	left := w.twins[at]
	if len(left) == 0 {
		return
	}
	left = slices.DeleteFunc(left, func(name string) bool {
		f := w.folders[filepath.Dir(name)]
		if f == nil {
			return true
		}
		known, ok := f.files[filepath.Base(name)]
		if !ok || known.dev != rec.dev || known.ino != rec.ino {
			return true
		}
		if name != path && !known.sameFile(rec.stat) {
			w.lookIn(name, 0)
		}
		return false
	})
	if w.twins[at] = left; len(left) == 0 {
		delete(w.twins, at)
	}
}
