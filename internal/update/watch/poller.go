package watch

import (
	"maps"
	"slices"
	"time"
)

const (
	// pollSlice is the time for which folders are compared before events get a turn.
	pollSlice = 5 * time.Millisecond
	// A pass over all polled folders is followed by a pause of pollShare times its duration, within these bounds.
	pollShare    = 40
	pollPauseMin = time.Second
	pollPauseMax = 30 * time.Second
)

// poller holds the folders that are compared periodically because their events are incomplete.
type poller struct {
	folders map[string]*folder
	queue   []string
	spent   time.Duration // on the pass that is under way
	due     time.Time
	refused bool // during this pass the system refused a watch again
}

// next returns when the next slice is due.
func (p *poller) next() (time.Time, bool) { return p.due, len(p.folders) > 0 }

// mark notes whether the system refused to watch a folder.
func (p *poller) mark(f *folder, refused bool) {
	f.unwatched = refused
	if !refused && !f.remote {
		delete(p.folders, f.path)
		return
	}
	if p.folders == nil {
		p.folders = map[string]*folder{}
	}
	if len(p.folders) == 0 {
		p.due = time.Now().Add(pollPauseMin)
	}
	p.folders[f.path] = f
}

func (p *poller) unmark(f *folder) { delete(p.folders, f.path) }

// anyUnwatched reports whether there is a folder that the system refused to watch.
func (p *poller) anyUnwatched() bool {
	for _, f := range p.folders {
		if f.unwatched {
			return true
		}
	}
	return false
}

// pollAll compares all polled folders at once.
func (w *Watcher) pollAll() {
	w.polling.refused = true // the next pass tries to watch them again
	for _, dir := range slices.Sorted(maps.Keys(w.polling.folders)) {
		if f := w.polling.folders[dir]; f != nil {
			w.pollFolder(f)
		}
	}
}

// poll compares some of the polled folders, if it is time.
func (w *Watcher) poll(now time.Time) {
	p := &w.polling
	w.told = now
	if len(p.folders) == 0 || now.Before(p.due) {
		return
	}
	if len(p.queue) == 0 {
		p.queue = slices.Sorted(maps.Keys(p.folders))
		p.spent, p.refused = 0, false
	}
	start := time.Now()
	for len(p.queue) > 0 && time.Since(start) < pollSlice {
		dir := p.queue[0]
		p.queue = p.queue[1:]
		if f := p.folders[dir]; f != nil {
			w.pollFolder(f)
		}
	}
	p.spent += time.Since(start)
	if len(p.queue) > 0 {
		p.due = time.Now()
		return
	}
	if !p.anyUnwatched() {
		w.troubles.noLimit()
	}
	p.due = time.Now().Add(min(max(pollShare*p.spent, pollPauseMin), pollPauseMax))
}

// pollFolder compares one folder. First it tries again to watch the folder; after a refusal, it does not try again
// during the same pass.
func (w *Watcher) pollFolder(f *folder) {
	p := &w.polling
	if f.unwatched && !p.refused {
		if _, _, err := w.open(f.path, f.link); err != nil {
			w.look(f.path)
			return
		}
		p.refused = f.unwatched
	}
	if f.scanned {
		for _, dir := range w.list(f, w.reg, true) {
			if w.folders[dir] == nil {
				w.walk([]string{dir}, w.reg, true, nil)
			}
		}
	}
	for root, a := range w.anchors {
		if a == f.path {
			w.look(root)
		}
	}
}
