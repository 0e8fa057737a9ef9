package up

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/hone-dev/hone/internal/base/filelock"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// recordCrashes makes the Go runtime write the stacks of a crash to b.crashes as well as to standard error, until stop is
// called. A crash is a panic on a goroutine that nothing guards, or an error of the runtime itself: no code of the process
// runs afterwards. All processes append to the same file, and the next session reports what it finds there.
func (b *bugReports) recordCrashes() (stop func(), err error) {
	if err := os.MkdirAll(filepath.Dir(b.crashes), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(b.crashes, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the runtime has a copy
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil {
		return nil, err
	}
	return func() { _ = debug.SetCrashOutput(nil, debug.CrashOptions{}) }, nil
}

// reportCrashes moves the recorded crashes of earlier processes to the file of reports and reports them in the session's log.
func (b *bugReports) reportCrashes() error {
	unlock, free, err := filelock.Try(b.crashes + ".lock")
	if err != nil || !free {
		return err // another session that starts reports them
	}
	defer unlock()
	stacks, err := os.ReadFile(b.crashes)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(stacks) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	what, _, _ := bytes.Cut(stacks, []byte("\n"))
	if err := b.write(b.logs.Scrub(string(what)), "the first goroutine below", b.logs.Scrub(string(stacks))); err != nil {
		return err
	}
	logstore.Errorf(b.logs.Logger(model.TiltfileName, "", logstore.SourceBuild),
		"hone crashed the last time: %s. This is a bug in hone. Please report it with %s", b.logs.Scrub(string(what)), b.path)
	return os.Truncate(b.crashes, 0) // not removed: other sessions append to it
}

// watchCrashes reports earlier crashes and records new ones. Failures of either only go to hone's own log.
func (b *bugReports) watchCrashes() (stop func()) {
	if err := b.reportCrashes(); err != nil {
		b.log.Warn("recorded crashes cannot be reported", "err", err)
	}
	stop, err := b.recordCrashes()
	if err != nil {
		b.log.Warn("crashes are not recorded", "err", fmt.Errorf("record crashes in %s: %w", b.crashes, err))
		return func() {}
	}
	return stop
}
