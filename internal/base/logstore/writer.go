package logstore

import (
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// maxLine is the length in bytes at which a line is split.
	maxLine = 1 << 20
	// openLineDelay is the time after which an unchanged unfinished line is stored as it is: a prompt, or a last
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
	// recognise is set for the output of programs, whose lines at info level are given the level that they name. reader
	// has read the lines so far.
	recognise bool
	reader    logline.Reader
	raised    Level // of the last line
}

// openLine is an unfinished line.
type openLine struct {
	text  []byte
	since time.Time
	// held is set for text that may end within a secret. It stays unfinished until more text or a flush arrives.
	held bool
	// cut is set if the beginning of the line was stored, because the line is overlong.
	cut bool
}

// progressLine is the state of one progress that is not done.
type progressLine struct {
	stored  time.Time
	pending string
}

// Logger returns a logger whose lines belong to the given resource, span and source. Each call returns a new logger.
// Lines are assembled per logger and level: two streams of a process need two levels or two loggers. A line at info level of
// SourceRuntime is stored as a warning or an error if it says that it is one, or belongs to a stack trace; no line is stored
// at a lower level than it was written.
func (s *Store) Logger(resource model.ManifestName, span string, source Source) Logger {
	return &writer{store: s, base: Entry{Resource: resource, Span: span, Source: source}, recognise: source == SourceRuntime}
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
		batch = w.appendEntry(batch, sc, now, level, whole[:at], o.cut)
		o.text, o.cut = append(o.text[:0], whole[at:]...), true
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
	rest := w.open[level].cut
	w.open[level].cut = false
	for len(line) > maxLine {
		at := sc.cut(line, maxLine)
		batch = w.appendEntry(batch, sc, now, level, line[:at], rest)
		line, rest = line[at:], true
	}
	return w.appendEntry(batch, sc, now, level, line, rest)
}

// appendEntry adds the entry of a line, or, with rest, of another part of the line before.
func (w *writer) appendEntry(batch []Entry, sc *scrubber, now time.Time, level Level, line string, rest bool) []Entry {
	e := w.base
	e.Time, e.Level, e.Text = now, level, clean(sc, line)
	e.Continues = e.Continues || rest
	if w.recognise && level == LevelInfo {
		if !rest {
			e.Level, e.Continues = recognised(&w.reader, e.Text)
			w.raised = e.Level
		}
		e.Level = w.raised
	}
	return append(batch, e)
}

// recognised returns the level of a line that was written at info level, and whether it continues an entry. It never lowers
// the level: a line that a program calls debug is still part of its output.
func recognised(r *logline.Reader, text string) (Level, bool) {
	l, continues := r.Line(text)
	switch l {
	case logline.Warn:
		return LevelWarn, continues
	case logline.Error:
		return LevelError, continues
	case logline.Unknown, logline.Debug, logline.Info:
	}
	return LevelInfo, continues
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
// their times. After Close it does nothing.
func (s *Store) Append(e Entry) {
	w := writer{store: s, base: e}
	w.append(e)
}

// append stores the lines of an entry.
func (w *writer) append(e Entry) {
	e.Level = clampLevel(e.Level)
	if e.Time.IsZero() {
		e.Time = w.store.now()
	}
	sc := w.store.scrub.Load()
	var one [2]Entry
	batch := one[:0]
	text := strings.TrimSuffix(e.Text, "\n")
	for {
		line, rest, more := strings.Cut(text, "\n")
		batch = w.appendLine(batch, sc, e.Time, e.Level, strings.TrimRight(line, "\r"))
		if !more {
			break
		}
		text, w.base.Continues = rest, !w.recognise
	}
	w.store.append(batch, true)
}

// Stream stores the lines of one program whose times are known, such as the log of a container. It is safe for use by
// several goroutines.
type Stream struct {
	mu sync.Mutex
	w  writer
}

// Stream returns a stream whose lines have the resource, span, source, pod and container of an entry, and its level unless a
// line states its own, as for Logger.
func (s *Store) Stream(base Entry) *Stream {
	return &Stream{w: writer{store: s, base: base, recognise: base.Source == SourceRuntime}}
}

// Append stores one or more whole lines as Store.Append does.
func (s *Stream) Append(at time.Time, prefix, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w.base.Prefix, s.w.base.Continues = prefix, false
	e := s.w.base
	e.Time, e.Text = at, text
	s.w.append(e)
}
