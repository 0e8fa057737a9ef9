package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/testresults"
	"github.com/hone-dev/hone/internal/update/verdict"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRun is the part of a request that only a test has.
type TestRun struct {
	// Inputs are all that the test is about.
	Inputs verdict.Inputs
	// Known lets the verdict of an earlier run count, if that has passed with the same inputs.
	Known bool
	// Holds reports whether a verdict that the test gives now is about the newest saved files, as far as they are known.
	Holds func() bool
	// output reads the standard output of the command.
	output testresults.Lines
}

// errVoid ends a run whose verdict would be about older files.
var errVoid = errors.New("files that it is about have changed meanwhile")

// test runs the command of a test, unless it is known to pass. It begins and ends with all earlier changes of files known, so that no run is
// wasted on older files, and its verdict is dropped if a file was saved before it ended. A change that becomes known later makes the verdict
// old.
func (l Local) test(ctx context.Context, req Request) (Result, error) {
	settled(ctx, req)
	if !req.Test.Holds() {
		return Result{}, errVoid
	}
	key, err := req.Test.key(ctx)
	if err != nil {
		return Result{}, err
	}
	if v, passed := l.Verdicts.Passed(key); passed && req.Test.Known {
		logstore.Infof(req.Log, "Passed with the same inputs before, at %s: it is not run again", v.At.Format(time.DateTime))
		return Result{Deployed: true, Verdict: &v}, nil
	}
	began := time.Now()
	result, err := l.runFor(ctx, req, req.Manifest.Local.Test.Timeout)
	result.Verdict = &model.Verdict{Key: key, At: time.Now(), Took: time.Since(began)}
	result.Verdict.Cases, result.Verdict.Left = req.Test.cases(req.Manifest.Local.Update, req.Manifest.Local.Test.Results, began, req.Log)
	settled(ctx, req)
	if err != nil || key == "" || !req.Test.Holds() {
		return result, err
	}
	if after, err := req.Test.key(ctx); err == nil && after == key && ctx.Err() == nil {
		l.Verdicts.Keep(*result.Verdict)
	}
	return result, nil
}

// fileClock bounds how far the change times of files may lag behind the clock.
const fileClock = outputSettle

// cases returns the single tests that the command has described in its output, and in files that it has written since it began.
func (t *TestRun) cases(cmd model.Cmd, patterns []string, began time.Time, log logstore.Logger) (cases []model.TestCase, left int) {
	_ = t.output.Close()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			logstore.Warnf(log, "results=: %s: %v", pattern, err)
			continue
		}
		read := 0
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(began.Add(-fileClock)) {
				continue // of an earlier run
			}
			read++
			if err := t.read(path); err != nil {
				logstore.Warnf(log, "results=: %s: %v", path, err)
			}
		}
		if read == 0 {
			logstore.Warnf(log, "results=: the command has written no file %s", pattern)
		}
	}
	cases, left = t.output.Cases()
	for i := range cases {
		if c := &cases[i]; c.File != "" && !filepath.IsAbs(c.File) {
			c.File = filepath.Join(cmd.Dir, c.File)
		}
	}
	return cases, left
}

func (t *TestRun) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return t.output.JUnit(f)
}

// key returns the sum of the inputs, empty if no verdict about them can be kept.
func (t *TestRun) key(ctx context.Context) (string, error) {
	if !t.Inputs.Known() {
		return "", nil
	}
	return t.Inputs.Key(ctx)
}

// runFor runs the command, but not longer than a limit; zero means any time.
func (l Local) runFor(ctx context.Context, req Request, limit time.Duration) (Result, error) {
	if limit <= 0 {
		return l.run(ctx, req)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := l.run(limited, req)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("command %s was ended: it has not ended after %s, the timeout_secs of the test", req.Manifest.Local.Update.Quoted(), limit)
	}
	return result, err
}
