package process

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// NamedFiles returns the regular files below its folder that the words of a command name: its scripts, and the files that it is told to read.
func NamedFiles(cmd model.Cmd) (paths []string) {
	for _, arg := range cmd.Argv {
		for _, word := range strings.Fields(arg) {
			if !filepath.IsLocal(word) {
				continue
			}
			path := filepath.Join(cmd.Dir, word)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				paths = append(paths, path)
			}
		}
	}
	return paths
}
