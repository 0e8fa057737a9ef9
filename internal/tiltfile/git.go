package tiltfile

import (
	"fmt"
	"path/filepath"

	"go.starlark.net/starlark"
)

// gitRepo is what local_git_repo() returns.
type gitRepo struct {
	opaque
	dir   string
	paths *starlark.Builtin
}

var _ starlark.HasAttrs = (*gitRepo)(nil)

// String shows where the repository is.
func (r *gitRepo) String() string { return fmt.Sprintf("local_git_repo(%q)", r.dir) }

// Attr implements starlark.HasAttrs.
func (r *gitRepo) Attr(name string) (starlark.Value, error) {
	if name == "paths" {
		return r.paths, nil
	}
	return nil, nil
}

// AttrNames implements starlark.HasAttrs.
func (r *gitRepo) AttrNames() []string { return []string{"paths"} }

func localGitRepo(c *call) (starlark.Value, error) {
	var path string
	if err := c.unpack("path", &path); err != nil {
		return nil, err
	}
	dir := c.abs(path)
	if !isDir(dir) {
		return nil, fmt.Errorf("there is no folder %s%s", dir, c.sibling(dir))
	}
	// In worktrees and submodules .git is a file.
	if git := filepath.Join(dir, ".git"); !isDir(git) && !fileExists(git) {
		return nil, fmt.Errorf("%s is not the top folder of a git repository: it has no .git", dir)
	}
	r := &gitRepo{opaque: opaque{"git.Repo"}, dir: dir}
	r.paths = c.bind("paths", func(c *call) (starlark.Value, error) {
		var sub string
		if err := c.unpack("path", &sub); err != nil {
			return nil, err
		}
		return starlark.String(filepath.Join(dir, sub)), nil
	})
	return r, nil
}
