//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/test/freeport"
	"github.com/hone-dev/hone/internal/test/harness"
)

// shortages take away resources of the machine that hone needs.
var shortages = []scenario{
	{"ports", "the port of a forward, and that of the session, are taken", 5 * time.Minute, portsTaken},
	{"disk-state", "the disk with hone's state and logs is full", 6 * time.Minute, diskFull("state")},
	{"disk-temp", "the disk with temporary files is full", 6 * time.Minute, diskFull("tmp")},
	{"descriptors", "few files may be open", 6 * time.Minute, fewDescriptors},
	{"watches", "few folders may be watched", 6 * time.Minute, fewWatches},
}

// portsTaken occupies the ports that hone needs. A session without its own port must report that and leave nothing
// behind; a forward must start on its own once its port is free.
func portsTaken(ctx context.Context, w *world) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", w.port))
	if err != nil {
		return err
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	out, _, err := w.project.Output(ctx, "up", "--stream", "--namespace", w.project.Namespace, "--port", fmt.Sprint(taken))
	if err == nil || !strings.Contains(out, fmt.Sprint(taken)) {
		return fmt.Errorf("a session whose port is taken: %v\n%s", err, out) //nolint:errorlint // err may be nil
	}
	if err := w.ended(ctx); err != nil {
		return err
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	v, err := w.up.View()
	if err != nil {
		return err
	}
	said := false
	for _, r := range v.Resources {
		for _, f := range r.PortForwards {
			said = said || f.Error != ""
		}
	}
	if !said {
		return errors.New("no forward reports that its port is taken")
	}
	if err := l.Close(); err != nil {
		return err
	}
	if err := w.answers(ctx); err != nil {
		return err
	}
	w.note("port %d was free again", w.port)
	return w.conclude(ctx)
}

// answers waits until the forward reaches the container.
func (w *world) answers(ctx context.Context) error {
	want, err := os.ReadFile(filepath.Join(w.project.Dir, "site", "index.html"))
	if err != nil {
		return err
	}
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return harness.Await(ctx, patience, "an answer at the forward", func() error {
		resp, err := c.Get(fmt.Sprintf("http://localhost:%d/index.html", w.port))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err == nil && string(got) != string(want) {
			err = fmt.Errorf("%q", got)
		}
		return err
	})
}

// mountsVariable is set if this process has a mount namespace of its own.
const mountsVariable = "HONE_CHAOS_MOUNTS"

// mount mounts a small file system at a folder below the world's.
func (w *world) mount(dir string, size int) error {
	if os.Getenv(mountsVariable) == "" {
		return fmt.Errorf("%w: it needs a mount namespace, which scripts/chaos makes as root", errSkipped)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		return fmt.Errorf("%w: mount a small file system: %w", errSkipped, err)
	}
	w.mounts = append(w.mounts, dir)
	return nil
}

func unmount(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }

// fill uses up all space below a folder; the returned function frees it.
func fill(dir string) (empty func() error, err error) {
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, size := range []int{64 << 10, 1} {
		for err = error(nil); err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, unix.ENOSPC) {
			return nil, err
		}
	}
	return func() error { return os.Remove(path) }, nil
}

// diskFull fills the disk during a session, and before one begins.
func diskFull(folder string) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		dir := filepath.Join(w.dir, folder)
		if err := w.mount(dir, 16<<20); err != nil {
			return err
		}
		if err := w.begin(ctx); err != nil {
			return err
		}
		empty, err := fill(dir)
		if err != nil {
			return err
		}
		if err := w.edits(ctx); err != nil {
			return err
		}
		if err := w.saveFiles(1); err != nil {
			return err
		}
		// Files go into containers without any free space on this side.
		if err := w.filesRight(ctx); err != nil {
			return fmt.Errorf("while the disk is full: %w", err)
		}
		if err := empty(); err != nil {
			return err
		}
		w.note("room again")
		// The user has to retry the updates that failed for lack of space, with a save.
		if err := w.saveAll(); err != nil {
			return err
		}
		if err := w.right(ctx); err != nil {
			return err
		}
		if err := w.stop(ctx); err != nil {
			return err
		}
		if empty, err = fill(dir); err != nil {
			return err
		}
		if err := w.saveAll(); err != nil {
			return err
		}
		if err := w.start(); err != nil {
			return err
		}
		if err := w.beginsOrSays(ctx, "no space left on device"); err != nil {
			return err
		}
		if err := w.up.Stop(); err != nil {
			return err
		}
		if err := empty(); err != nil {
			return err
		}
		if err := w.ended(ctx); err != nil {
			return err
		}
		return w.aftermath(ctx)
	}
}

// beginsOrSays waits until the session is ready or has reported why it cannot be. A session that neither ends nor
// reports why is an error.
func (w *world) beginsOrSays(ctx context.Context, why string) error {
	err := harness.Await(ctx, patience, "a session that is ready or says why not", func() error {
		if strings.Contains(w.up.Out.String(), why) {
			w.note("said: %s", why)
			return nil
		}
		select {
		case <-w.up.Done:
			return nil
		default:
		}
		v, err := w.up.View()
		if err != nil {
			return err
		}
		for _, r := range v.Resources {
			if !harness.Ready(r) {
				return fmt.Errorf("%s is %s, %s", r.Name, r.UpdateStatus, r.RuntimeStatus)
			}
		}
		if len(v.Resources) < resources {
			return fmt.Errorf("%d resources", len(v.Resources))
		}
		w.note("began")
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, w.up.Out)
	}
	select {
	case <-w.up.Done:
		if !strings.Contains(w.up.Out.String(), why) {
			return fmt.Errorf("the session ended, and not because of %q\n%s", why, w.up.Out)
		}
	default:
	}
	return nil
}

// under starts a session through a program, such as a shell script that ends in exec "$@".
func (w *world) under(program []string) error {
	port, err := freeport.Next()
	if err != nil {
		return err
	}
	c := w.project.Command("up", "--stream", "--namespace", w.project.Namespace, "--port", fmt.Sprint(port))
	path, err := exec.LookPath(program[0])
	if err != nil {
		return fmt.Errorf("%w: %w", errSkipped, err)
	}
	c.Path, c.Args = path, append(program, c.Args...)
	w.up, err = w.project.Start(c, port)
	return err
}

// fewDescriptors lets sessions open fewer and fewer files. They must work, or report the error.
func fewDescriptors(ctx context.Context, w *world) error {
	for _, n := range []int{128, 48, 20} {
		w.note("%d files", n)
		if err := w.under([]string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, n), "sh"}); err != nil {
			return err
		}
		if err := w.beginsOrSays(ctx, "too many open files"); err != nil {
			return fmt.Errorf("%d files: %w", n, err)
		}
		if err := w.stop(ctx); err != nil {
			return fmt.Errorf("%d files: %w", n, err)
		}
		if err := w.saveAll(); err != nil {
			return err
		}
	}
	return w.aftermath(ctx)
}

// fewWatches lets a session watch few folders. Saves must arrive nevertheless.
func fewWatches(ctx context.Context, w *world) error {
	for i := range 40 {
		if err := w.project.Write(fmt.Sprintf("site/d%d/f", i), w.text()); err != nil {
			return err
		}
	}
	// The limit belongs to a user namespace: it applies to hone, not to the machine.
	program := []string{"unshare", "--user", "--map-root-user", "sh", "-c", `echo 12 > /proc/sys/user/max_inotify_watches && exec "$@"`, "sh"}
	if out, err := exec.Command(program[0], append(program[1:], "true")...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: no user namespace can be made here: %s", errSkipped, out)
	}
	if err := w.under(program); err != nil {
		return err
	}
	if err := w.ready(ctx); err != nil {
		return err
	}
	if err := w.right(ctx); err != nil {
		return err
	}
	for i := range 40 {
		if err := w.project.Write(fmt.Sprintf("site/d%d/f", i), w.text()); err != nil {
			return err
		}
	}
	if v, err := w.up.View(); err != nil || v.WatchError == "" {
		return fmt.Errorf("the session does not report that it cannot watch everything (%v)", err) //nolint:errorlint // err may be nil
	}
	return w.conclude(ctx)
}
