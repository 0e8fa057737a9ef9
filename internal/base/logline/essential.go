package logline

import (
	"cmp"
	"slices"
	"strings"
)

// How the lines that explain a failure are chosen. Essential gets the lines of a log and reads them with a Reader of its own:
//
//	entries      the entries in the lines, each with its level
//	single       the weight of each line by itself
//	deadlyHead,  the last entry that is a panic, an exception or a fatal message;
//	  traced       weighTrace weighs its lines again, by their roles in it (ending)
//	Essential    the heaviest lines; of equal ones the last, but the first of a compiler's or a tool's messages
//
// If no line weighs more than a warning, the last lines are chosen. All functions are pure, except that the methods of ending
// collect the roles of one entry.

// The weights of lines, by the light that they throw on the end of a program or of a command.
const (
	weightNothing = iota
	weightExit    // "exit status 1": that it failed, not why
	weightWarning
	weightFailure // an error in the words of a tool
	weightError   // a line at error level
	weightFrame   // a frame in the user's own code
	weightCompile // a compiler's message
	weightCause   // of an exception
	weightFatal   // a panic, an exception, a line at fatal level
)

// Essential returns the indices, in their order, of at most n lines that tell best why a program died or a command failed: the
// last panic, exception or fatal line with its first frames in the user's own code, or the first messages of a compiler, or
// the lines at error level. Where nothing of that kind is found, these are the last lines that are not blank.
func Essential(lines []string, n int) []int {
	if n <= 0 || len(lines) == 0 {
		return nil
	}
	weights, best := weigh(lines)
	var all []int
	for i, w := range weights {
		if w > weightWarning && (w != weightFrame || best >= weightCause) {
			all = append(all, i)
		}
	}
	if best <= weightWarning {
		return last(lines, weights, n)
	}
	slices.SortStableFunc(all, func(i, j int) int {
		if c := cmp.Compare(weights[j], weights[i]); c != 0 {
			return c
		}
		if w := weights[i]; w == weightCompile || w == weightFailure { // the first one causes the others
			return cmp.Compare(i, j)
		}
		return cmp.Compare(j, i)
	})
	chosen := all[:min(n, len(all))]
	slices.Sort(chosen)
	return chosen
}

// weigh returns the weight of each line and the greatest one. Only the last trace or fatal entry counts as such, so that the
// frames belong to the fault that ended the program.
func weigh(lines []string) (weights []int, best int) {
	weights = make([]int, len(lines))
	starts, levels := entries(lines)
	fatal := -1
	for e, start := range starts {
		end := len(lines)
		if e+1 < len(starts) {
			end = starts[e+1]
		}
		deadly := levels[e] == Error && (deadlyHead(lines[start]) || traced(lines[start:end]))
		if deadly {
			fatal = e
		}
		for i := start; i < end; i++ {
			weights[i] = single(lines[i], levels[e], i == start)
		}
	}
	if fatal >= 0 {
		end := len(lines)
		if fatal+1 < len(starts) {
			end = starts[fatal+1]
		}
		weighTrace(lines, weights, starts[fatal], end)
	}
	for _, w := range weights {
		best = max(best, w)
	}
	return weights, best
}

// entries returns where the entries of lines begin, and their levels.
func entries(lines []string) (starts []int, levels []Level) {
	var r Reader
	for i, l := range lines {
		level, continues := r.Line(step(l))
		if !continues {
			starts, levels = append(starts, i), append(levels, level)
		}
		e := len(levels) - 1
		levels[e] = max(levels[e], level)
	}
	return starts, levels
}

// step returns a line without the prefix that BuildKit puts before the output of a build's step: "#9 1.92 ".
func step(l string) string {
	t := Plain(l)
	if at(t, 0) != '#' {
		return t
	}
	n := 1 + digits(t, 1)
	if n == 1 || at(t, n) != ' ' {
		return t
	}
	rest := t[n+1:]
	return rest[seconds(rest):]
}

// seconds returns the length of the time of a step and the space behind it, "1.92 ", or 0.
func seconds(t string) int {
	whole := digits(t, 0)
	if whole == 0 || at(t, whole) != '.' {
		return 0
	}
	end := whole + 1 + digits(t, whole+1)
	if end == whole+1 || at(t, end) != ' ' {
		return 0
	}
	return end + 1
}

// fatal are words of lines at fatal level: of JSON, and near the beginning of other lines.
var (
	fatalMembers = []string{`"fatal"`, `"FATAL"`, `"Fatal"`, `"panic"`, `"critical"`, `"CRITICAL"`, `"level":60`}
	fatalWords   = []string{"FATAL", "FTL", "CRITICAL", "PANIC", "FATA[", "[fatal]", "[emerg]", "[crit]", "[critical]", "level=fatal", "level=panic", "crit:",
		"terminate called", "panic serving", "Segmentation fault"}
)

// deadlyHead reports whether an entry's first line is the last message of a program.
func deadlyHead(l string) bool {
	t := strings.TrimLeft(plain(step(l), maxHead), " \t")
	switch {
	case t == "":
		return false
	case traceHead(t) != none, strings.HasPrefix(t, "F, ["), t[0] == 'F' && digits(t, 1) == 4: // Ruby's Logger, klog
		return true
	case t[0] == '{' && hasAny(t, fatalMembers):
		return true
	}
	return hasAny(t[:min(len(t), 120)], fatalWords)
}

// traced reports whether an entry has frames. A SyntaxError of Python begins with its only one.
func traced(entry []string) bool {
	for i, l := range entry {
		t := plain(l, maxHead)
		kind := frame(t, strings.TrimLeft(t, " \t"))
		if kind == python || kind != none && i > 0 {
			return true
		}
	}
	return false
}

// ending are the lines of the entry that ended the program, by their roles.
type ending struct {
	// own are the frames in the user's own code, and exceptions the lines that name one.
	own, exceptions []int
	// recent is set if the most recent call is the last one, as in Python.
	recent bool
}

// weighTrace weighs the lines of the entry that ended the program.
func weighTrace(lines []string, weights []int, start, end int) {
	weights[start] = weightFatal
	var e ending
	for i := start; i < end; i++ {
		e.weigh(lines, weights, start, i)
	}
	if e.recent {
		e.turn(lines, weights, start, end)
	}
	for _, i := range e.own[:min(2, len(e.own))] {
		weights[i] = weightFrame
	}
}

// weigh weighs line i of the entry.
func (e *ending) weigh(lines []string, weights []int, start, i int) {
	t := plain(step(lines[i]), maxHead)
	body := strings.TrimLeft(t, " \t")
	flush := body == t
	switch {
	case strings.HasPrefix(body, "Traceback (most recent"):
		e.recent = true
		weights[i] = weightNothing
	case i == start:
	case strings.HasPrefix(body, "Caused by: "):
		weights[i] = weightCause
	case flush && exception(body) != unnamed:
		weights[i] = weightFatal
		e.exceptions = append(e.exceptions, i)
	case len(Places(body)) > 0:
		weights[i] = weightNothing
		if mine(body) {
			e.own = append(e.own, i)
		}
	case strings.HasPrefix(body, "panic: "), i == start+1 && panicMessage(lines[start], t):
		weights[i] = weightFatal
	default:
		weights[i] = weightNothing
	}
}

// panicMessage reports whether the line below the first one of an entry is the message of a panic.
func panicMessage(first, t string) bool {
	if strings.HasPrefix(t, "\t") {
		return true
	}
	return strings.Contains(first, " panicked at ") && strings.TrimLeft(t, " \t") == t
}

// turn weighs a trace whose most recent call is the last one. Of a chain of exceptions the last one ended the program, and the
// others caused it.
func (e *ending) turn(lines []string, weights []int, start, end int) {
	slices.Reverse(e.own)
	if len(e.exceptions) == 0 {
		if i := lastFlush(lines, start, end); i > start { // an exception without "Error" in its name
			weights[i] = weightFatal
		}
		return
	}
	for _, i := range e.exceptions[:len(e.exceptions)-1] {
		weights[i] = weightCause
	}
}

// lastFlush returns the last of the lines after start that is neither blank nor indented, or start.
func lastFlush(lines []string, start, end int) int {
	for i := end - 1; i > start; i-- {
		if l := Plain(lines[i]); strings.TrimSpace(l) != "" && !space(l[0]) {
			return i
		}
	}
	return start
}

// libraries are parts of frames in libraries and runtimes.
var libraries = []string{
	"/node_modules/", "node:internal", // Node
	"/site-packages/", "/dist-packages/", "/lib/python", "<frozen ", // Python
	"/usr/local/go/src/", "/usr/lib/go", "/go/src/runtime/", "/pkg/mod/", "/vendor/", // Go
	"/rustc/", "/.cargo/registry/", "/library/std/", "/library/core/", // Rust
	"/gems/", "/usr/lib/ruby", // Ruby
	"at java.", "at java.base/", "at javax.", "at jakarta.", "at sun.", "at jdk.", "at org.springframework.", "at org.apache.", // the JVM
	"at org.hibernate.", "at org.eclipse.", "at io.netty.", "at com.fasterxml.", "at kotlin.", "at kotlinx.", "at scala.",
	"at reactor.", "at org.junit.",
	"at System.", "at Microsoft.", // .NET
	"/usr/include/",
}

// mine reports whether a frame is in the user's own code rather than in a library or a runtime.
func mine(frame string) bool { return !hasAny(frame, libraries) }

// silent are lines that only point to other lines.
var silent = []string{"npm ERR! A complete log", "npm error A complete log"}

// failures are words, in small letters, with which tools say that something failed.
var failures = []string{"command not found", ": not found", "no such file or directory", "permission denied", "cannot find ", "could not resolve",
	"could not find", "connection refused", "undefined reference", "exec format error", "no space left on device", "out of memory",
	"address already in use", "--- fail", "failed to "}

// single returns the weight of a line by itself. first is set for the first line of an entry.
func single(l string, level Level, first bool) int {
	t := strings.TrimSpace(plain(step(l), maxHead))
	low := strings.ToLower(t[:min(len(t), 400)])
	switch {
	case t == "":
		return weightNothing
	case exits(low):
		return weightExit
	case compiled(t):
		return weightCompile
	case t == "npm ERR!", beginsWithAny(t, silent):
		return weightNothing
	case first && level == Error:
		return weightError
	case hasAny(low, failures):
		return weightFailure
	case first && level == Warn:
		return weightWarning
	}
	return weightNothing
}

// exitBeginnings and exitWords are parts of lines, in small letters, that say only that a command failed.
var (
	exitBeginnings = []string{"exit status ", "exit code ", "exited with ", "command exited", "process exited", "npm err! errno", "npm error errno",
		"elifecycle", "error command failed with exit code"}
	makeBeginnings = []string{"make: *** ", "make["}
	exitWords      = []string{"did not complete successfully: exit code", "returned a non-zero code"}
)

// exits reports whether a line in small letters says only that a command failed.
func exits(low string) bool {
	low = strings.TrimPrefix(low, "error: ")
	switch {
	case beginsWithAny(low, exitBeginnings):
		return true
	case beginsWithAny(low, makeBeginnings):
		return strings.Contains(low, "] error ")
	}
	return !strings.HasPrefix(low, "{") && hasAny(low, exitWords)
}

// Beginnings of a compiler's messages, and of their texts after a place: those that fail a build, and those that do not.
var (
	compileErrors  = []string{"error[E", "error: could not compile"} // rustc
	placedErrors   = []string{": error", ": fatal error", ": undefined"}
	placedWarnings = []string{": warning", ": note"}
)

// compiled reports whether a line is a compiler's message: a place and a message, "error: …" of rustc, "error TS…".
func compiled(t string) bool {
	if beginsWithAny(t, compileErrors) {
		return true
	}
	places := Places(t[:min(len(t), 600)])
	if len(places) == 0 || places[0].Start > 2 {
		return false
	}
	rest := t[places[0].End:]
	if places[0].Column > 0 && strings.HasPrefix(rest, ":") {
		return strings.HasPrefix(rest, ": ") && !beginsWithAny(strings.ToLower(rest), placedWarnings)
	}
	return beginsWithAny(rest, placedErrors)
}

// last returns the last lines with text, and prefers those that say more than that a command failed.
func last(lines []string, weights []int, n int) []int {
	var with, exit []int
	for i := len(lines) - 1; i >= 0 && len(with) < n; i-- {
		switch {
		case strings.TrimSpace(Plain(lines[i])) == "":
		case weights[i] == weightExit:
			exit = append(exit, i)
		default:
			with = append(with, i)
		}
	}
	if len(with) < n {
		with = append(with, exit[:min(n-len(with), len(exit))]...)
	}
	slices.Sort(with)
	return with
}
