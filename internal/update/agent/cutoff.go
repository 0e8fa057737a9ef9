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

// markName is the variable in the environment of a flight's commands, and of what they start, that tells which step they belong to.
const markName = "HONE_STEP"

func mark(s protocol.Step) string {
	return markName + "=" + strconv.FormatUint(s.Flight, 10) + "." + strconv.FormatUint(s.Number, 10)
}

// endCutOff ends what is left of the commands of the journal's flight that were cut off with their synclet: they are carried out again, and
// must not run beside their repetition. What a command left running when it ended stays.
func endCutOff(j *journal) {
	flight := j.current()
	if flight == 0 {
		return
	}
	prefix := markName + "=" + strconv.FormatUint(flight, 10) + "."
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
				if _, done := j.outcome(protocol.Step{Flight: flight, Number: number}); !done && runs(p.pid, p.start) && syscall.Kill(p.pid, syscall.SIGKILL) == nil {
					ended, again = append(ended, p), true
				}
			}
		}
	}
	await(ended)
}
