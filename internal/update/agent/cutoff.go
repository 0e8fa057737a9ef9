//go:build linux

package agent

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// markName is a variable in the environment of a sequence's commands, which the processes that they start inherit. Its value is the
// step.
const markName = "HONE_STEP"

func mark(s protocol.Step) string {
	return markName + "=" + strconv.FormatUint(s.Sequence, 10) + "." + strconv.FormatUint(s.Number, 10)
}

// endCutOff ends the processes of the journal's sequence whose command was cut off with its synclet: the command is carried out
// again, and they must not run beside its repetition. Processes that a command left running when it ended stay.
func endCutOff(j *journal) {
	sequence := j.current()
	if sequence == 0 {
		return
	}
	prefix := markName + "=" + strconv.FormatUint(sequence, 10) + "."
	var ended []process
	late := time.Now().Add(dyingTime)
	for again := true; again && time.Now().Before(late); { // a process may have started another one before it was killed
		again = false
		for _, p := range processes() {
			if p.state == "Z" || slices.ContainsFunc(ended, func(e process) bool { return e.pid == p.pid && e.start == p.start }) {
				continue
			}
			environ, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
			if err != nil {
				continue
			}
			for v := range strings.SplitSeq(string(environ), "\x00") {
				step, ok := strings.CutPrefix(v, prefix)
				number, err := strconv.ParseUint(step, 10, 64)
				if !ok || err != nil {
					continue
				}
				if _, done := j.outcome(protocol.Step{Sequence: sequence, Number: number}); !done && runs(p.pid, p.start) && syscall.Kill(p.pid, syscall.SIGKILL) == nil {
					ended, again = append(ended, p), true
				}
			}
		}
	}
	await(ended)
}
