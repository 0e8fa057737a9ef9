package logstore

import (
	"strings"
	"sync"
)

// Logger returns a logger that passes on to another one what is written to it, line by line, without the secrets.
func (s Scrubber) Logger(to Logger) Logger {
	if s.Empty() {
		return to
	}
	return &scrubbed{Scrubber: s, to: to}
}

// scrubbed is described at Scrubber.Logger.
type scrubbed struct {
	Scrubber
	to Logger

	mu    sync.Mutex
	level Level
	// rest is the beginning of a line, in which a secret may have begun.
	rest []byte
}

// Write implements Logger.
func (l *scrubbed) Write(level Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.level = level
	l.rest = append(l.rest, text...)
	end := strings.LastIndexByte(text, '\n') + 1
	switch {
	case end > 0:
		l.pass(len(l.rest) - len(text) + end)
	case len(l.rest) > maxLine:
		l.pass(l.sc.cut(string(l.rest), maxLine))
	}
}

// Progress implements Logger.
func (l *scrubbed) Progress(id, text string, done bool) { l.to.Progress(id, l.Text(text), done) }

// Flush completes a line that was written without a line break at its end.
func (l *scrubbed) Flush() {
	l.mu.Lock()
	l.pass(len(l.rest))
	l.mu.Unlock()
	Flush(l.to)
}

// pass passes on the first n bytes of what is left.
func (l *scrubbed) pass(n int) {
	if n > 0 {
		l.to.Write(l.level, l.Text(string(l.rest[:n])))
		l.rest = append(l.rest[:0], l.rest[n:]...)
	}
}
