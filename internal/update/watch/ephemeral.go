package watch

import (
	"sync"

	"github.com/hone-dev/hone/pkg/model"
)

// Ephemeral holds patterns, relative to each watched path, of files that are never a change of the source: temporary
// files of editors and the folders of Git and of the JetBrains programs. They only keep changes from being reported; the
// files stay in build contexts. A path that a target names explicitly is watched even if it lies in such a folder.
var Ephemeral = []string{
	// Git keeps its state here; in worktrees and submodules it is a file.
	"**/.git",
	// JetBrains: settings, and the two files of a safe write.
	"**/.idea", "**/*___jb_old___", "**/*___jb_tmp___",
	// Emacs: lock, auto-save and flymake files.
	"**/.#*", "**/#*#", "**/flymake_*.*",
	// Vim: the probe for a writable folder, backups, swap files.
	"**/4913", "**/*~", "**/.*.swp", "**/.*.swx", "**/.*.swo", "**/.*.swn",
	// Kate: swap files.
	"**/.*.kate-swp",
	// The go command's probe for the umask.
	"**/*-go-tmp-umask",
}

var compiledEphemeral = sync.OnceValues(func() (*ignoreSet, error) {
	return newIgnoreSet(model.Ignore{Patterns: Ephemeral})
})

// droppings leaves out the ephemeral files below a path.
func droppings(path string) (Matcher, error) {
	compiled, err := compiledEphemeral()
	if err != nil {
		return nil, err
	}
	return ignoreSetOf(path, compiled.patterns), nil
}
