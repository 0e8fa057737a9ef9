package logline

import "strings"

// Reader recognises the lines of one stream, in order: which lines belong to one entry, and the level of each entry. The zero
// value is ready. It is not safe for use by several goroutines.
type Reader struct {
	level   Level
	known   bool // the entry began in a format of a logger, or is a trace
	started bool
	trace   trace
	// closing is set when the last line of a trace has been read, and chained when another trace of the entry is announced.
	closing, chained bool
	code             bool // the last line was a frame of Python
	// depth is that of the brackets of JSON over several lines. lines counts its lines, or those of a trace that may have a
	// message of one line.
	depth, lines int
	// paused is the trace that the entry has interrupted: both outputs of a program are often one stream, in which other entries
	// stand between the lines of a trace.
	paused paused
}

// paused is what must be known of a trace to go on with it.
type paused struct {
	trace trace // none if nothing is paused
	// gap counts the entries since then. closing and chained are those of the reader, and code is set if the last line was a
	// frame of Python, which a line of code follows.
	gap                    int
	closing, chained, code bool
	level                  Level
	lines                  int
}

// maxGap is after how many other entries a trace is not gone on with.
const maxGap = 16

// trace is the kind of stack trace that is being read.
type trace uint8

const (
	none trace = iota
	golang
	python
	jvm // Java, and .NET and Node, whose frames look alike
	node
	rust
	ruby
	php
)

// maxJSON is the number of lines after which JSON over several lines counts as one no more.
const maxJSON = 2000

// Line returns the level of the next line, and whether it continues an entry, as a rule that of the line before: the lines of a stack trace,
// of an indented message, of JSON over several lines. A trace is gone on with after a few other entries: both outputs of a program
// are often one stream. All lines of an entry have its level. A trace without a level is an
// Error, as are the lines after it.
func (r *Reader) Line(text string) (level Level, continues bool) {
	t := plain(text, maxHead)
	continues = r.line(t) && r.started
	r.started = true
	return r.level, continues
}

func (r *Reader) line(t string) (continues bool) {
	body := t[blanks(t, 0):]
	if body == "" || body == "\r" {
		return r.trace != none || r.depth > 0
	}
	indented := len(body) < len(t)
	if r.depth > 0 {
		if r.json(t, body, indented) {
			return true
		}
		r.depth = 0
	}
	if r.resumes(t, body, indented) {
		return true
	}
	if k := frame(t, body, indented); k != none {
		if r.trace == none && k == python && strings.HasPrefix(body, "File ") && !r.joins() { // a SyntaxError
			r.begin(Error, true)
			r.trace = python
			return false
		}
		r.join(k)
		r.chained, r.code = k == python && !indented, k == python && indented
		return true
	}
	if indented && r.known {
		r.code = false
		return true
	}
	if r.trace != none && r.follows(t) {
		return true
	}
	if k := traceHead(body); k != none {
		// A logger's entry is followed by its trace; so are the traces of causes.
		if r.joins() && r.trace == none && k != golang && k != rust {
			r.join(k)
			return true
		}
		r.begin(Error, true)
		r.trace = k
		if k == node && exception(body) != 0 {
			r.lines = 1
		}
		return false
	}
	if r.attached(body) {
		return true
	}
	h := recognise(body)
	r.begin(h.level, h.known)
	if opens(body) {
		r.depth, r.lines = 1, 0
	}
	return false
}

// begin starts an entry.
func (r *Reader) begin(l Level, known bool) {
	before := r.paused
	before.gap++
	if r.trace != none {
		before = paused{r.trace, 0, r.closing, r.chained, r.code, r.level, r.lines}
	}
	if before.gap > maxGap || l >= Error {
		before = paused{}
	}
	*r = Reader{level: l, known: known, started: r.started, paused: before}
}

// resumes goes on with the trace that the present entry has interrupted, if the line belongs to it, and reports whether it does.
func (r *Reader) resumes(t, body string, indented bool) bool {
	p := r.paused
	if p.trace == none || r.trace != none || r.joins() {
		return false
	}
	k := frame(t, body, indented)
	own := Reader{trace: p.trace, closing: p.closing, chained: p.chained, lines: p.lines, level: p.level, known: true, started: r.started}
	switch {
	case k == p.trace, k == jvm && p.trace == node: // frames of Java, .NET and Node look alike
		own.chained, own.code = k == python && !indented, k == python && indented
	case p.trace == python && p.code && indented: // the line of code below a frame
	case k != none || indented || traceHead(body) != none && exception(t) == 0: // a trace of its own
		return false
	case p.trace == python && exception(t) == 0 && !p.chained, !own.follows(t):
		return false
	}
	*r = own
	return true
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

// frame recognises lines that occur only within a trace: frames, causes, goroutines.
func frame(t, body string, indented bool) trace {
	if !indented {
		switch at(t, 0) {
		case 'C', '.', 'a', 'g', 's', 'S', 'D', 'T':
		default:
			return none
		}
		switch {
		case strings.HasPrefix(t, "Caused by: "), strings.HasPrefix(t, "... ") && strings.HasSuffix(t, " more"):
			return jvm
		case strings.HasPrefix(t, "at ") && strings.HasSuffix(t, ")") && strings.Contains(t, "("):
			return jvm
		case strings.HasPrefix(t, "goroutine ") && digit(at(t, 10)) && strings.HasSuffix(t, "]:"):
			return golang
		case strings.HasPrefix(t, "stack backtrace:"):
			return rust
		case strings.HasPrefix(t, "Stack trace:"):
			return php
		case strings.HasPrefix(t, "During handling of the above exception"), strings.HasPrefix(t, "The above exception was the direct cause"):
			return python
		}
		return none
	}
	switch {
	case strings.HasPrefix(body, "at ") && len(body) > 4 && framed(body[3:]):
		return jvm
	case strings.HasPrefix(body, "... ") && strings.HasSuffix(body, " more"), strings.HasPrefix(body, "Suppressed: "), strings.HasPrefix(body, "--- End of "),
		strings.HasPrefix(body, "Caused by: "), strings.HasPrefix(body, "---> "):
		return jvm
	case strings.HasPrefix(body, `File "`) && strings.Contains(body, `", line `):
		return python
	case strings.HasPrefix(body, "from ") && strings.Contains(body, ":in "):
		return ruby
	case t[0] == '\t' && strings.Contains(body, ".go:") && (strings.Contains(body, " +0x") || strings.HasPrefix(body, "/")):
		return golang
	}
	return none
}

// framed reports whether the text after "at " is a frame of a stack rather than prose: a call with its place, or a place.
func framed(s string) bool {
	if i := strings.IndexByte(s, '('); i > 0 {
		return strings.IndexByte(s[:i], '.') > 0 || strings.IndexByte(s[i:], ':') > 0 || s[i-1] == ' '
	}
	s = strings.TrimPrefix(s, "async ")
	return strings.IndexByte(s, ' ') < 0 && (strings.IndexByte(s, ':') > 0 || strings.HasSuffix(s, "{")) || strings.Contains(s, " in ")
}

// traceHead recognises the first line of a trace that has no level in a format of a logger.
func traceHead(t string) trace {
	if t == "" {
		return none
	}
	switch t[0] {
	case 'p':
		if strings.HasPrefix(t, "panic: ") {
			return golang
		}
	case 'f':
		if strings.HasPrefix(t, "fatal error: ") {
			return golang
		}
	case 'S':
		if strings.HasPrefix(t, "SIGQUIT: quit") || strings.HasPrefix(t, "SIGSEGV: ") || strings.HasPrefix(t, "SIGABRT: ") {
			return golang
		}
	case 'T':
		if strings.HasPrefix(t, "Traceback (most recent call last)") {
			return python
		}
	case '+':
		if strings.HasPrefix(t, "+ Exception Group Traceback ") {
			return python
		}
	case 't':
		if strings.HasPrefix(t, "thread '") && strings.Contains(t, " panicked at ") {
			return rust
		}
	case 'E':
		if strings.HasPrefix(t, "Exception in thread ") {
			return jvm
		}
	case 'U':
		if strings.HasPrefix(t, "Unhandled exception") {
			return jvm
		}
		if strings.HasPrefix(t, "Uncaught ") {
			return node
		}
	case 'P':
		if strings.HasPrefix(t, "PHP Fatal error:  Uncaught ") {
			return php
		}
	}
	if t[len(t)-1] != ')' {
		// the rest is no head of Ruby
	} else if i := strings.Index(t[:min(len(t), 300)], ".rb:"); i > 0 && strings.IndexByte(t[:i], ' ') < 0 {
		n := digits(t, i+4)
		if n > 0 && strings.HasPrefix(t[i+4+n:], ":in ") && strings.HasSuffix(t, ")") {
			return ruby
		}
	}
	switch exception(t) {
	case 0:
		if source(t) {
			return node
		}
		return none
	case '.':
		return jvm
	}
	return node
}

// exception recognises "java.io.IOException: x", "TypeError: x", "Error: x" and "Error [CODE]: x", and returns '.' for a
// qualified name, 'E' for another, else 0.
func exception(t string) byte {
	i, last, dots := 0, 0, 0
	for i < len(t) && i < 200 && (alnum(t[i]) || t[i] == '.' || t[i] == '_' || t[i] == '$' || t[i] == ':' && at(t, i+1) == ':' && upper(at(t, i+2)) || t[i] == ':' && at(t, i-1) == ':') {
		if t[i] == '.' || t[i] == ':' {
			last, dots = i+1, dots+1
		}
		i++
	}
	name := t[last:i]
	if name == "" || !upper(name[0]) || !strings.HasSuffix(name, "Error") && !strings.HasSuffix(name, "Exception") && !(strings.HasSuffix(name, "Throwable") && dots > 0) {
		return 0
	}
	switch {
	case i == len(t) && dots > 0, strings.HasPrefix(t[i:], ": "), i+1 == len(t) && t[i] == ':':
	case strings.HasPrefix(t[i:], " [") && strings.Contains(t[i:], "]"), strings.HasPrefix(t[i:], " (") && len(name) > len("Error"):
	default:
		return 0
	}
	if dots > 0 {
		return '.'
	}
	return 'E'
}

// source recognises the line "/app/index.js:3" above the source text of an error that Node did not catch.
func source(t string) bool {
	i := len(t) - 1
	for i > 0 && digit(t[i]) {
		i--
	}
	if i < 4 || i == len(t)-1 || t[i] != ':' || strings.IndexByte(t, ' ') >= 0 {
		return false
	}
	return (t[0] == '/' || strings.HasPrefix(t, "file:///") || strings.HasPrefix(t, "node:")) &&
		(strings.HasSuffix(t[:i], "js") || strings.HasSuffix(t[:i], "ts") || strings.HasPrefix(t, "node:"))
}

// follows reports whether a line that is not indented continues the trace.
func (r *Reader) follows(t string) bool {
	switch r.trace {
	case golang:
		return strings.HasPrefix(t, "[signal ") || strings.HasPrefix(t, "[originating ") || strings.HasPrefix(t, "created by ") || strings.HasPrefix(t, "panic: ") ||
			strings.HasPrefix(t, "runtime: ") || strings.HasPrefix(t, "runtime stack:") || strings.HasPrefix(t, "PC=") || strings.HasPrefix(t, "...additional frames elided") ||
			call(t) || register(t)
	case python:
		if strings.HasPrefix(t, "Traceback (most recent call last)") {
			chained := r.chained
			r.chained = false
			return chained
		}
		if r.closing {
			return false
		}
		n := 0
		for n < len(t) && (alnum(t[n]) || t[n] == '.' || t[n] == '_') {
			n++
		}
		if n > 0 && (n == len(t) || t[n] == ':' || t[n] == ' ' && strings.HasPrefix(t[n:], " [")) && !(recognise(t).known && exception(t) == 0 && word(t[:n]) != Unknown) {
			r.closing = true
			return true
		}
		return false
	case jvm, ruby:
		return strings.HasPrefix(t, "--- ") || t == "}"
	case node:
		if t[0] == '}' || strings.HasPrefix(t, "Node.js v") || strings.HasPrefix(t, "Thrown at:") {
			return true
		}
		if r.lines == 0 && exception(t) != 0 { // below the source text
			r.lines++
			return true
		}
		return t[0] == '^'
	case rust:
		if strings.HasPrefix(t, "note: ") {
			return true
		}
		if r.lines == 0 { // the message
			r.lines++
			return !recognise(t).known
		}
		return false
	case php:
		return t[0] == '#' && digit(at(t, 1))
	case none:
	}
	return false
}

// call recognises a frame of a goroutine: "main.(*T).f(0x1, {0x2, 0x3})".
func call(t string) bool {
	if !strings.HasSuffix(t, ")") {
		return false
	}
	i := strings.IndexByte(t, '(')
	return i > 0 && strings.IndexByte(t[:i], ' ') < 0 && strings.IndexByte(t[:i], '.') > 0
}

// register recognises a line of the registers that a Go program prints when it dies of a signal: "rax    0x0".
func register(t string) bool {
	i := strings.IndexByte(t, ' ')
	return i > 0 && i < 8 && strings.HasPrefix(strings.TrimLeft(t[i:], " "), "0x") && len(t) < 40
}

// attached recognises lines that a server writes after an entry as entries of their own.
func (r *Reader) attached(t string) bool {
	if !r.known || r.level < Warn || !digit(t[0]) || timeAt(t, 0) == 0 {
		return false
	}
	for _, w := range []string{"STATEMENT:  ", "DETAIL:  ", "HINT:  ", "CONTEXT:  ", "QUERY:  "} { // PostgreSQL
		if i := strings.Index(t[:min(len(t), 160)], w); i > 0 && at(t, i-1) == ' ' {
			return true
		}
	}
	return false
}

// opens reports whether JSON over several lines begins.
func opens(t string) bool {
	if t[0] != '{' && t[0] != '[' || len(t) > 8 {
		return false
	}
	t = strings.TrimRight(t, " \t\r")
	return t == "{" || t == "[" || t == "[{"
}

// json reads a line of JSON over several lines.
func (r *Reader) json(t, body string, indented bool) bool {
	c := body[0]
	if r.lines++; r.lines > maxJSON || !indented && c != '}' && c != ']' && c != '"' && c != '{' {
		return false
	}
	if c == '"' && r.level == Unknown {
		if end := quoted(body, 0); end > 0 && levelKey(body[1:end]) {
			if j := blanks(body, end+1); at(body, j) == ':' {
				r.level = value(body[1:end], scalar(body, blanks(body, j+1)))
			}
		}
	}
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '{', '[':
			r.depth++
		case '}', ']':
			r.depth--
		case '"':
			if end := quoted(t, i); end > 0 {
				i = end
			}
		}
	}
	r.depth = max(r.depth, 0)
	return true
}
