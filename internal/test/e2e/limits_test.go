package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOverflow stops hone while far more files change than the system keeps events for. Once it continues, it finds the
// missed changes by comparing, in watched folders and in new ones, and keeps watching.
func TestOverflow(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
local_resource('copy', 'cat src/a src/new/b; echo done', deps=['src'], ignore=['src/noise'])
local_resource('noise', 'true', deps=['src/noise/f'])
-- src/a --
a1
-- src/noise/f --
-- src/noise/g --
-- src/new/b --
b1
-- src/gone --
`)
	s := p.up()
	s.ready("copy", "noise")
	s.builds("copy", 1)

	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	limit := 16384 // the kernel's default
	if text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err == nil {
		_, _ = fmt.Sscan(string(text), &limit)
	}
	// The system merges an event with the previous one if they are equal, hence two files in turn. Each opening and
	// closing is at least one event.
	for i := range limit + 1000 {
		f, err := os.OpenFile(filepath.Join(p.dir, "src/noise", []string{"f", "g"}[i%2]), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	p.write("src/a", "a2\n")
	p.write("src/new/deep/c", "c1\n")
	if err := os.Remove(filepath.Join(p.dir, "src/gone")); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.says(`copy │ a2`)
	b := s.builds("copy", 2)
	files := strings.Join(b.Files, " ")
	for _, want := range []string{"src/a", "src/new/deep/c", "src/gone"} {
		if !strings.Contains(files, want) {
			t.Errorf("the update's files are %s, want %s among them", files, want)
		}
	}
	p.write("src/new/deep/c", "c2\n") // the folder that came during the overflow is watched
	s.builds("copy", 3)
	if r, err := s.resource("noise"); err != nil || len(r.BuildHistory) != 1 {
		t.Errorf("a file without a change was taken for changed: %+v, %v", r.BuildHistory, err)
	}
}

// TestWatchLimit runs hone with few allowed watches: the limit is reported, with the mend, and changes are found
// nevertheless.
func TestWatchLimit(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
local_resource('copy', 'cat src/d39/f', deps=['src'])
`)
	for i := range 40 {
		p.write(fmt.Sprintf("src/d%d/f", i), "old\n")
	}
	// The limit belongs to a user namespace: it applies to hone, not to the machine.
	limited := func(args ...string) *exec.Cmd {
		c := p.command()
		c.Args = append([]string{"unshare", "--user", "--map-root-user", "sh", "-c",
			`echo 12 > /proc/sys/user/max_inotify_watches && exec "$@"`, "sh"}, args...)
		c.Path = "/usr/bin/unshare"
		return c
	}
	if out, err := limited("true").CombinedOutput(); err != nil {
		t.Skipf("no user namespace can be made here: %v %s", err, out)
	}
	s := p.startAs(limited(binary, "up", "--stream", "--namespace", p.namespace, "--port", fmt.Sprint(p.ports[3])))
	s.ready("copy")
	s.says(`sudo sysctl fs\.inotify\.max_user_watches=\d+`)
	if v, err := s.view(); err != nil || v.WatchError == "" {
		t.Errorf("the API does not show it: %v, %q", err, v.WatchError)
	}
	p.write("src/d39/f", "new\n")
	s.says(`copy │ new`)
}

// TestLogsSpill writes more than is kept in memory: the screen reads the log's beginning from disk, no line is lost,
// another resource's lines stay, and no file is left at the end.
func TestLogsSpill(t *testing.T) {
	t.Parallel()
	const lines = 200_000 // some 7 MB, where 1 MiB is kept in memory
	p := newProject(t, fmt.Sprintf(`
-- Tiltfile --
local_resource('quiet', 'echo the only line')
local_resource('chatty', 'seq -f "line %%.0f of the chatty resource" 1 %d', resource_deps=['quiet'])
`, lines))
	term := p.terminal(120, 34)
	p.hud(term)
	term.shows(fmt.Sprintf(`line %d of the chatty resource`, lines))
	term.shows(`✔ chatty +ok`)
	spilled := func() (n int) {
		_ = filepath.WalkDir(p.state, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.Contains(path, "spill-") {
				n++
			}
			return nil
		})
		return n
	}
	if spilled() == 0 {
		t.Error("nothing was spilled")
	}
	term.keys("End")
	term.shows(`▌ ✔ chatty`)
	term.keys("a", "Tab", "g")
	term.shows(`line 1 of the chatty resource`)
	term.keys("G")
	term.shows(fmt.Sprintf(`line %d of the chatty resource`, lines))
	term.keys("Tab", "k")
	term.shows(`─ quiet ─`)
	term.shows(`the only line`)
	term.keys("C-c")
	term.shows(`^prompt>\s*$`)
	for deadline := time.Now().Add(patience); spilled() > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%d files are left", spilled())
		}
	}
}
