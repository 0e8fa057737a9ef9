package watch

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// staleLock is the age from which an index.lock counts as left behind by a Git process that died.
	staleLock = 15 * time.Second
	// forgetGit is the time for which the repository of a folder is cached.
	forgetGit = 30 * time.Second
)

// gitLocks reports whether Git is at work on the trees that folders belong to. It is for use by one goroutine.
type gitLocks struct {
	homes map[string]string // folder -> folder of its repository's state, "" for none
	since time.Time
}

func newGitLocks() *gitLocks { return &gitLocks{homes: map[string]string{}} }

// locked reports whether one of the repositories that the folders belong to is locked.
func (g *gitLocks) locked(dirs []string) bool {
	now := time.Now()
	if now.Sub(g.since) > forgetGit {
		clear(g.homes)
		g.since = now
	}
	asked := map[string]bool{"": true}
	for _, dir := range dirs {
		home := g.home(dir)
		if asked[home] {
			continue
		}
		asked[home] = true
		if fi, err := os.Lstat(filepath.Join(home, "index.lock")); err == nil && now.Sub(fi.ModTime()) < staleLock {
			return true
		}
	}
	return false
}

// home returns the folder where the Git repository that dir belongs to keeps its index.
func (g *gitLocks) home(dir string) string {
	home, ok := g.homes[dir]
	if ok {
		return home
	}
	path := filepath.Join(dir, ".git")
	fi, err := os.Lstat(path)
	switch {
	case err == nil && fi.IsDir():
		home = path
	case err == nil:
		home = linkedHome(dir, path)
	case dir != filepath.Dir(dir):
		home = g.home(filepath.Dir(dir))
	}
	g.homes[dir] = home
	return home
}

// linkedHome reads the .git file of a worktree or submodule.
func linkedHome(dir, path string) string {
	text, err := os.ReadFile(path)
	home, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	if !filepath.IsAbs(home) {
		home = filepath.Join(dir, home)
	}
	return home
}
