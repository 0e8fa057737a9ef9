package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/model"
)

// LayoutFile returns the file for the arrangement of the project's screen.
func LayoutFile(of sessions.Info) string {
	hash := sha256.Sum256([]byte(cmp.Or(of.Project, of.Tiltfile)))
	return filepath.Join(command.StateDir(), "screens", hex.EncodeToString(hash[:8])+".json")
}

// Ignores returns the watcher's rules, for the screens' answers about files.
func Ignores() view.Ignores {
	return view.Ignores{Ephemeral: watch.Ephemeral, Match: func(patterns model.Ignore, file string) bool {
		m, err := watch.NewMatcher([]model.Ignore{patterns})
		return err == nil && m.Matches(file)
	}}
}

// SaveSnapshot writes a snapshot that a screen makes of a session, as it was at a time, to a file of its own in the state folder.
func SaveSnapshot(session string, at time.Time, write func(io.Writer) error) (path string, err error) {
	path = filepath.Join(command.StateDir(), "snapshots", session+"-"+at.Format("20060102-150405.000")+".json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the snapshot: %w", err)
	}
	file, err := snapshot.Open(path)
	if err != nil {
		return "", err
	}
	return path, file.Write(write)
}

func saveSnapshot(ctx context.Context, of *client.Client) (string, error) {
	return SaveSnapshot(of.Session.Name, time.Now(), func(w io.Writer) error { return copyDocument(ctx, of, client.DumpSnapshot, w) })
}

// readable checks that a path of the session's machine names a file that this user can read on this one.
func readable(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%q is not an absolute path", path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem.New(path+" is not on this machine", "attach on the machine that the session runs on")
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case err == nil:
		var f *os.File
		if f, err = os.Open(path); err == nil {
			return f.Close()
		}
	}
	return problem.Wrap(err, "this user cannot read "+path, "attach as the user that runs the session")
}
