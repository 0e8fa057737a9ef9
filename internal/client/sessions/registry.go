package sessions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/base/filelock"
)

const (
	extInfo       = ".json"
	extSocket     = ".sock"
	extToken      = ".token"
	extKubeconfig = ".kubeconfig"
	extLock       = ".lock"

	// folderLock is the file that processes lock to take turns.
	folderLock = ".hone"
	// lockWait is the longest time that a process waits for its turn.
	lockWait = 10 * time.Second
	// endCheck is the interval at which Wait checks.
	endCheck = 25 * time.Millisecond
	// inherited is the time for which the lock of a killed session may stay held: a process that the session was just starting holds
	// the lock from its fork to its exec. Of 300 processes that were killed while they started others, 27 left their lock held for 8
	// to 22 ms.
	inherited = 250 * time.Millisecond
)

// Registry is the sessions of one user on this machine.
type Registry struct{ dir string }

// New returns the registry in a folder, which need not exist yet.
func New(dir string) *Registry { return &Registry{dir} }

// path returns the path of one of a session's files.
func (r *Registry) path(name, ext string) string { return filepath.Join(r.dir, name+ext) }

// List returns the running sessions, sorted by name. It removes the files of sessions that were killed.
func (r *Registry) List(ctx context.Context) (living []Info, err error) {
	if _, err := os.Lstat(r.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err = r.locked(ctx, func() (err error) {
		living, err = r.list(ctx)
		return err
	})
	return living, err
}

// Of returns the living sessions that work on a Tiltfile in the cluster of a context, by name.
func (r *Registry) Of(ctx context.Context, tiltfile, kubeContext string) ([]Info, error) {
	project := Info{Tiltfile: Real(tiltfile), Context: kubeContext}
	living, err := r.List(ctx)
	return slices.DeleteFunc(living, func(i Info) bool { return !i.sameProject(project) }), err
}

// Wait waits until a session has ended.
func (r *Registry) Wait(ctx context.Context, s Info) error {
	tick := time.NewTicker(endCheck)
	defer tick.Stop()
	for {
		living, err := r.List(ctx)
		if err != nil || !slices.ContainsFunc(living, func(i Info) bool { return i.Name == s.Name && i.PID == s.PID }) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Token returns the token for a session's API over TCP; empty if it has none.
func (r *Registry) Token(s Info) (string, error) {
	b, err := readPrivate(r.path(s.Name, extToken))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the token of session %s: %w", s.Name, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// Kubeconfig returns the path of the kubeconfig file for a session; empty if it has none.
func (r *Registry) Kubeconfig(s Info) string {
	if path := r.path(s.Name, extKubeconfig); exists(path) {
		return path
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// locked calls do while no other process uses the folder.
func (r *Registry) locked(ctx context.Context, do func() error) error {
	if err := private(r.dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	unlock, err := filelock.Lock(ctx, filepath.Join(r.dir, folderLock))
	if err != nil {
		return fmt.Errorf("wait for the folder of sessions: %w", err)
	}
	defer unlock()
	return do()
}

// list returns the running sessions, and removes the files of the others. The folder must be locked.
func (r *Registry) list(ctx context.Context) ([]Info, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var living []Info
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), extInfo)
		if !ok || !validName.MatchString(name) {
			continue
		}
		info, ok := r.read(name)
		switch {
		case !ok: // not a session's file
		case r.lives(ctx, info):
			living = append(living, info)
		default:
			r.remove(name)
		}
	}
	slices.SortFunc(living, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return living, nil
}

// read returns the information of a session; ok is false if the file does not belong to a session.
func (r *Registry) read(name string) (i Info, ok bool) {
	b, err := readPrivate(r.path(name, extInfo))
	return i, err == nil && json.Unmarshal(b, &i) == nil && i.Name == name
}

// readPrivate reads a file that only its owner can have written or read.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || !owned(info) || exposed(info):
		return nil, fmt.Errorf("%s is not a file that only you can read and write (%s)", path, info.Mode())
	}
	return os.ReadFile(path)
}

// lives reports whether a session is alive: its lock is held, and not only by a process that it was starting when it was
// killed. A session whose process is not visible from here, such as one in a container, is alive if its lock stays held.
func (r *Registry) lives(ctx context.Context, s Info) bool {
	path := r.path(s.Name, extLock)
	if held, err := filelock.Held(path); err != nil || !held {
		return false
	}
	if isRunning(s.PID) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, inherited)
	defer cancel()
	unlock, err := filelock.Lock(ctx, path)
	if err != nil {
		return true
	}
	unlock()
	return false
}

// isRunning reports whether a process exists.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	if runtime.GOOS == "windows" {
		return true // FindProcess has found it
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}

// remove removes the files of a session that has ended. It removes only files with the names, types and owner of files that
// hone creates.
func (r *Registry) remove(name string) {
	r.keepCrash(name)
	for _, path := range []string{r.socketPath(name), r.path(name, extToken), r.path(name, extKubeconfig), r.path(name, extInfo), r.path(name, extLock)} {
		info, err := os.Lstat(path)
		if err != nil || !owned(info) {
			continue
		}
		kind := fs.FileMode(0) // a regular file
		if strings.HasSuffix(path, extSocket) {
			kind = fs.ModeSocket
		}
		if info.Mode().Type() == kind {
			_ = os.Remove(path)
		}
	}
}

// shortHash returns a short hash that distinguishes long paths.
func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
