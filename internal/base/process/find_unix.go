//go:build unix

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// findProgram looks up a program in the PATH of env. A name with a slash is returned unchanged.
func findProgram(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path, _ := lookupEnv(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue // it means the working folder, which is not searched
		}
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", exec.ErrNotFound
}
