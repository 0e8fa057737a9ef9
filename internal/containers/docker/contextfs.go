package docker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	gofs "io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/moby/patternmatcher"
	"github.com/tonistiigi/fsutil"
	"github.com/tonistiigi/fsutil/types"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// newContextFS returns the files of dir except the ignored ones. To the engine they all belong to root. An empty dir
// has no files. Files that disappear meanwhile are recorded in away.
func newContextFS(dir string, ignores []model.Ignore, away *gone) (fsutil.FS, error) {
	if dir == "" {
		return memFS{}, nil
	}
	fs, err := fsutil.NewFS(dir)
	if err != nil {
		return nil, err
	}
	fs = steadyFS{fs, dir, away}
	opt := &fsutil.FilterOpt{Map: anonymous}
	for _, ig := range ignores {
		if len(ig.Patterns) == 0 {
			continue
		}
		if filepath.Clean(ig.Base) != filepath.Clean(dir) {
			opt.Map, err = ignoreElsewhere(dir, ig, opt.Map)
		} else {
			fs, err = fsutil.NewFilterFS(fs, &fsutil.FilterOpt{ExcludePatterns: ig.Patterns})
		}
		if err != nil {
			return nil, fmt.Errorf("ignore patterns of %s: %w", ig.Source, err)
		}
	}
	return fsutil.NewFilterFS(fs, opt)
}

// anonymous makes root the owner, and excludes sockets, which cannot be sent.
func anonymous(_ string, st *types.Stat) fsutil.MapResult {
	st.Uid, st.Gid = 0, 0
	if os.FileMode(st.Mode)&os.ModeSocket != 0 {
		return fsutil.MapResultExclude
	}
	return fsutil.MapResultKeep
}

// ignoreElsewhere applies patterns whose base is not the context itself: a folder above it or below it. A folder that matches is
// skipped entirely, except if a later pattern might include files in it again.
func ignoreElsewhere(dir string, ig model.Ignore, next fsutil.MapFunc) (fsutil.MapFunc, error) {
	matcher, err := patternmatcher.New(ig.Patterns)
	if err != nil {
		return nil, err
	}
	return func(name string, st *types.Stat) fsutil.MapResult {
		rel, err := filepath.Rel(ig.Base, filepath.Join(dir, name))
		if err != nil || rel == "." || !filepath.IsLocal(rel) {
			return next(name, st)
		}
		if hit, err := matcher.MatchesOrParentMatches(rel); err != nil || !hit {
			return next(name, st)
		}
		switch {
		case !st.IsDir():
			return fsutil.MapResultExclude
		case matcher.Exclusions():
			return next(name, st)
		}
		return fsutil.MapResultSkipDir
	}, nil
}

// checkedFS ends a walk at a name that BuildKit does not accept, and records the problem: the engine's message does not
// name the file.
type checkedFS struct {
	fsutil.FS
	wrong atomic.Pointer[problem.Problem] // nil while all names are valid
}

// Walk implements fsutil.FS.
func (c *checkedFS) Walk(ctx context.Context, target string, fn gofs.WalkDirFunc) error {
	return c.FS.Walk(ctx, target, func(name string, entry gofs.DirEntry, err error) error {
		if err != nil || entry == nil {
			return fn(name, entry, err)
		}
		p := wrongName(name)
		if info, ierr := entry.Info(); p == nil && ierr == nil {
			if st, ok := info.Sys().(*types.Stat); ok && !utf8.ValidString(st.Linkname) {
				p = problem.New(fmt.Sprintf("the symbolic link %s points to %q, which is not UTF-8, so the engine cannot accept it", name, st.Linkname),
					"rename its target, or exclude the link with .dockerignore or ignore=")
			}
		}
		if p != nil {
			c.wrong.CompareAndSwap(nil, p)
			return p
		}
		return fn(name, entry, nil)
	})
}

// wrongName returns a problem if the name of a file is invalid, else nil.
func wrongName(name string) *problem.Problem {
	if utf8.ValidString(name) {
		return nil
	}
	return problem.New(fmt.Sprintf("the name of the file %q is not UTF-8, so the engine cannot accept it", name),
		"rename it, or exclude it with .dockerignore or ignore=")
}

// memFile is a file that exists only in memory.
type memFile struct {
	name string
	data []byte
}

// stat describes the file. Its modification time is derived from its content, because receivers that have a file of the
// same size and time do not request it again.
func (f memFile) stat() *types.Stat {
	sum := sha256.Sum256(f.data)
	return &types.Stat{Path: f.name, Mode: 0o644, Size: int64(len(f.data)),
		ModTime: int64(binary.BigEndian.Uint64(sum[:8]) & math.MaxInt64)}
}

// memFS is a flat folder of files in memory, sorted by name.
type memFS []memFile

var _ fsutil.FS = memFS(nil)

// Walk implements fsutil.FS.
func (m memFS) Walk(ctx context.Context, target string, fn gofs.WalkDirFunc) error {
	target = strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(target)), "/")
	for _, f := range m {
		if target != "" && target != f.name {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(f.name, &fsutil.DirEntryInfo{Stat: f.stat()}, nil); err != nil {
			return err
		}
	}
	return nil
}

// Open implements fsutil.FS.
func (m memFS) Open(name string) (io.ReadCloser, error) {
	for _, f := range m {
		if f.name == name {
			return io.NopCloser(bytes.NewReader(f.data)), nil
		}
	}
	return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
}
