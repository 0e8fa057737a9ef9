package logline

import "strings"

// Reader recognises the lines of one stream, in order: which lines belong to one entry, and the level of each entry. The zero
// value is ready. It is not safe for use by several goroutines.
type Reader struct {
	level   Level
	known   bool // the entry began in a format of a logger, or is a trace
	started bool
	reading
	// depth counts the open brackets of JSON over several lines, and members its lines.
	depth, members int
	// paused is the trace that the entry has interrupted: both outputs of a program are often one stream, in which other entries
	// stand between the lines of a trace.
	paused paused
}

// reading is the progress within a trace.
type reading struct {
	trace trace
	// closing is set after the last line of a trace, and chained if another trace of the entry is announced.
	closing, chained bool
	// code is set after a frame of Python, which a line of code follows.
	code bool
	// lines counts the lines of a trace that may have a message of one line.
	lines int
}

// paused is a trace that may continue. Its trace is none if nothing is paused.
type paused struct {
	reading
	level Level
	gap   int // the number of entries since the trace
}

const (
	maxGap  = 16   // entries after which a trace does not continue
	maxJSON = 2000 // lines after which brackets no longer keep an entry open
)

// Line returns the level of the next line, and whether it continues an entry, usually the entry of the line before: the lines
// of a stack trace, of an indented message, of JSON over several lines. A trace may continue after a few other entries:
// both outputs of a program are often one stream. All lines of an entry have its level. A trace without a level is an Error, as
// are the lines after it.
func (r *Reader) Line(text string) (level Level, continues bool) {
	t := plain(text, maxHead)
	continues = r.line(t) && r.started
	r.started = true
	return r.level, continues
}

// line reads a line without escape sequences, and reports whether it continues an entry. It tries in this order: JSON that is
// open, a trace that was interrupted, a frame of a trace, an indented line or another line of the present trace, the first line
// of a trace, and a line that a server attaches to an entry. Any other line begins an entry.
func (r *Reader) line(t string) (continues bool) {
	body := t[blanks(t, 0):]
	if body == "" || body == "\r" {
		return r.trace != none || r.depth > 0
	}
	indented := len(body) < len(t)
	if r.depth > 0 {
		if r.json(t, body) {
			return true
		}
		r.depth = 0
	}
	kind := frame(t, body)
	if r.resumes(t, body, kind) {
		return true
	}
	if kind != none {
		return r.frame(kind, body, indented)
	}
	switch {
	case indented && r.known:
		r.code = false
		return true
	case r.trace != none && r.follows(t):
		return true
	}
	if k := traceHead(body); k != none {
		return r.head(k, body)
	}
	if r.attached(body) {
		return true
	}
	h := recognise(body)
	r.begin(h.level, h.known)
	if opens(body) {
		r.depth, r.members = 1, 0
	}
	return false
}

// frame reads a line that occurs only within a trace.
func (r *Reader) frame(kind trace, body string, indented bool) (continues bool) {
	if kind == python && r.standsAlone() && syntaxError(body) {
		r.begin(Error, true)
		r.trace = python
		return false
	}
	r.join(kind)
	r.after(kind, indented)
	return true
}

// syntaxError reports whether a frame of Python may be the first line of a SyntaxError, which has no heading.
func syntaxError(body string) bool { return strings.HasPrefix(body, "File ") }

// standsAlone reports whether no entry is there that a line may belong to.
func (r *Reader) standsAlone() bool { return r.trace == none && !r.joins() }

// ofPanic reports whether a trace has a heading of its own, which no logger writes.
func ofPanic(kind trace) bool { return kind == golang || kind == rust }

// head reads the first line of a trace.
func (r *Reader) head(kind trace, body string) (continues bool) {
	// A logger's entry is followed by its trace; so are the traces of causes.
	if r.trace == none && r.joins() && !ofPanic(kind) {
		r.join(kind)
		return true
	}
	r.begin(Error, true)
	r.trace = kind
	if kind == node && exception(body) != unnamed {
		r.lines = 1
	}
	return false
}

// after notes the lines that a frame announces.
func (g *reading) after(kind trace, indented bool) {
	g.chained, g.code = kind == python && !indented, kind == python && indented
}

// begin starts an entry.
func (r *Reader) begin(l Level, known bool) {
	before := r.paused
	before.gap++
	if r.trace != none {
		before = paused{reading: r.reading, level: r.level}
	}
	if before.gap > maxGap || l >= Error {
		before = paused{}
	}
	*r = Reader{level: l, known: known, started: r.started, paused: before}
}

// resumes continues the trace that the present entry has interrupted, if the line belongs to it, and reports whether it does.
// kind is the trace that the line is a frame of, or none.
func (r *Reader) resumes(t, body string, kind trace) bool {
	if r.paused.trace == none || r.trace != none || r.joins() {
		return false
	}
	own := Reader{reading: r.paused.reading, level: r.paused.level, known: true, started: r.started}
	code := own.code
	own.code = false
	if !own.takes(t, body, kind, code) {
		return false
	}
	*r = own
	return true
}

// takes reads a line after a pause, and reports whether it belongs to the trace. code is set if the last line of the trace was a
// frame of Python.
func (r *Reader) takes(t, body string, kind trace, code bool) bool {
	indented := len(body) < len(t)
	switch {
	case kind == r.trace, kind == jvm && r.trace == node: // frames of Java, .NET and Node look alike
		r.after(kind, indented)
		return true
	case code && indented && r.trace == python: // the line of code below a frame
		return true
	case kind != none, indented:
		return false
	case exception(t) != unnamed:
		return r.follows(t)
	case traceHead(body) != none: // a trace of its own
		return false
	case r.trace == python && !r.chained:
		return false
	}
	return r.follows(t)
}

// joins reports whether an exception that begins now belongs to the entry. An entry at info level has no trace, so it is one
// of its own: another logger wrote it, or the runtime.
func (r *Reader) joins() bool { return r.known && r.level >= Warn }

// join continues the entry with a trace.
func (r *Reader) join(k trace) {
	if r.trace == none {
		r.trace = k
	}
	r.closing, r.known = false, true
	if r.level < Warn {
		r.level = Error
	}
}

// follows reports whether a line that is not indented continues the trace.
func (r *Reader) follows(t string) bool {
	switch r.trace {
	case golang:
		return beginsWithAny(t, goLines) || call(t) || register(t)
	case python:
		return r.pythonLine(t)
	case jvm, ruby:
		return strings.HasPrefix(t, "--- ") || t == "}"
	case node:
		return beginsWithAny(t, nodeLines) || exception(t) != unnamed && r.message()
	case rust:
		return strings.HasPrefix(t, "note: ") || r.message() && !recognise(t).known
	case php:
		return t[0] == '#' && digit(at(t, 1))
	case none:
	}
	return false
}

// goLines and nodeLines are beginnings of lines within a trace that are not indented.
var (
	goLines = []string{"[signal ", "[originating ", "created by ", "panic: ", "runtime: ", "runtime stack:", "PC=",
		"...additional frames elided"}
	nodeLines = []string{"}", "^", "Node.js v", "Thrown at:"}
)

// message reports whether the next line is the message of the trace, which is one line, and counts it as read.
func (g *reading) message() bool {
	g.lines++
	return g.lines == 1
}

// pythonLine reports whether a line is the exception below the frames, or the heading of another trace of the same exception.
func (r *Reader) pythonLine(t string) bool {
	if strings.HasPrefix(t, "Traceback (most recent call last)") {
		chained := r.chained
		r.chained = false
		return chained
	}
	if r.closing {
		return false
	}
	r.closing = pythonException(t)
	return r.closing
}

// pythonName are the characters of the name of an exception of Python.
var pythonName = classOf(small + capital + decimal + "._")

// pythonException reports whether a name begins the line like an exception's: alone, before a colon, before " [". A
// level of a logger is no such name.
func pythonException(t string) bool {
	n := pythonName.length(t)
	name, rest := t[:n], t[n:]
	if name == "" || !endsPythonName(rest) {
		return false
	}
	return word(name) == Unknown || exception(t) != unnamed || !recognise(t).known
}

func endsPythonName(rest string) bool {
	return rest == "" || rest[0] == ':' || strings.HasPrefix(rest, " [")
}

// attachments are lines that PostgreSQL writes after an entry as entries of their own.
var attachments = []string{" STATEMENT:  ", " DETAIL:  ", " HINT:  ", " CONTEXT:  ", " QUERY:  "}

// attached recognises lines that a server writes after an entry as entries of their own.
func (r *Reader) attached(t string) bool {
	return r.joins() && timeAt(t, 0) > 0 && hasAny(t[:min(len(t), 160)], attachments)
}
