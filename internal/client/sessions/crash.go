package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	extCrash = ".crash"
	// crashFolder has the crash files of sessions that have crashed, until they are reported.
	crashFolder = "crashes"
)

// Crash is the output of the Go runtime for the crash of a session.
type Crash struct {
	Session string
	Output  []byte
}

// CrashFile creates the session's crash file, and returns its path. The file is removed with the session if nothing was written to it.
func (c *Claim) CrashFile() (path string, err error) {
	return c.registry.path(c.info.Name, extCrash), c.replace(extCrash, nil)
}

// keepCrash moves a session's crash file to the crashes that are to be reported, or removes it if it is empty. The folder
// must be locked.
func (r *Registry) keepCrash(name string) {
	path := r.path(name, extCrash)
	info, err := os.Lstat(path)
	switch {
	case err != nil || !info.Mode().IsRegular() || !owned(info):
	case info.Size() == 0:
		_ = os.Remove(path)
	default:
		if dir := filepath.Join(r.dir, crashFolder); private(dir) == nil {
			_ = os.Rename(path, filepath.Join(dir, name+"."+strconv.FormatInt(time.Now().UnixNano(), 36)))
		}
	}
}

// TakeCrashes calls report for each session that has crashed since the last call. A crash whose report fails is reported again.
func (r *Registry) TakeCrashes(report func(Crash) error) error {
	dir := filepath.Join(r.dir, crashFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		errs = append(errs, r.takeCrash(filepath.Join(dir, e.Name()), report))
	}
	_ = os.Remove(dir) // if it is empty
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("report earlier crashes: %w", err)
	}
	return nil
}

func (r *Registry) takeCrash(path string, report func(Crash) error) error {
	out, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another session has reported it
	}
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	if err := report(Crash{Session: name[:len(name)-len(filepath.Ext(name))], Output: out}); err != nil {
		return err
	}
	return os.Remove(path)
}
