package liveupdate

import (
	"bytes"
	"io"
	"slices"
	"strconv"
)

// endMark precedes the exit code in a script's report of its end; a line feed follows. Its first byte is one that
// programs do not write.
const endMark = "\x1ehone ended "

// codeDigits is the largest number of digits of an exit code.
const codeDigits = 3

// saying returns a command line that runs a script with args and then reports in its output how it ended. The cluster's
// own report is not enough: see k8s.ExecRequest.Certain.
func saying(script string, args ...string) []string {
	return append([]string{"sh", "-c", "(" + script + "\n)\nc=$?\necho \"" + endMark + "$c\"\nexit $c", "sh"}, args...)
}

// itself is the script that runs its arguments as a command line, never as shell built-ins.
const itself = `exec "$@"`

// endCode means that a command reported its end with a code other than 0.
type endCode int

func (e endCode) Error() string { return "it exited with code " + strconv.Itoa(int(e)) }

// ExitCode is the method that errors of a PodExecer have.
func (e endCode) ExitCode() int { return int(e) }

// ending passes on the output of a command line from saying, except the report of its end. It is for use by one
// goroutine at a time.
type ending struct {
	out  io.Writer // nil drops it
	held []byte    // bytes that may be the beginning of the end mark
	said bool
	code int
}

// Write implements io.Writer.
func (e *ending) Write(p []byte) (int, error) {
	rest := slices.Concat(e.held, p)
	e.held = nil
	for len(rest) > 0 {
		at := bytes.IndexByte(rest, endMark[0])
		if at < 0 {
			at = len(rest)
		}
		if err := e.pass(rest[:at]); err != nil {
			return 0, err
		}
		rest = rest[at:]
		switch code, n, open := parseEnd(rest); {
		case open:
			e.held = bytes.Clone(rest)
			return len(p), nil
		case n > 0:
			e.said, e.code = true, code
			rest = rest[n:]
		default: // a byte of the command's own
			if err := e.pass(rest[:1]); err != nil {
				return 0, err
			}
			rest = rest[1:]
		}
	}
	return len(p), nil
}

func (e *ending) pass(p []byte) error {
	if e.out == nil || len(p) == 0 {
		return nil
	}
	_, err := e.out.Write(p)
	return err
}

// parseEnd parses a report of the end at the beginning of b. It returns the exit code and the length of the report, 0 if
// b does not begin with one. open is set if more bytes may complete one.
func parseEnd(b []byte) (code, n int, open bool) {
	head := min(len(b), len(endMark))
	if string(b[:head]) != endMark[:head] {
		return 0, 0, false
	}
	digits := b[head:]
	digits = digits[:min(len(digits), codeDigits+1)]
	end := bytes.IndexByte(digits, '\n')
	if end < 0 {
		return 0, 0, len(digits) <= codeDigits
	}
	c, err := strconv.ParseUint(string(digits[:end]), 10, 8)
	if err != nil {
		return 0, 0, false
	}
	return int(c), head + end + 1, false
}

// verdict returns how the command ended; err is the executor's report.
func (e *ending) verdict(err error) error {
	if perr := e.pass(e.held); perr != nil && err == nil {
		err = perr
	}
	e.held = nil
	switch {
	case e.said && e.code == 0:
		return nil
	case e.said:
		return endCode(e.code)
	case err == nil:
		return errUnread
	}
	return err
}
