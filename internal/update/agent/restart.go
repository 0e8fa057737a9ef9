//go:build linux

package agent

import (
	"bufio"
	"strconv"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// noSupervisor is why a restart is not possible.
const noSupervisor = "the container's process does not run under hone's supervisor"

// Restart requests a new process from the supervisor of this container, and returns once it has been started. The code
// is protocol.RestartDone, or code and text are the reason why there is no new process.
func Restart(grace time.Duration) (code uint64, text string) {
	l := dialSupervisor()
	if l == nil {
		return protocol.RestartUnsupervised, noSupervisor
	}
	defer l.end(true)
	if !l.send(&protocol.Restart{ID: 1, GraceNanos: uint64(grace)}) {
		return protocol.RestartFailed, "the supervisor does not listen to this user"
	}
	r := protocol.NewReader(bufio.NewReader(l.conn))
	for {
		m, err := r.Next()
		if err != nil {
			return protocol.RestartFailed, "the supervisor does not answer: " + err.Error()
		}
		if m, ok := m.(*protocol.Restarted); ok {
			return m.Code, m.Text
		}
	}
}

// restart is Restart as a command.
func restart(args []string) int {
	grace := defaultGrace
	text, rest := option(args, "--grace")
	if text != "" {
		var ok bool
		if grace, ok = parseTime(text); !ok {
			return fail("synclet: --grace "+text+" is no time, such as 10s or 500ms\n", 2)
		}
	}
	if len(rest) > 0 {
		return fail(usage, 2)
	}
	code, why := Restart(grace)
	if code != protocol.RestartDone {
		return fail("synclet: "+why+"\n", int(code))
	}
	return 0
}

// parseTime reads a number of seconds or milliseconds. It replaces package code that would make the program bigger.
func parseTime(text string) (time.Duration, bool) {
	unit := time.Millisecond
	number, ok := strings.CutSuffix(text, "ms")
	if !ok {
		unit = time.Second
		number, ok = strings.CutSuffix(text, "s")
	}
	n, err := strconv.ParseUint(number, 10, 32)
	return time.Duration(n) * unit, ok && err == nil
}

// option removes an option with its value from the front of the arguments; the value is empty if the option is missing.
func option(args []string, name string) (value string, rest []string) {
	if len(args) > 1 && args[0] == name {
		return args[1], args[2:]
	}
	return "", args
}
