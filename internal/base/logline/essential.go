package logline

import (
	"cmp"
	"slices"
	"strings"
)

// The weights of lines, by what they tell about the end of a program or of a command.
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
// frames belong to what ended the program.
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

// step returns a line without what BuildKit puts before the output of a build's step: "#9 1.92 ".
func step(l string) string {
	t := Plain(l)
	if n := digits(t, 1); at(t, 0) == '#' && n > 0 && at(t, 1+n) == ' ' {
		rest := t[2+n:]
		if d := digits(rest, 0); d > 0 && at(rest, d) == '.' {
			if f := digits(rest, d+1); f > 0 && at(rest, d+1+f) == ' ' {
				return rest[d+2+f:]
			}
		}
		return rest
	}
	return t
}

// deadlyHead reports whether an entry's first line is what a program says last.
func deadlyHead(l string) bool {
	t := strings.TrimLeft(plain(step(l), maxHead), " \t")
	if t == "" {
		return false
	}
	if traceHead(t) != none {
		return true
	}
	if t[0] == 'F' && digits(t, 1) == 4 || strings.HasPrefix(t, "F, [") {
		return true
	}
	if t[0] == '{' {
		for _, w := range []string{`"fatal"`, `"FATAL"`, `"Fatal"`, `"panic"`, `"critical"`, `"CRITICAL"`, `"level":60`} {
			if strings.Contains(t, w) {
				return true
			}
		}
	}
	beginning := t[:min(len(t), 120)]
	for _, w := range []string{"FATAL", "FTL", "CRITICAL", "PANIC", "FATA[", "[fatal]", "[emerg]", "[crit]", "[critical]", "level=fatal", "level=panic", "crit:", "terminate called",
		"panic serving", "Segmentation fault"} {
		if strings.Contains(beginning, w) {
			return true
		}
	}
	return false
}

// traced reports whether an entry has frames.
func traced(entry []string) bool {
	for _, l := range entry[1:] {
		t := plain(l, maxHead)
		body := strings.TrimLeft(t, " \t")
		if frame(t, body, len(body) < len(t)) != none {
			return true
		}
	}
	return false
}

// weighTrace weighs the lines of the entry that ended the program.
func weighTrace(lines []string, weights []int, start, end int) {
	weights[start] = weightFatal
	var own []int
	snake, exceptions := false, []int(nil)
	for i := start; i < end; i++ {
		t := plain(step(lines[i]), maxHead)
		body := strings.TrimLeft(t, " \t")
		switch {
		case strings.HasPrefix(body, "Traceback (most recent"):
			snake = true
			weights[i] = weightNothing
		case i > start && strings.HasPrefix(body, "Caused by: "):
			weights[i] = weightCause
		case i > start && body == t && body != "" && exception(body) != 0:
			weights[i] = weightFatal
			exceptions = append(exceptions, i)
		case i > start && len(Places(body)) > 0:
			weights[i] = weightNothing
			if mine(body) {
				own = append(own, i)
			}
		case i == start+1 && strings.HasPrefix(t, "\t"), i == start+1 && strings.Contains(lines[start], " panicked at ") && body == t: // the message of a panic
			weights[i] = weightFatal
		case i > start && strings.HasPrefix(body, "panic: "):
			weights[i] = weightFatal
		case i > start:
			weights[i] = weightNothing
		}
	}
	if snake { // the most recent call is the last one
		slices.Reverse(own)
		if len(exceptions) > 1 { // of a chain the last one ended the program, the first one caused it
			for _, i := range exceptions[:len(exceptions)-1] {
				weights[i] = weightCause
			}
		}
		if len(exceptions) == 0 { // an exception without "Error" in its name
			for i := end - 1; i > start; i-- {
				if l := Plain(lines[i]); strings.TrimSpace(l) != "" && l[0] != ' ' && l[0] != '\t' {
					weights[i] = weightFatal
					break
				}
			}
		}
	}
	for _, i := range own[:min(2, len(own))] {
		weights[i] = weightFrame
	}
}

// mine reports whether a frame is in the user's own code rather than in a library or a runtime.
func mine(frame string) bool {
	for _, lib := range []string{"/node_modules/", "node:internal", "/site-packages/", "/dist-packages/", "/lib/python", "<frozen ", "/usr/local/go/src/", "/usr/lib/go", "/go/src/runtime/",
		"/pkg/mod/", "/vendor/", "/rustc/", "/.cargo/registry/", "/library/std/", "/library/core/", "/gems/", "/usr/lib/ruby", "at java.", "at java.base/", "at javax.", "at jakarta.", "at sun.", "at jdk.",
		"at org.springframework.", "at org.apache.", "at org.hibernate.", "at org.eclipse.", "at io.netty.", "at com.fasterxml.", "at kotlin.", "at kotlinx.", "at scala.", "at reactor.", "at org.junit.",
		"at System.", "at Microsoft.", "/usr/include/"} {
		if strings.Contains(frame, lib) {
			return false
		}
	}
	return true
}

// single returns the weight of a line by itself.
func single(l string, level Level, first bool) int {
	t := strings.TrimSpace(plain(step(l), maxHead))
	if t == "" {
		return weightNothing
	}
	low := strings.ToLower(t[:min(len(t), 400)])
	if exits(low) {
		return weightExit
	}
	if compiled(t) {
		return weightCompile
	}
	if strings.HasPrefix(t, "npm ERR! A complete log") || strings.HasPrefix(t, "npm error A complete log") || t == "npm ERR!" {
		return weightNothing
	}
	if level == Error && first {
		return weightError
	}
	for _, w := range []string{"command not found", ": not found", "no such file or directory", "permission denied", "cannot find ", "could not resolve", "could not find", "connection refused",
		"undefined reference", "exec format error", "no space left on device", "out of memory", "address already in use", "--- fail", "failed to "} {
		if strings.Contains(low, w) {
			return weightFailure
		}
	}
	if level == Warn && first {
		return weightWarning
	}
	return weightNothing
}

// exits reports whether a line in small letters says only that a command failed.
func exits(low string) bool {
	low = strings.TrimPrefix(low, "error: ")
	for _, p := range []string{"exit status ", "exit code ", "exited with ", "command exited", "process exited", "npm err! errno", "npm error errno", "elifecycle", "error command failed with exit code"} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	if strings.HasPrefix(low, "make: *** ") || strings.HasPrefix(low, "make[") {
		return strings.Contains(low, "] error ")
	}
	return (strings.Contains(low, "did not complete successfully: exit code") || strings.Contains(low, "returned a non-zero code")) && !strings.HasPrefix(low, "{")
}

// compiled reports whether a line is a compiler's message: a place and a message, "error: …" of rustc, "error TS…".
func compiled(t string) bool {
	if strings.HasPrefix(t, "error[E") || strings.HasPrefix(t, "error: could not compile") {
		return true
	}
	places := Places(t[:min(len(t), 600)])
	if len(places) == 0 || places[0].Start > 2 {
		return false
	}
	rest := t[places[0].End:]
	if strings.HasPrefix(rest, ":") && places[0].Column > 0 {
		low := strings.ToLower(rest)
		return strings.HasPrefix(rest, ": ") && !strings.HasPrefix(low, ": warning") && !strings.HasPrefix(low, ": note")
	}
	return strings.HasPrefix(rest, ": error") || strings.HasPrefix(rest, ": fatal error") || strings.HasPrefix(rest, ": undefined")
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
