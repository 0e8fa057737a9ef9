package command

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// Environment returns the variables that are added for the commands of a Tiltfile and its extensions, whatever runs them: they
// use the chosen cluster and namespace, not the user's current ones, and find hone under the name tilt.
func Environment(kc *k8s.Kubeconfig, tiltfile string) ([]string, error) {
	env := tiltInPath(filepath.Join(StateDir(), "bin"))
	overlay, err := Overlay(kc, tiltfile)
	if err == nil && overlay != "" {
		env = append(env, "KUBECONFIG="+overlay)
	}
	return env, err
}

// Overlay returns the value of KUBECONFIG for commands of a Tiltfile that work on the context and namespace of kc; empty without a context.
func Overlay(kc *k8s.Kubeconfig, tiltfile string) (string, error) {
	return kc.Overlay(filepath.Join(StateDir(), "kubeconfig"), tiltfile)
}

// tiltInPath makes hone answer to the name tilt in commands of the Tiltfile and its extensions, which were written for Tilt:
// it makes a link to this program below dir, and returns the variable PATH that finds it first. Each program has a folder
// of its own, so that two versions of hone do not take it from each other. Where no link can be made, as in a home folder that
// is read-only, the PATH stays as it is: few commands call tilt.
func tiltInPath(dir string) []string {
	program, err := os.Executable()
	if err != nil || runtime.GOOS == "windows" { // where links need a privilege
		return nil
	}
	sum := sha256.Sum256([]byte(program))
	dir = filepath.Join(dir, hex.EncodeToString(sum[:4]))
	link := filepath.Join(dir, "tilt")
	if to, err := os.Readlink(link); err != nil || to != program {
		if makeLink(program, link) != nil {
			return nil
		}
	}
	return []string{"PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH")}
}

// makeLink makes a link, or replaces one that leads elsewhere, in one step.
func makeLink(to, link string) error {
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(to, fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, link); err != nil {
		_ = os.Remove(fresh)
		return err
	}
	return nil
}
