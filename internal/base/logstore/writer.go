package logstore

import (
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

const (
	// maxLine is the length in bytes at which a line is split.
	maxLine = 1 << 20
	// openLineDelay is how long an unfinished line may stay unchanged before it is stored as it is: a prompt, or a last
	// line without a line break.
	openLineDelay = time.Second
	// progressDelay is the least time between two stored lines of one progress. Only the newest line in between is
	// kept.
	progressDelay = 100 * time.Millisecond
)

// writer is the store's Logger: it assembles lines and stores them.
type writer struct {
	store *Store
	base  Entry

	// mu is held while lines go into the store, so that the lines of one logger keep their order. The keeper uses only
	// TryLock: a writer that waits for the keeper to free memory may hold it.
	mu       sync.Mutex
	open     [levels]openLine
	progress map[string]*progressLine
}

// openLine is an unfinished line.
type openLine struct {
	text  []byte
	since time.Time
	// held is set for text that may end within a secret. It stays unfinished until more text or a flush arrives.
	held bool
}

// progressLine is the state of one progress that is not done.
type progressLine struct {
	stored  time.Time
	pending string
}

// Logger returns a logger whose lines belong to the given resource, span and source. Each call returns a new logger.
// Lines are assembled per logger and level: two streams of a process need two levels or two loggers.
func (s *Store) Logger(resource model.ManifestName, span string, source Source) Logger {
	return &writer{store: s, base: Entry{Resource: resource, Span: span, Source: source}}
}

// Write adds text at a level. A carriage return within a line discards the text before it, as on a terminal.
func (w *writer) Write(level Level, text string) {
	if text == "" {
		return
	}
	level = clampLevel(level)
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.store.now()
	sc := w.store.scrub.Load()
	var one [4]Entry
	batch := one[:0]
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			break
		}
		batch = w.appendLine(batch, sc, now, level, w.complete(level, text[:i]))
		text = text[i+1:]
	}
	if text != "" {
		batch = w.extend(batch, sc, now, level, text)
	}
	w.store.append(batch, true)
}

// complete returns the line that ends with text.
func (w *writer) complete(level Level, text string) string {
	if o := &w.open[level]; len(o.text) > 0 {
		text = string(o.text) + text
		o.text = o.text[:0]
		if cap(o.text) > 64<<10 {
			o.text = nil
		}
	}
	return overwrite(strings.TrimRight(text, "\r"))
}

// extend adds text to the open line of a level.
func (w *writer) extend(batch []Entry, sc *scrubber, now time.Time, level Level, text string) []Entry {
	o := &w.open[level]
	returned := len(o.text) > 0 && o.text[len(o.text)-1] == '\r' || strings.IndexByte(text, '\r') >= 0
	o.text = append(o.text, text...)
	if returned {
		whole := string(o.text)
		line := strings.TrimRight(whole, "\r")
		o.text = append(append(o.text[:0], overwrite(line)...), whole[len(line):]...)
	}
	for len(o.text) > maxLine {
		whole := string(o.text)
		at := sc.cut(whole, maxLine)
		batch = w.appendEntry(batch, sc, now, level, whole[:at])
		o.text = append(o.text[:0], whole[at:]...)
	}
	o.since, o.held = time.Now(), false
	w.store.keeper.watch(w)
	return batch
}

// overwrite applies the carriage returns within a line.
func overwrite(line string) string {
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		return line[i+1:]
	}
	return line
}

// appendLine adds the entries of a whole line, more than one if it is overlong.
func (w *writer) appendLine(batch []Entry, sc *scrubber, now time.Time, level Level, line string) []Entry {
	for len(line) > maxLine {
		at := sc.cut(line, maxLine)
		batch = w.appendEntry(batch, sc, now, level, line[:at])
		line = line[at:]
	}
	return w.appendEntry(batch, sc, now, level, line)
}

func (w *writer) appendEntry(batch []Entry, sc *scrubber, now time.Time, level Level, line string) []Entry {
	e := w.base
	e.Time, e.Level, e.Text = now, level, clean(sc, line)
	return append(batch, e)
}

// clean removes secrets and invalid UTF-8 from a line.
func clean(sc *scrubber, line string) string {
	return strings.ToValidUTF8(sc.line(line), "\uFFFD")
}

// Progress adds or replaces the line of a progress.
func (w *writer) Progress(id, text string, done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\n", " ")
	p := w.progress[id]
	if p == nil {
		p = &progressLine{}
		if w.progress == nil {
			w.progress = map[string]*progressLine{}
		}
		w.progress[id] = p
	}
	if !done && time.Since(p.stored) < progressDelay {
		p.pending = text
		w.store.keeper.watch(w)
		return
	}
	w.storeProgress(id, text, done, true)
}

// storeProgress stores the newest line of a progress; w.mu is held.
func (w *writer) storeProgress(id, text string, done, wait bool) {
	e := w.base
	e.Time, e.Level, e.Text = w.store.now(), LevelInfo, clean(w.store.scrub.Load(), text)
	e.ProgressID, e.ProgressDone = id, done
	w.store.append([]Entry{e}, wait)
	if done {
		delete(w.progress, id)
		return
	}
	p := w.progress[id]
	p.stored, p.pending = time.Now(), ""
}

// Flush completes open lines.
func (w *writer) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush(true, true)
	w.store.keeper.forget(w)
}

// settle stores lines that have been unchanged for long enough, and tells the keeper whether to check the writer again.
// It does nothing while another goroutine writes.
func (w *writer) settle() {
	if !w.mu.TryLock() {
		return
	}
	defer w.mu.Unlock()
	switch more := w.flush(false, false); {
	case more:
	case w.hasOpen():
		w.store.keeper.hold(w)
	default:
		w.store.keeper.forget(w)
	}
}

// flush stores open lines and progresses: all of them, or those that have been unchanged for long enough. wait allows
// it to wait for memory in the store. more reports whether a later call may store more. w.mu is held.
func (w *writer) flush(all, wait bool) (more bool) {
	sc := w.store.scrub.Load()
	var batch []Entry
	for level := range w.open {
		o := &w.open[level]
		if len(o.text) == 0 {
			continue
		}
		if !all {
			if o.held {
				continue
			}
			if time.Since(o.since) < openLineDelay {
				more = true
				continue
			}
			if sc.isOpen(string(o.text)) {
				o.held = true
				continue
			}
		}
		batch = w.appendLine(batch, sc, w.store.now(), Level(level), w.complete(Level(level), ""))
	}
	w.store.append(batch, wait)
	for id, p := range w.progress {
		switch {
		case p.pending == "":
		case all || time.Since(p.stored) >= progressDelay:
			w.storeProgress(id, p.pending, false, wait)
		default:
			more = true
		}
	}
	return more
}

// hasOpen reports whether a flush would store anything.
func (w *writer) hasOpen() bool {
	for level := range w.open {
		if len(w.open[level].text) > 0 {
			return true
		}
	}
	return false
}

func clampLevel(l Level) Level { return min(max(l, LevelDebug), LevelError) }

// Append stores text with an explicit time and level. Lines are read in the order in which they are stored, whatever
// their times. It is safe to call after Close, and does nothing then.
func (s *Store) Append(e Entry) {
	e.Level = clampLevel(e.Level)
	if e.Time.IsZero() {
		e.Time = s.now()
	}
	sc := s.scrub.Load()
	w := writer{store: s, base: e}
	var one [2]Entry
	batch := one[:0]
	text := strings.TrimSuffix(e.Text, "\n")
	for {
		line, rest, more := strings.Cut(text, "\n")
		batch = w.appendLine(batch, sc, e.Time, e.Level, strings.TrimRight(line, "\r"))
		if !more {
			break
		}
		text = rest
	}
	s.append(batch, true)
}
