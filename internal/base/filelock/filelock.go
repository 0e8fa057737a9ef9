// Package filelock keeps processes out of each other's way: one at a time holds the lock of a file. The kernel gives a lock
// up when its process ends, however that ends. The handles of one process exclude each other, too. The lock file itself
// stays: to remove it would let two processes hold locks of the same name.
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

// retry is the time between two attempts at a lock that another holds.
const retry = 5 * time.Millisecond

// Lock takes the lock of a file, which it makes, readable by its owner alone, where there is none. It waits while another
// holds the lock, until ctx ends: the error is then the cause of that. The returned function gives the lock up.
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

// Try is Lock without the wait: free is false when another holds the lock.
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

// Held reports whether anyone holds the lock of a file; nobody does when there is no file, and none is made. What cannot be
// found out is an error.
func Held(path string) (bool, error) {
	// Taking a lock would make its file; the file may go between this and that only when its owner removes it with its folder.
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
