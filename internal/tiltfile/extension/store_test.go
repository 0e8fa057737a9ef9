package extension

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/filelock"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// upstream is a repository that git finds at https://git.test/ext.
type upstream struct {
	t    *testing.T
	dir  string
	env  []string
	repo Repo
	// store fetches from it; fetches counts how often.
	store   *Store
	fetches atomic.Int32
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{t: t, dir: filepath.Join(t.TempDir(), "ext"), repo: Repo{Name: "default", URL: "https://git.test/ext"}}
	u.env = []string{
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url." + filepath.Dir(u.dir) + "/.insteadOf", "GIT_CONFIG_VALUE_0=https://git.test/",
	}
	u.store = &Store{Dir: filepath.Join(t.TempDir(), "store"), Env: u.env,
		Log: logstore.Func(func(_ logstore.Level, text string) {
			if strings.HasPrefix(text, "Fetching") {
				u.fetches.Add(1)
			}
		})}
	u.git("init", "--quiet", "-b", "main", u.dir)
	u.commit("a/Tiltfile", "one")
	return u
}

func (u *upstream) git(args ...string) string {
	u.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), append(u.env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes and commits a file, and returns the commit.
func (u *upstream) commit(name, content string) string {
	u.t.Helper()
	path := filepath.Join(u.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		u.t.Fatal(err)
	}
	u.git("-C", u.dir, "add", "-A")
	u.git("-C", u.dir, "commit", "--quiet", "-m", content)
	return u.git("-C", u.dir, "rev-parse", "HEAD")
}

func (u *upstream) checkout(r Repo) Checkout {
	u.t.Helper()
	c, err := u.store.Checkout(u.t.Context(), r)
	if err != nil {
		u.t.Fatal(err)
	}
	return c
}

func (u *upstream) refresh() (Checkout, bool) {
	u.t.Helper()
	c, changed, err := u.store.Refresh(u.t.Context(), u.repo)
	if err != nil {
		u.t.Fatal(err)
	}
	return c, changed
}

// holds checks the text of the Tiltfile a in a checkout.
func holds(t *testing.T, c Checkout, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(c.Dir, "a", "Tiltfile"))
	if err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// leftovers returns the files that a fetch should have removed.
func (u *upstream) leftovers() []string {
	found, err := filepath.Glob(filepath.Join(u.store.Dir, "*", "*", ".*"))
	if err != nil {
		u.t.Fatal(err)
	}
	return found
}

func TestCheckoutIsFetchedOnceAndPinned(t *testing.T) {
	u := newUpstream(t)
	first := u.checkout(u.repo)
	holds(t, first, "one")
	if first.Commit != u.git("-C", u.dir, "rev-parse", "HEAD") {
		t.Errorf("commit %s is not the newest", first.Commit)
	}
	if _, err := os.Stat(filepath.Join(first.Dir, ".git")); err == nil {
		t.Error("the copy has a .git")
	}
	u.commit("a/Tiltfile", "two")
	u.store.Env = append(u.store.Env, "PATH=/does/not/exist") // neither network nor git from here on
	if again := u.checkout(u.repo); again != first {
		t.Errorf("got %+v, then %+v", first, again)
	}
	if n := u.fetches.Load(); n != 1 {
		t.Errorf("%d fetches, want 1", n)
	}
	if left := u.leftovers(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestRefresh(t *testing.T) {
	u := newUpstream(t)
	first := u.checkout(u.repo)
	if _, changed := u.refresh(); changed {
		t.Error("a refresh without changes reports some")
	}
	u.commit("a/Tiltfile", "two")
	second, changed := u.refresh()
	if !changed || second.Pin != first.Pin {
		t.Errorf("changed %v, pins %s and %s", changed, first.Pin, second.Pin)
	}
	holds(t, second, "two")
	holds(t, first, "one") // a running session may still read it
	if now := u.checkout(u.repo); now != second {
		t.Errorf("the refreshed copy is not used: %+v", now)
	}
	u.commit("a/Tiltfile", "three")
	u.refresh()
	if _, err := os.Stat(first.Dir); err == nil {
		t.Error("the oldest copy is still there")
	}
	holds(t, second, "two")
}

func TestReferences(t *testing.T) {
	u := newUpstream(t)
	old := u.git("-C", u.dir, "rev-parse", "HEAD")
	u.git("-C", u.dir, "tag", "v1")
	u.git("-C", u.dir, "branch", "side")
	u.commit("a/Tiltfile", "two")
	for _, ref := range []string{old, old[:10], "v1", "side"} {
		r := u.repo
		r.Ref = ref
		c := u.checkout(r)
		holds(t, c, "one")
		if c.Commit != old {
			t.Errorf("%s: commit %s, want %s", ref, c.Commit, old)
		}
	}
	list, err := u.store.List()
	if err != nil || len(list) != 4 || list[0].Commit != old || list[0].Fetched.IsZero() {
		t.Errorf("list: %+v, %v", list, err)
	}
}

func TestDamagedPinIsFetchedAnew(t *testing.T) {
	u := newUpstream(t)
	c := u.checkout(u.repo)
	for _, damage := range []string{"", "{}", `{"commit": "../../.."}`} {
		if err := os.WriteFile(c.Pin, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if again := u.checkout(u.repo); again != c {
			t.Errorf("%q: got %+v", damage, again)
		}
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		t.Fatal(err)
	}
	holds(t, u.checkout(u.repo), "one")
}

// TestConcurrentCheckouts simulates several sessions that start at once: separate stores on the same folder.
func TestConcurrentCheckouts(t *testing.T) {
	u := newUpstream(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s := &Store{Dir: u.store.Dir, Env: u.store.Env, Log: u.store.Log}
			c, err := s.Checkout(t.Context(), u.repo)
			if err != nil {
				t.Error(err)
				return
			}
			holds(t, c, "one")
		})
	}
	wg.Wait()
	if n := u.fetches.Load(); n != 1 {
		t.Errorf("%d fetches, want 1", n)
	}
}

func TestCheckoutWaitsForTheLock(t *testing.T) {
	u := newUpstream(t)
	if err := os.MkdirAll(filepath.Dir(u.store.home(u.repo)), 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := filelock.Lock(t.Context(), u.store.home(u.repo)+".lock")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := u.store.Checkout(ctx, u.repo)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v while another process fetches, want context.Canceled", err)
	}
	unlock()
	holds(t, u.checkout(u.repo), "one")
}

// fakeGit puts a program called git first in the store's PATH.
func (u *upstream) fakeGit(script string) {
	u.t.Helper()
	dir := u.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		u.t.Fatal(err)
	}
	u.store.Env = append(u.store.Env, "PATH="+dir+":"+os.Getenv("PATH"))
}

func TestCancelledFetch(t *testing.T) {
	u := newUpstream(t)
	started := filepath.Join(t.TempDir(), "started")
	u.fakeGit("trap 'exit 1' TERM; mkdir " + started + "; while :; do sleep 0.01; done")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(started); err == nil {
				cancel()
				return
			}
		}
	}()
	if _, err := u.store.Checkout(ctx, u.repo); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if left := u.leftovers(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestSilentGit(t *testing.T) {
	u := newUpstream(t)
	u.store.silence = 20 * time.Millisecond
	u.fakeGit("trap 'exit 1' TERM; while :; do sleep 0.01; done")
	_, err := u.store.Checkout(t.Context(), u.repo)
	if p, ok := problem.Of(err); !ok || !errors.Is(err, errSilent) || p.Mend == "" {
		t.Errorf("got %v, want a problem about a git that makes no progress", err)
	}
}

func TestSlowGit(t *testing.T) {
	u := newUpstream(t)
	u.store.limit = 50 * time.Millisecond
	u.fakeGit("trap 'exit 1' TERM; while :; do echo progress; sleep 0.01; done")
	_, err := u.store.Checkout(t.Context(), u.repo)
	if p, ok := problem.Of(err); !ok || !errors.Is(err, errSlow) || p.Mend == "" {
		t.Errorf("got %v, want a problem about a fetch that takes too long", err)
	}
}

// TestFetchProblems checks that each failure is a problem with a reason and a mend.
func TestFetchProblems(t *testing.T) {
	for _, tc := range []struct {
		name, env string
		change    func(r *Repo)
		want      string
	}{
		{"no git", "PATH=/does/not/exist", func(*Repo) {}, "git is not installed"},
		{"no repository", "", func(r *Repo) { r.URL = "https://git.test/gone" }, "does not appear to be a git repository"},
		{"no such branch", "", func(r *Repo) { r.Ref = "gone" }, "has no such branch"},
		{"no such commit", "", func(r *Repo) { r.Ref = "0123456789" }, "has no such commit"},
		{"no folder", "", func(r *Repo) { r.URL = "file:///does/not/exist" }, "there is no folder /does/not/exist"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := newUpstream(t)
			if tc.env != "" {
				u.store.Env = append(u.store.Env, tc.env)
			}
			tc.change(&u.repo)
			_, err := u.store.Checkout(t.Context(), u.repo)
			p, ok := problem.Of(err)
			if !ok || !strings.Contains(err.Error(), tc.want) || p.Mend == "" {
				t.Errorf("got %v, want a problem with %q and a mend", err, tc.want)
			}
		})
	}
}

func TestPasswordsStayOut(t *testing.T) {
	u := newUpstream(t)
	u.fakeGit(`echo "fatal: unable to access '$8': no" >&2; echo "$@" >&2; exit 128`)
	u.repo.URL = "https://me:hunter22@git.test/ext"
	_, err := u.store.Checkout(t.Context(), u.repo)
	if text := problem.Text(err); strings.Contains(text, "hunter22") || !strings.Contains(text, "https://[redacted]@git.test/ext") {
		t.Errorf("got %s", text)
	}
}

func TestGitIsNotAsked(t *testing.T) {
	u := newUpstream(t)
	t.Setenv("GIT_DIR", "/elsewhere")
	said := filepath.Join(t.TempDir(), "said")
	u.fakeGit(`echo "$GIT_TERMINAL_PROMPT $GIT_SSH_COMMAND $(test "$GIT_DIR" = "$PWD/.git" && echo own)" > ` + said + `; exit 1`)
	if _, err := u.store.Checkout(t.Context(), u.repo); err == nil {
		t.Fatal("no error")
	}
	got, err := os.ReadFile(said)
	if err != nil || !strings.HasPrefix(string(got), "0 ssh -o BatchMode=yes") || !strings.HasSuffix(string(got), "own\n") {
		t.Errorf("git ran with %q, %v", got, err)
	}
}

func TestUnusableFolder(t *testing.T) {
	u := newUpstream(t)
	if err := os.WriteFile(u.store.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, fn := range map[string]func() error{
		"checkout": func() error { _, err := u.store.Checkout(t.Context(), u.repo); return err },
		"embedded": func() error { _, err := u.store.EmbeddedDir("restart_process"); return err },
	} {
		if p, ok := problem.Of(fn()); !ok || !strings.Contains(p.Mend, "XDG_DATA_HOME") {
			t.Errorf("%s: got %v, want a problem that names XDG_DATA_HOME", what, fn())
		}
	}
}
