// Package checkout recognises the source tree of a project on several machines, by git's remotes.
package checkout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gitLimit bounds each wait for git, which only reads its configuration.
const gitLimit = time.Second

// Tree is the source tree of a Tiltfile, as one machine describes it to another. It holds no password.
type Tree struct {
	// Root is the top of git's working tree, or the folder of the Tiltfile if there is none.
	Root string `json:"root"`
	// Tiltfile is its path below Root, with slashes, and Content a hash of it.
	Tiltfile string `json:"tiltfile"`
	Content  string `json:"content"`
	// Remotes are the hosts and paths of git's remotes. Those that mean something on one machine only are left out.
	Remotes []string `json:"remotes,omitempty"`
}

// Of returns the tree of a Tiltfile. Without git it is the folder.
func Of(ctx context.Context, tiltfile string) (Tree, error) {
	text, err := os.ReadFile(tiltfile)
	if err != nil {
		return Tree{}, fmt.Errorf("read the Tiltfile: %w", err)
	}
	if tiltfile, err = filepath.EvalSymlinks(tiltfile); err != nil {
		return Tree{}, fmt.Errorf("find the Tiltfile: %w", err)
	}
	hash := sha256.Sum256(text)
	t := Tree{Root: filepath.Dir(tiltfile), Content: hex.EncodeToString(hash[:])}
	if root := top(ctx, t.Root); root != "" {
		t.Root = root
	}
	below, err := filepath.Rel(t.Root, tiltfile)
	if err != nil {
		return Tree{}, fmt.Errorf("find the Tiltfile in its tree: %w", err)
	}
	t.Tiltfile = filepath.ToSlash(below)
	remotes, _ := git(ctx, t.Root, "remote", "--verbose")
	for line := range strings.Lines(remotes) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		if r := remote(fields[1]); r != "" && !slices.Contains(t.Remotes, r) {
			t.Remotes = append(t.Remotes, r)
		}
	}
	return t, nil
}

// Near returns the root of the tree on this machine that is the one of another machine: the tree around a folder, or the one at the same path.
// It is empty if neither is known to be the same project.
func Near(ctx context.Context, there Tree, folder string) string {
	for _, root := range []string{top(ctx, folder), there.Root} {
		if root == "" {
			continue
		}
		here, err := Of(ctx, filepath.Join(root, filepath.FromSlash(there.Tiltfile)))
		if err == nil && here.same(there) {
			return here.Root
		}
	}
	return ""
}

// same reports whether two trees have the same project for sure: a remote is the same, or, where one has none, path and Tiltfile are.
func (t Tree) same(other Tree) bool {
	if t.Tiltfile != other.Tiltfile {
		return false
	}
	if len(t.Remotes) > 0 && len(other.Remotes) > 0 {
		return slices.ContainsFunc(t.Remotes, func(r string) bool { return slices.Contains(other.Remotes, r) })
	}
	return t.Root == other.Root && t.Content == other.Content
}

// top returns the top of git's working tree around a folder; empty if there is none.
func top(ctx context.Context, folder string) string {
	out, err := git(ctx, folder, "rev-parse", "--show-toplevel")
	if err != nil {
		return ""
	}
	return filepath.FromSlash(strings.TrimRight(out, "\r\n"))
}

func git(ctx context.Context, folder string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-C", folder}, args...)...).Output()
	return string(out), err
}

// remote returns host and path of a remote, which are the same for all ways to reach it; empty for one on this machine.
func remote(address string) string {
	var host, place string
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil {
			return ""
		}
		host, place = u.Hostname(), u.Path
	} else {
		host, place, _ = strings.Cut(address, ":")
		host = host[strings.LastIndex(host, "@")+1:]
	}
	local := len(host) < 2 || strings.ContainsAny(host, `/\`) // a path, maybe with a drive
	if local || place == "" {
		return ""
	}
	return path.Join(strings.ToLower(host), strings.TrimSuffix(strings.TrimRight(place, "/"), ".git"))
}
