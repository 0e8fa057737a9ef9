package watch

import "time"

// maxDelay is the longest time between a change and its notice, where files are not polled.
const maxDelay = 10 * time.Second

// made returns the time at which a file was changed. It relies on the change time (ctime), which no program can set, while
// unpacking and copying set the modification time; a rename updates it too. The change time does not count if another machine's
// clock set it, or if the clock was adjusted meanwhile. It may be the time of the clock's last tick, so the change came at some
// time up to the next tick: made returns the time of that next tick, or the moment at which the system reported the change if that
// was earlier.
func (w *Watcher) made(parent *folder, rec record) time.Time {
	at := time.Unix(0, rec.ctime)
	foreign := rec.ctime == 0 || parent.remote || time.Until(at) > 0
	late := w.told.Sub(at) > maxDelay && !parent.unwatched
	if foreign || late {
		return w.told
	}
	at = at.Add(tick)
	if at.After(w.told) {
		return w.told
	}
	return at
}
