package up

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/pkg/model"
)

// maxBugs bounds the file of reports, in bytes: a report that would exceed it replaces those before.
const maxBugs = 1 << 20

// bugReports tells the user about bugs in hone: with one line in the session's log, and with the stack in a file that can be
// attached to a report.
type bugReports struct {
	path string
	logs *logstore.Store
	log  *slog.Logger

	mu sync.Mutex
	// told are the logged bugs, by message and place: a bug that happens repeatedly is logged once.
	told map[string]bool
}

// bugsFile returns the file of reports.
func bugsFile() string { return filepath.Join(command.StateDir(), "bugs.txt") }

// reportBugs directs the bug reports of this process to a session's log until restore is called.
func reportBugs(logs *logstore.Store, log *slog.Logger) (b *bugReports, restore func()) {
	b = &bugReports{path: bugsFile(), logs: logs, log: log, told: map[string]bool{}}
	return b, bug.Take(b.take)
}

func (b *bugReports) take(r *bug.Report) {
	what, stack := b.logs.Scrub(r.What), b.logs.Scrub(r.Stack)
	b.log.Error("bug", "what", what, "where", r.Where, "stack", stack)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told[what+r.Where] {
		return
	}
	b.told[what+r.Where] = true
	out := b.logs.Logger(model.TiltfileName, "", logstore.SourceBuild)
	line := fmt.Sprintf("This is a bug in hone: %s (at %s).", what, r.Where)
	if err := b.write(what, r.Where, stack); err != nil {
		logstore.Errorf(out, "%s Please report it with the following stack. (It could not be written to a file: %v)\n%s", line, err, stack)
		return
	}
	logstore.Errorf(out, "%s Please report it with %s", line, b.path)
}

// write adds a report to the file.
func (b *bugReports) write(what, where, stack string) error {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return err
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(b.path); err == nil && info.Size()+int64(len(stack)) > maxBugs {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(b.path, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s hone v%s %s/%s\n%s\nat %s\n\n%s\n\n", time.Now().UTC().Format(time.RFC3339), command.Version, runtime.GOOS, runtime.GOARCH, what, where, stack)
	return errors.Join(err, f.Close())
}

// summary returns the message for the end of a session with a screen, whose log is then no longer visible; empty without bugs.
func (b *bugReports) summary() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.told) == 0 {
		return ""
	}
	return fmt.Sprintf("%s in hone came up in this session. Please report it with %s\n", words.Count(len(b.told), "bug"), b.path)
}

// explain adds advice for the user to the error of a session that a bug has ended.
func (b *bugReports) explain(err error) error {
	var r *bug.Report
	if !errors.As(err, &r) {
		return err
	}
	return problem.Wrap(fmt.Errorf("%s (at %s)", b.logs.Scrub(r.What), r.Where), "hone made a mistake and cannot continue", "please report it, with what is in "+b.path)
}
