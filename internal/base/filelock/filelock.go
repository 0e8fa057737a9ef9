// Package filelock provides locks between processes: one process at a time holds the lock of a file. The kernel releases a lock
// when its process ends for any reason. Within one process, locks of the same file exclude each other as well. The lock file
// stays: removing it would let two processes hold locks of the same name.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// retry is the time between two attempts to take a lock that is held.
const retry = 5 * time.Millisecond

// Lock takes the lock of a file. If the file does not exist, Lock creates it, readable by its owner only. It waits while the
// lock is held; if ctx ends first, the error wraps the cause of ctx. The returned function releases the lock.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	l := flock.New(path)
	got, err := l.TryLockContext(ctx, retry)
	if got {
		return release(l), nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, lockError(path, err)
}

// Try is Lock without the wait: free is false if the lock is held.
func Try(path string) (unlock func(), free bool, err error) {
	l := flock.New(path)
	free, err = l.TryLock()
	switch {
	case err != nil:
		return nil, false, lockError(path, err)
	case !free:
		return nil, false, nil
	}
	return release(l), true, nil
}

// Held reports whether the lock of a file is held. A file that does not exist is not locked, and Held does not create it.
func Held(path string) (bool, error) {
	// Try would create the file. Between the two calls the file can disappear only if its owner removes it with its folder.
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	unlock, free, err := Try(path)
	if free {
		unlock()
	}
	return err == nil && !free, err
}

func release(l *flock.Flock) func() { return func() { _ = l.Close() } }

func lockError(path string, err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) && at.Path == path {
		err = at.Err
	}
	return fmt.Errorf("lock %s: %w", path, err)
}
