package up

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/crash"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// reportCrashes reports earlier crashes in the session's log once the Tiltfile was evaluated: the message of a panic may hold a secret, and
// from then on the secrets of the project are known.
func (b *bugReports) reportCrashes(ctx context.Context, st *store.Store, r *sessions.Registry) {
	wake, stop := st.Watch(state.Tiltfiles.Name())
	defer stop()
	for !state.TheTiltfile(st.Snapshot().All()).Loaded {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
	}
	b.takeCrashes(r)
}

func (b *bugReports) takeCrashes(r *sessions.Registry) {
	if err := r.TakeCrashes(b.crashed); err != nil {
		b.log.Warn("earlier crashes are not reported", "err", err)
	}
}

// watchCrashes makes the stacks of a crash of this session go to its crash file as well as to standard error, until stop is called.
// Failures only go to hone's own log.
func (b *bugReports) watchCrashes(c *sessions.Claim) (stop func()) {
	path, err := c.CrashFile()
	if err == nil {
		err = crash.Record(path)
	}
	if err != nil {
		b.log.Warn("a crash will not be recorded", "err", err)
	}
	return func() { _ = crash.Record("") }
}

// quitSignals begin the output of a process that was killed by a signal which asks for its stacks. That is no bug.
var quitSignals = []string{"SIGQUIT:", "SIGABRT:"}

// crashed reports an earlier crash.
func (b *bugReports) crashed(c sessions.Crash) error {
	first, _, _ := bytes.Cut(c.Output, []byte("\n"))
	what := b.logs.Scrub(string(first))
	if err := b.write(what, "the first goroutine below", b.logs.Scrub(string(c.Output))); err != nil {
		return err
	}
	log := b.logs.Logger(model.TiltfileName, "", logstore.SourceBuild)
	if slices.ContainsFunc(quitSignals, func(s string) bool { return strings.HasPrefix(what, s) }) {
		logstore.Infof(log, "The session %s was ended by a signal (%s). The stacks of its goroutines are in %s", c.Session, what, b.path)
		return nil
	}
	logstore.Errorf(log, "The session %s crashed: %s. This is a bug in hone. Please report it with %s", c.Session, what, b.path)
	return nil
}
