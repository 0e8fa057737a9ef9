package watch

import "time"

// maxDelay bounds how long before it was noticed a change can have been made, where nobody polls.
const maxDelay = 10 * time.Second

// made returns when a file was changed. Its time of change is what no program can set, as unpacking and copying set the
// time of modification; a rename brings it up to date, too. It does not count where another machine's clock made it, or
// where the clock was set meanwhile. One that may be that of the clock's last tick says only that the change came before the
// next; then the moment at which the system told of the change is nearer to it, unless that was later still.
func (w *Watcher) made(parent *folder, rec record) time.Time {
	at := time.Unix(0, rec.ctime)
	if age := w.told.Sub(at); rec.ctime == 0 || parent.remote || time.Until(at) > 0 || age > maxDelay && !parent.unwatched {
		return w.told
	}
	at = at.Add(tick)
	if at.After(w.told) {
		return w.told
	}
	return at
}
