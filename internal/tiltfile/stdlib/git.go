package stdlib

import (
	"fmt"
	"path/filepath"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/file"
	"github.com/hone-dev/hone/internal/tiltfile/value"
)

// gitRepo is the result of local_git_repo().
type gitRepo struct {
	value.Opaque
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

func localGitRepo(c *eval.Call) (starlark.Value, error) {
	var path string
	if err := c.Unpack("path", &path); err != nil {
		return nil, err
	}
	dir := c.Abs(path)
	if !file.IsDir(dir) {
		return nil, fmt.Errorf("there is no folder %s%s", dir, c.Sibling(dir))
	}
	// In worktrees and submodules .git is a file.
	if git := filepath.Join(dir, ".git"); !file.IsDir(git) && !file.Exists(git) {
		return nil, fmt.Errorf("%s is not the top folder of a git repository: it has no .git", dir)
	}
	r := &gitRepo{Opaque: value.Opaque{Kind: "git.Repo"}, dir: dir}
	r.paths = c.Bind("paths", func(c *eval.Call) (starlark.Value, error) {
		var sub string
		if err := c.Unpack("path", &sub); err != nil {
			return nil, err
		}
		return starlark.String(filepath.Join(dir, sub)), nil
	})
	return r, nil
}
