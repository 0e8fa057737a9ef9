package logline

import "strings"

// conclusion begins the line with which a session ends the log of an update that has failed. Its card, or the answer of a command, says the
// same.
const conclusion = "Build Failed: "

// Announces reports whether a line of an update's log is one in which the session announces a command or a step. What follows is its
// output.
func Announces(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "Running cmd: ") || strings.HasPrefix(line, "STEP ")
}

// OutputIn returns the range of the lines of an update's log that programs have written since the last announcement. It is empty if there
// was none, and nothing but the session's own conclusion.
func OutputIn(n int, line func(i int) string) (from, to int) {
	to = n
	for i := range n {
		switch {
		case Announces(line(i)):
			from, to = i+1, n
		case strings.HasPrefix(line(i), conclusion):
			to = min(to, i)
		}
	}
	return from, to
}
