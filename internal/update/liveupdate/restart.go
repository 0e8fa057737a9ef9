package liveupdate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// RestartGrace is the time that a process has to end before it is killed.
const RestartGrace = 10 * time.Second

// Unsupervised is the error of a restart in a container whose process does not run under the synclet: the next
// deployment of an image adds it.
func Unsupervised(c model.ContainerRef) error {
	return &FallBackError{Reason: fmt.Sprintf("the process in %s cannot be restarted in place: it does not run under hone's supervisor", c.Name)}
}

// restartProcess makes the program in the container, which exec starts there, restart the process, and notes when that
// was done. exec writes the program's output to the clip.
func (r *Report) restartProcess(ctx context.Context, c model.ContainerRef, log logstore.Logger, exec func(argv []string, said *clip) error) error {
	began := time.Now()
	argv := []string{protocol.Path, "restart", "--grace", RestartGrace.String()}
	var said clip
	step := "restart the process in " + c.Name
	err := Attended(step, log, func() error {
		return persist(ctx, undelivered, func() error {
			said = clip{}
			return exec(argv, &said)
		})
	})
	if err == nil {
		r.Restarted = time.Now()
		logstore.Debugf(log, "Restarted the process in %s in %s", c.Name, time.Since(began).Round(time.Millisecond))
		return nil
	}
	reason := strings.TrimPrefix(strings.TrimSpace(said.String()), "synclet: ")
	code, exited := exitCode(err)
	switch {
	case ctx.Err() != nil || !exited:
		return stepError(ctx, step, "restart", err, "")
	case code == protocol.RestartUnsupervised, code == codeNotFound, code == codeNotExecutable:
		return Unsupervised(c)
	case code == protocol.RestartNotStarted:
		return &StartError{Container: c, Reason: reason}
	}
	return &InfraError{Step: step, Err: fmt.Errorf("%w: %s", err, reason)}
}
