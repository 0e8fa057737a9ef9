package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// kinds are the kinds of a path in a tree. Beside each path is the folder real.
var kinds = map[string]func(path string) error{
	"nothing": func(string) error { return nil },
	"file":    func(path string) error { return os.WriteFile(path, []byte("file\n"), 0o644) },
	"empty":   func(path string) error { return os.Mkdir(path, 0o755) },
	"folder": func(path string) error {
		return errors.Join(os.MkdirAll(filepath.Join(path, "sub"), 0o755), os.WriteFile(filepath.Join(path, "f"), []byte("own\n"), 0o644),
			os.WriteFile(filepath.Join(path, "sub/g"), []byte("own\n"), 0o644))
	},
	"links": func(path string) error {
		return errors.Join(os.Mkdir(path, 0o755), os.Symlink("../real", filepath.Join(path, "sub")), os.Symlink("/bin", filepath.Join(path, "f")))
	},
	"link to a file":   func(path string) error { return os.Symlink("index.html", path) },
	"link to a folder": func(path string) error { return os.Symlink("real", path) },
	"link to nowhere":  func(path string) error { return os.Symlink("nowhere", path) },
	"link to outside":  func(path string) error { return os.Symlink("/bin", path) },
}

// TestKindsOfFiles turns files, folders and links into each other, at random, by removing them first, by a rename over them, and
// within one save or two. In each way, the container gets the same tree, the pod stays, and nothing is written behind a link.
func TestKindsOfFiles(t *testing.T) {
	t.Parallel()
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	for _, mode := range []string{"synclet", "exec", "container"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			real := k8stest.NewReal
			if mode == "container" {
				real = k8stest.NewRealOnDocker
			}
			cluster := real(t)
			p := newProjectOn(t, cluster, web)
			if mode == "container" {
				p.env = append(p.env, "KUBECONFIG="+os.Getenv(k8stest.DockerKubeconfig))
			}
			p.write("site/real/f", "real")
			p.write("site/real/sub/g", "real")
			ask := p.shells(cluster)
			s := p.up("--update-mode", mode)
			s.ready("web")
			s.serves(p.ports[0], "/", "one")
			pod := current(t, s, "web")
			bin, err := ask(pod.Name, "ls /bin")
			check(t, err)
			random := rand.New(rand.NewPCG(1, 2))
			for range rounds {
				p.change(random)
				s.await("the container to have the tree", func() error {
					got, err := ask(pod.Name, `cd /www && find . | while IFS= read -r p; do
						if [ -L "$p" ]; then echo "$p -> $(readlink "$p")"; elif [ -d "$p" ]; then echo "$p/"; else echo "$p $(cat "$p")"; fi; done`)
					lines := strings.Split(got, "\n")
					slices.Sort(lines)
					if want := describe(t, filepath.Join(p.dir, "site")); err == nil && !slices.Equal(lines, want) {
						err = fmt.Errorf("the container has\n%s\nnot\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
					}
					return err
				})
			}
			if now, err := ask(pod.Name, "ls /bin"); err != nil || now != bin {
				t.Errorf("/bin has %s, %v", now, err)
			}
			if now := current(t, s, "web"); now.Name != pod.Name || now.Restarts != 0 {
				t.Errorf("the pod was replaced: %+v, then %+v", pod, now)
			}
		})
	}
}

// change makes other kinds of some paths.
func (p *project) change(random *rand.Rand) {
	p.t.Helper()
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range kinds {
			if !yield(name) {
				return
			}
		}
	})
	for _, path := range []string{"a", "b", "c", "d"} {
		path = filepath.Join(p.dir, "site", path)
		kind := names[random.IntN(len(names))]
		beside := filepath.Join(p.dir, "beside")
		if random.IntN(2) == 0 {
			check(p.t, errors.Join(os.RemoveAll(path), kinds[kind](path)))
			continue
		}
		check(p.t, errors.Join(os.RemoveAll(beside), kinds[kind](beside)))
		if kind != "nothing" && os.Rename(beside, path) != nil { // as mv -T does
			check(p.t, errors.Join(os.RemoveAll(path), os.Rename(beside, path)))
		}
	}
}

// describe lists a tree.
func describe(t *testing.T, dir string) (out []string) {
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := "." + strings.TrimPrefix(path, dir)
		switch {
		case d.IsDir():
			out = append(out, name+"/")
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			out = append(out, name+" -> "+to)
			return err
		default:
			text, err := os.ReadFile(path)
			out = append(out, name+" "+strings.TrimSpace(string(text)))
			return err
		}
		return nil
	}))
	slices.Sort(out)
	return out
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
