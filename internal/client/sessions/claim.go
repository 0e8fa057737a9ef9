package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/hone-dev/hone/internal/base/filelock"
)

// exclusive is the verb of which only one session at a time may work on a project.
const exclusive = "up"

// Claim is a session of this process, from getting its name until its end.
type Claim struct {
	registry *Registry
	unlock   func() // nil before the claim has its name
	info     Info
}

// Claim registers a session: it takes the requested name, or finds a free one, and publishes the session as starting. A
// second "up" of the same project is a *BusyError; a name that another session has is a *TakenError. The caller must release
// the claim.
func (r *Registry) Claim(ctx context.Context, s Info) (*Claim, error) {
	s.Tiltfile = Real(s.Tiltfile)
	c := &Claim{registry: r, info: s}
	err := r.locked(ctx, func() error {
		living, err := r.list(ctx)
		if err != nil {
			return err
		}
		for _, other := range living {
			if s.Command == exclusive && other.Command == exclusive && other.sameProject(s) {
				return &BusyError{other}
			}
			if other.Name == s.Name {
				return &TakenError{other}
			}
		}
		if err := c.takeName(); err != nil {
			return err
		}
		return c.write()
	})
	if err != nil {
		if c.unlock != nil {
			c.Release(ctx)
		}
		return nil, err
	}
	return c, nil
}

// takeName takes the requested name, else the first free one.
func (c *Claim) takeName() error {
	base, asked := baseName(c.info.Tiltfile), c.info.Name
	for n := 1; ; n++ {
		name := candidate(base, n)
		if asked != "" {
			if name = asked; n > 1 {
				return fmt.Errorf("session %s cannot be registered: files with its name in %s do not belong to hone", asked, c.registry.dir)
			}
		}
		path := c.registry.path(name, extLock)
		if info, err := os.Lstat(path); err == nil && !isLock(info) {
			continue // not a session's file
		}
		if _, ours := c.registry.read(name); !ours && exists(c.registry.path(name, extInfo)) {
			continue
		}
		unlock, free, err := filelock.Try(path)
		if err != nil {
			return fmt.Errorf("take session %s: %w", name, err)
		}
		if free {
			c.info.Name, c.unlock = name, unlock
			return nil
		}
	}
}

// Beside returns the other living sessions of the same project, by name.
func (c *Claim) Beside(ctx context.Context) ([]Info, error) {
	living, err := c.registry.Of(ctx, c.info.Tiltfile, c.info.Context)
	return slices.DeleteFunc(living, func(i Info) bool { return i.Name == c.info.Name }), err
}

// Info returns the published information about the session.
func (c *Claim) Info() Info { return c.info }

// Publish changes the published information about the session.
func (c *Claim) Publish(ctx context.Context, change func(*Info)) error {
	return c.registry.locked(ctx, func() error {
		change(&c.info)
		return c.write()
	})
}

// write writes the information about the session. The folder must be locked.
func (c *Claim) write() error {
	b, err := json.MarshalIndent(c.info, "", "  ")
	if err != nil {
		return fmt.Errorf("describe session %s: %w", c.info.Name, err)
	}
	return c.replace(extInfo, append(b, '\n'))
}

// replace rewrites one of the session's files, readable by its owner only.
func (c *Claim) replace(ext string, content []byte) error {
	path := c.registry.path(c.info.Name, ext)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Listen opens the session's socket. The listener removes it when it is closed.
func (c *Claim) Listen(ctx context.Context) (net.Listener, error) {
	path := c.registry.socketPath(c.info.Name)
	if err := private(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && owned(info) && info.Mode()&os.ModeSocket != 0 {
		_ = os.Remove(path)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("open the session's socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("close the session's socket to others: %w", err)
	}
	return l, nil
}

// Release ends the session: it removes the session's files and frees its name.
func (c *Claim) Release(ctx context.Context) {
	// Release usually runs when everything else has been cancelled.
	_ = c.registry.locked(context.WithoutCancel(ctx), func() error {
		c.unlock()
		c.registry.remove(c.info.Name)
		return nil
	})
}

// isLock reports whether a file may be the lock of a session: hone's locks are empty.
func isLock(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && owned(info) && info.Size() == 0
}
