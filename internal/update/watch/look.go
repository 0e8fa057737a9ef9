package watch

import (
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/base/bug"
)

// How an event becomes a change. Everything in this file runs with mu held, on the goroutine of Run. Only walk is also part of Set, and
// looks there at the files of a folder that has been replaced.
//
//	notices ──> handle ──> handleName ──certain──────────────────────────────> look
//	                           └─ambiguous──> pending ──due──> lookLater ──────┘
//	look ──> lookAt ──> gone
//	               ├──> lookAtFolder ──> walk (tree.go)
//	               └──> lookAtFile ──small──> peek ──> replace ──> report
//	                          └─large──> lookAtLarge ──> hasher ──> hashed ──> compared ──> replace
//
// An event only names a path to look at. handleName looks at once if the file is certainly complete, for example renamed into its
// place, and otherwise puts the path into pending, for one of the times in timings. A look compares the path with its known state,
// the folders' records. report collects the differences in changed, which Run hands over after each round (flush). rescan and the
// poller look without events.
//
// Two fields of the Watcher are parameters of all looks. told is the time at which the system reported the change: handle sets it
// to the arrival of the notices, lookLater to the time at which the path began to wait, and poll to the present; made (made.go)
// uses it. peeks are the paths that due has read ahead, in several goroutines, because many are due at once; peek and lstat use
// them.
//
// The hasher reads large files on its own goroutine. It shares nothing with the looks but jobs and results.

// handle processes notices from the back end: it looks at the paths that can be judged at once and postpones the others.
func (w *Watcher) handle(ns []notice, told time.Time) {
	now := time.Now()
	w.told = told
	var marks []*mark
	for _, n := range ns {
		switch n.op {
		case opOverflow:
			w.log.Info("the system dropped file events; comparing all watched files")
			w.rescan()
		case opMark:
			marks = append(marks, n.mark)
		case opSelf:
			if w.folders[n.path] == nil {
				w.backend.Remove(n.path) // it was watched only for this, under a name that may be outdated
			}
			w.pending.put(n.path, now, w.times.gone, false)
		default:
			if w.concerns(n) {
				w.handleName(n, now)
			}
		}
	}
	w.reach(marks)
}

// concerns reports whether an event may matter to a consumer.
func (w *Watcher) concerns(n notice) bool {
	f := w.folders[filepath.Dir(n.path)]
	if f == nil {
		return false
	}
	if _, known := f.files[filepath.Base(n.path)]; known || w.folders[n.path] != nil || w.reg.spine[n.path] {
		return true
	}
	if n.dir {
		return w.reg.wantsBelow(n.path)
	}
	return w.reg.wants(n.path) || !w.backend.SeesClose() && w.reg.wantsBelow(n.path)
}

func (w *Watcher) handleName(n notice, now time.Time) {
	_, known := w.folders[filepath.Dir(n.path)].files[filepath.Base(n.path)]
	waiting := w.pending.at[n.path]
	switch n.op {
	case opGone:
		w.pending.put(n.path, now, w.times.gone, false)
	case opCreated, opWritten:
		switch {
		case n.dir:
			w.lookNow(n.path)
		case w.backend.SeesClose() && n.op == opWritten:
			if waiting == nil { // the file will be closed, or be written for a long time
				w.pending.putOpen(n.path, now, w.times.unclosed)
			}
		case w.backend.SeesClose():
			w.pending.put(n.path, now, w.times.fresh, true)
		case waiting == nil || now.Sub(waiting.since) < w.times.writtenMax:
			w.pending.put(n.path, now, w.times.written, false)
		}
	case opMovedIn:
		w.lookNow(n.path)
	case opClosed:
		if known {
			w.lookNow(n.path)
		} else {
			w.pending.put(n.path, now, w.times.fresh, false)
		}
	case opAttrib:
		switch {
		case n.dir:
			// A folder's metadata matters if it could not be read before.
			if w.troubles.paths[n.path] != nil {
				w.troubles.readable(n.path)
				w.look(n.path)
			}
		case waiting != nil:
		case known:
			w.noteTouch(n.path)
			w.look(n.path)
		default:
			w.pending.put(n.path, now, w.times.fresh, true)
		}
	case opSelf, opOverflow, opMark:
		bug.Reportf("event %d is not about a name: %s", n.op, n.path)
	}
}

// noteTouch notes a known file whose modification time was set without a write. Writing the same content again is no touch:
// otherwise commands that depend on their own output would run in an endless loop.
func (w *Watcher) noteTouch(path string) {
	old := w.folders[filepath.Dir(path)].files[filepath.Base(path)]
	st, err := w.lstat(path)
	if err == nil && st.kind == kindFile && st.kind == old.kind && st.ino == old.ino && st.size == old.size && st.mtime != old.mtime {
		w.touched[path] = true
	}
}

func (w *Watcher) lookNow(path string) {
	w.pending.drop(path)
	w.look(path)
}

// lookLater looks at a path that has waited. A file that was created or written and not closed gets more time while it
// is being written; but a file that is written all the time must not wait forever.
func (w *Watcher) lookLater(l *look, now time.Time) {
	w.told = l.since
	if l.unclosed {
		st, err := lstat(l.path)
		if err == nil && st.kind == kindFile && st.links < 2 {
			waited := now.Sub(l.since)
			if waited < w.times.unclosed {
				w.pending.again(l, l.since.Add(w.times.unclosed))
				return
			}
			if now.UnixNano()-st.mtime < int64(w.times.unclosed) && waited < w.times.unclosedMax {
				w.pending.again(l, now.Add(w.times.unclosed))
				return
			}
		}
	}
	w.look(l.path)
}

// look compares path with its known state, and likewise the roots below path, which come and go with it.
func (w *Watcher) look(path string) {
	w.lookAt(path)
	if !w.reg.spine[path] {
		return
	}
	for _, rt := range w.reg.below(path) {
		w.anchor(rt.path)
		if rt.path != path || w.folders[path] == nil {
			w.lookAt(rt.path)
		}
	}
}

func (w *Watcher) lookAt(path string) {
	st, err := w.lstat(path)
	if err == nil && st.kind == kindLink && w.reg.roots[path] != nil {
		st, _, err = rootStat(path)
	}
	switch {
	case err != nil && missing(err):
		w.gone(path)
	case err != nil:
		w.troubles.unreadable(path, err)
	case st.kind == kindDir:
		w.lookAtFolder(path)
	default:
		w.lookAtFile(path, st)
	}
}

func (w *Watcher) lookAtFolder(path string) {
	if parent := w.folders[filepath.Dir(path)]; parent != nil && parent.path != path {
		if rec, ok := parent.files[filepath.Base(path)]; ok {
			delete(parent.files, filepath.Base(path))
			w.left[path] = true
			w.report(path, rec.print(), PrintFolder, w.told)
		}
	}
	f := w.folders[path]
	if f == nil {
		w.walk([]string{path}, w.reg, true, nil)
		return
	}
	_, fresh, err := w.open(path, w.reg.roots[path] != nil)
	unseen := fresh || !f.scanned
	if err == nil && unseen && w.reg.wantsBelow(path) {
		w.walk([]string{path}, w.reg, true, nil)
	}
}

func (w *Watcher) lookAtFile(path string, st stat) {
	if f := w.folders[path]; f != nil {
		w.goneFolder(f)
	}
	parent := w.folders[filepath.Dir(path)]
	if parent == nil || !w.reg.wants(path) {
		return
	}
	old, known := parent.files[filepath.Base(path)]
	if st.kind == kindOther {
		if known {
			w.gone(path)
		}
		return
	}
	if st.size > smallFile && st.kind == kindFile {
		w.lookAtLarge(parent, path, st, old, known)
		return
	}
	p := w.peek(path, st)
	rec := newRecord(st, p.at)
	switch {
	case p.err != nil && missing(p.err):
		w.lookIn(path, w.times.gone)
		return
	case p.err == nil:
		rec.hash, rec.hashed = p.hash, true
	}
	if p.torn {
		rec.age = 0 // whatever comes next will be compared by content
	}
	w.replace(parent, path, old, known, rec)
}

// replace stores the new record of a file and reports the file if it differs from before.
func (w *Watcher) replace(parent *folder, path string, old record, known bool, rec record) {
	w.remember(parent, path, rec)
	if !known {
		w.report(path, PrintAbsent, rec.print(), w.made(parent, rec))
		return
	}
	same := rec.hash == old.hash
	if !rec.hashed || !old.hashed {
		same = rec.sameFile(old.stat) && old.age >= youngFile
	}
	if !same || rec.kind != old.kind || rec.perm != old.perm {
		w.report(path, old.print(), rec.print(), w.made(parent, rec))
		w.lookAtTwins(path, rec)
	}
}

// lookAtLarge leaves the comparison of a large file to the hasher. Without a hash to compare with, the file counts as
// changed at once.
func (w *Watcher) lookAtLarge(parent *folder, path string, st stat, old record, known bool) {
	sameSize := st.kind == old.kind && st.size == old.size
	if known && sameSize && old.hashed {
		w.hasher.hashNow(hashJob{path: path, compare: true})
		return
	}
	now := time.Now()
	w.replace(parent, path, old, known, newRecord(st, now))
	w.rehash.put(path, now, 2*youngFile*time.Millisecond, false)
}

// maxTries is the number of attempts to read a large file that changes while it is read.
const maxTries = 5

// hashed processes the hasher's results.
func (w *Watcher) hashed(rs []hashResult) {
	for _, r := range rs {
		f := w.folders[filepath.Dir(r.path)]
		if f == nil {
			continue
		}
		old, known := f.files[filepath.Base(r.path)]
		if !known {
			continue
		}
		if !r.compare {
			settled := max(old.age, r.age) >= youngFile && r.stat.same(old.stat)
			if r.err == nil && settled && !old.hashed {
				old.hash, old.hashed = r.hash, true
				f.files[filepath.Base(r.path)] = old
			}
			continue
		}
		w.compared(f, old, r)
	}
}

// compared decides whether a large file has changed after an event.
func (w *Watcher) compared(f *folder, old record, r hashResult) {
	st, err := lstat(r.path)
	if err != nil || st.kind != kindFile || !w.reg.wants(r.path) {
		w.look(r.path)
		return
	}
	if r.err == nil && st.same(r.stat) {
		rec := newRecord(st, time.Now())
		rec.hash, rec.hashed = r.hash, true
		w.replace(f, r.path, old, true, rec)
		return
	}
	if r.tries < maxTries {
		w.hasher.hashNow(hashJob{path: r.path, compare: true, tries: r.tries + 1})
		return
	}
	w.replace(f, r.path, old, true, newRecord(st, time.Now()))
}

// rescan compares the known state of everything that is watched with the file system.
func (w *Watcher) rescan() {
	for path := range w.reg.roots {
		w.anchor(path)
		if st, _, err := rootStat(path); err == nil && st.kind == kindDir {
			w.walk([]string{path}, w.reg, true, nil)
		} else {
			w.lookAt(path)
		}
	}
}
