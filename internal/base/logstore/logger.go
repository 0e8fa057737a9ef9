package logstore

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// Level is the severity of a line.
type Level int8

// The levels, rising.
const (
	LevelDebug Level = iota
	LevelInfo
	LevelWarn
	LevelError
)

// String returns the level's name in lower case.
func (l Level) String() string {
	switch l {
	case LevelDebug:
		return "debug"
	case LevelWarn:
		return "warn"
	case LevelError:
		return "error"
	case LevelInfo:
	}
	return "info"
}

// ParseLevel returns the level of a name that String returns. Any other is LevelInfo.
func ParseLevel(name string) Level {
	for _, l := range []Level{LevelDebug, LevelWarn, LevelError} {
		if l.String() == name {
			return l
		}
	}
	return LevelInfo
}

// Logger receives the output of one unit of work (a build, an evaluation, a container). It is safe for use by several
// goroutines. Text need not end in a line break: lines are assembled per logger and level.
type Logger interface {
	// Write adds raw text at a level.
	Write(level Level, text string)
	// Progress adds a line that replaces the previous one of this logger with the same id ("layer sha256:ab… 3 MB / 10
	// MB"). Readers that cannot replace lines show only some of them.
	Progress(id, text string, done bool)
}

// Infof writes one line at info level.
func Infof(l Logger, format string, args ...any) { line(l, LevelInfo, format, args) }

// Warnf writes one line at warn level.
func Warnf(l Logger, format string, args ...any) { line(l, LevelWarn, format, args) }

// Errorf writes one line at error level.
func Errorf(l Logger, format string, args ...any) { line(l, LevelError, format, args) }

// Debugf writes one line at debug level.
func Debugf(l Logger, format string, args ...any) { line(l, LevelDebug, format, args) }

func line(l Logger, level Level, format string, args []any) {
	text := fmt.Sprintf(format, args...)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	l.Write(level, text)
}

// Flush completes the lines that were written to l without a line break at their end. The code that starts a unit of
// work calls Flush when the work has ended. Without Flush such a line appears after a second, or when the store is
// closed.
func Flush(l Logger) {
	if f, ok := l.(interface{ Flush() }); ok {
		f.Flush()
	}
}

// WriterAt returns a writer whose text goes to l at the given level.
func WriterAt(l Logger, level Level) io.Writer { return levelWriter{l, level} }

type levelWriter struct {
	l     Logger
	level Level
}

func (w levelWriter) Write(p []byte) (int, error) {
	w.l.Write(w.level, string(p))
	return len(p), nil
}

// Indent returns a logger that puts prefix before every line that goes through it.
func Indent(l Logger, prefix string) Logger { return &indented{l: l, prefix: prefix} }

type indented struct {
	l      Logger
	prefix string

	mu  sync.Mutex
	mid [levels]bool // the level's last text did not end in a line break
}

func (i *indented) Write(level Level, text string) {
	if text == "" {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	end := strings.HasSuffix(text, "\n")
	out := strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+i.prefix)
	if !i.mid[level] {
		out = i.prefix + out
	}
	if end {
		out += "\n"
	}
	i.mid[level] = !end
	i.l.Write(level, out)
}

func (i *indented) Progress(id, text string, done bool) { i.l.Progress(id, i.prefix+text, done) }

// Flush completes unfinished lines.
func (i *indented) Flush() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mid = [levels]bool{}
	Flush(i.l)
}

// Discard is a logger that drops everything.
var Discard Logger = discard{}

type discard struct{}

func (discard) Write(Level, string)           {}
func (discard) Progress(string, string, bool) {}

// Func adapts a function to Logger, for tests and simple printers.
type Func func(level Level, text string)

// Write calls f.
func (f Func) Write(level Level, text string) { f(level, text) }

// Progress calls f at info level when the work is done.
func (f Func) Progress(_, text string, done bool) {
	if done {
		f(LevelInfo, text+"\n")
	}
}
