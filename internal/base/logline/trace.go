package logline

import "strings"

// trace is a kind of stack trace.
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

// flush are lines that occur only within a trace and are not indented: causes, goroutines, headings.
var flush = ruled([]rule[trace]{
	{shape{prefix: "Caused by: "}, jvm},
	{shape{prefix: "... ", suffix: " more"}, jvm},
	{shape{prefix: "at ", has: "(", suffix: ")"}, jvm},
	{shape{prefix: "stack backtrace:"}, rust},
	{shape{prefix: "Stack trace:"}, php},
	{shape{prefix: "During handling of the above exception"}, python},
	{shape{prefix: "The above exception was the direct cause"}, python},
})

// indented are lines that occur only within a trace, without the blanks before them.
var indented = ruled([]rule[trace]{
	{shape{prefix: "Caused by: "}, jvm},
	{shape{prefix: "Suppressed: "}, jvm},
	{shape{prefix: "... ", suffix: " more"}, jvm},
	{shape{prefix: "--- End of "}, jvm},
	{shape{prefix: "---> "}, jvm},
	{shape{prefix: `File "`, has: `", line `}, python},
	{shape{prefix: "from ", has: ":in "}, ruby},
})

// frame recognises lines that occur only within a trace. body is t without the blanks before it.
func frame(t, body string) trace {
	if len(body) == len(t) {
		if goroutine(t) {
			return golang
		}
		return flush.of(t)
	}
	switch {
	case strings.HasPrefix(body, "at ") && len(body) > 4 && framed(body[3:]):
		return jvm
	case t[0] == '\t' && goFile(body):
		return golang
	}
	return indented.of(body)
}

// goroutine reports whether a line is the heading of a goroutine: "goroutine 1 [running]:".
func goroutine(t string) bool {
	return strings.HasPrefix(t, "goroutine ") && digit(at(t, 10)) && strings.HasSuffix(t, "]:")
}

// goFile reports whether a line is the file of a frame of a goroutine: "/app/main.go:3 +0x1d".
func goFile(body string) bool {
	return strings.Contains(body, ".go:") && (strings.HasPrefix(body, "/") || strings.Contains(body, " +0x"))
}

// framed reports whether the text after "at " is a frame of a stack rather than prose: a call with its place, or a place.
func framed(s string) bool {
	if i := strings.IndexByte(s, '('); i > 0 {
		return strings.IndexByte(s[:i], '.') > 0 || strings.IndexByte(s[i:], ':') > 0 || s[i-1] == ' '
	}
	s = strings.TrimPrefix(s, "async ")
	if strings.IndexByte(s, ' ') >= 0 {
		return strings.Contains(s, " in ")
	}
	return strings.IndexByte(s, ':') > 0 || strings.HasSuffix(s, "{")
}

// traceHeads are the first lines of traces that have no level in a format of a logger.
var traceHeads = ruled([]rule[trace]{
	{shape{prefix: "panic: "}, golang},
	{shape{prefix: "fatal error: "}, golang},
	{shape{prefix: "SIGQUIT: quit"}, golang},
	{shape{prefix: "SIGSEGV: "}, golang},
	{shape{prefix: "SIGABRT: "}, golang},
	{shape{prefix: "Traceback (most recent call last)"}, python},
	{shape{prefix: "+ Exception Group Traceback "}, python},
	{shape{prefix: "thread '", has: " panicked at "}, rust},
	{shape{prefix: "Exception in thread "}, jvm},
	{shape{prefix: "Unhandled exception"}, jvm},
	{shape{prefix: "Uncaught "}, node},
	{shape{prefix: "PHP Fatal error:  Uncaught "}, php},
})

// traceHead recognises the first line of a trace that has no level in a format of a logger.
func traceHead(t string) trace {
	if t == "" {
		return none
	}
	if k := traceHeads.of(t); k != none {
		return k
	}
	if rubyHead(t) {
		return ruby
	}
	switch exception(t) {
	case qualified:
		return jvm
	case simple:
		return node
	case unnamed:
	}
	if source(t) {
		return node
	}
	return none
}

// rubyHead recognises "app.rb:3:in 'f': message (RuntimeError)".
func rubyHead(t string) bool {
	if t[len(t)-1] != ')' {
		return false
	}
	file, rest, _ := strings.Cut(t, ".rb:")
	if file == "" || len(file) > 296 || strings.IndexByte(file, ' ') >= 0 {
		return false
	}
	n := digits(rest, 0)
	return n > 0 && strings.HasPrefix(rest[n:], ":in ")
}

// named is the way in which a line names an exception.
type named uint8

const (
	unnamed   named = iota
	simple          // "TypeError: x"
	qualified       // "java.io.IOException: x"
)

// nameBytes bounds the name of an exception.
const nameBytes = 200

// exception recognises "java.io.IOException: x", "TypeError: x", "Error: x" and "Error [CODE]: x".
func exception(t string) named {
	name, rest := exceptionName(t)
	ending := exceptionEnding(name)
	if ending == "" {
		return unnamed
	}
	last := strings.LastIndexAny(name, ".:") + 1
	is := simple
	if last > 0 {
		is = qualified
	}
	name = name[last:]
	switch {
	case name == "", !upper(name[0]), !endsName(name, rest, is), ending == "Throwable" && is == simple:
		return unnamed
	}
	return is
}

// exceptionEnding returns the word that ends the names of exceptions, if name ends with one.
func exceptionEnding(name string) string {
	for _, ending := range []string{"Error", "Exception", "Throwable"} {
		if strings.HasSuffix(name, ending) {
			return ending
		}
	}
	return ""
}

// exceptionName cuts a line behind the name that it begins with: letters, digits, dots, and "::" before a capital.
func exceptionName(t string) (name, rest string) {
	i := 0
	for i < min(len(t), nameBytes) && (inName[t[i]] || colons(t, i)) {
		i++
	}
	return t[:i], t[i:]
}

// inName are the characters of the qualified name of an exception.
var inName = classOf(small + capital + decimal + "._$")

// colons reports whether one of the two colons of "A::B" is at i.
func colons(t string, i int) bool {
	if t[i] != ':' {
		return false
	}
	return at(t, i-1) == ':' || at(t, i+1) == ':' && upper(at(t, i+2))
}

// endsName reports whether the rest of a line may follow the name of an exception: nothing, a message, a code.
func endsName(name, rest string, is named) bool {
	switch {
	case rest == "":
		return is == qualified
	case rest == ":", strings.HasPrefix(rest, ": "):
		return true
	case strings.HasPrefix(rest, " ["):
		return strings.Contains(rest, "]")
	}
	return strings.HasPrefix(rest, " (") && len(name) > len("Error")
}

// source recognises the line "/app/index.js:3" above the source text of an error that Node did not catch.
func source(t string) bool {
	if !digit(t[len(t)-1]) || strings.IndexByte(t, ' ') >= 0 {
		return false
	}
	file, ok := strings.CutSuffix(strings.TrimRight(t, decimal), ":")
	if !ok || len(file) < 4 {
		return false
	}
	if strings.HasPrefix(t, "node:") {
		return true
	}
	return beginsWithAny(t, sourceRoots) && (strings.HasSuffix(file, "js") || strings.HasSuffix(file, "ts"))
}

var sourceRoots = []string{"/", "file:///"}

// call recognises a frame of a goroutine: "main.(*T).f(0x1, {0x2, 0x3})".
func call(t string) bool {
	if !strings.HasSuffix(t, ")") {
		return false
	}
	name, _, ok := strings.Cut(t, "(")
	return ok && strings.IndexByte(name, ' ') < 0 && strings.IndexByte(name, '.') > 0
}

// register recognises a line of the registers that a Go program prints when it dies of a signal: "rax    0x0".
func register(t string) bool {
	if len(t) >= 40 {
		return false
	}
	name, number, _ := strings.Cut(t, " ")
	return name != "" && len(name) < 8 && strings.HasPrefix(strings.TrimLeft(number, " "), "0x")
}
