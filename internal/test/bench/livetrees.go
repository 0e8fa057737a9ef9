//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

const (
	treesCase, treesGone = "a tree of 20,000 files appears", "a tree of 20,000 files disappears"
	treeFiles            = 20_000
	treeFolder           = 100 // files in each of its folders
	treeLimit            = time.Minute
)

// inTime: a switched branch.
var inTime = []target{{share: 0.5, limit: 2 * time.Second}}

// measureTrees moves a folder of many small files into the project, as a switched branch would, and out of it again.
func (l *live) measureTrees(ctx context.Context, app []*container) error {
	if !l.wanted(treesCase) {
		return nil
	}
	elsewhere, err := os.MkdirTemp(filepath.Dir(l.project.Dir), "trees")
	if err != nil {
		return err
	}
	defer os.RemoveAll(elsewhere)
	var gone, copied times
	err = l.measure(ctx, app, treesCase, inTime, func() (out liveCase, err error) {
		for i := range 3 {
			name := fmt.Sprint("tree-", i)
			tree, here, there := filepath.Join(elsewhere, name), filepath.Join(l.project.Dir, "files", name), filepath.Join(app[0].root, "files", name)
			text := fmt.Sprintln("tree", i)
			paths, err := plant(tree, text)
			if err != nil {
				return out, err
			}
			began := time.Now()
			if said, err := exec.CommandContext(ctx, "cp", "-r", tree, tree+"-copy").CombinedOutput(); err != nil {
				return out, fmt.Errorf("cp: %w\n%s", err, said)
			}
			copied = append(copied, time.Since(began))
			if err := harness.Sleep(ctx, time.Second); err != nil { // what is written to the disk meanwhile
				return out, err
			}
			began = time.Now()
			if err := os.Rename(tree, here); err != nil {
				return out, err
			}
			// To look at all of them would take a part of the processor from the update: the last one of each folder has to be there in time,
			// and all of them then.
			if err := awaitIn([]string{there}, nil, lastOf(paths), text, treeLimit); err != nil {
				return out, err
			}
			out.took = append(out.took, time.Since(began))
			if err := awaitIn([]string{there}, nil, paths, text, time.Second); err != nil {
				return out, err
			}
			began = time.Now()
			if err := os.Rename(here, tree); err != nil {
				return out, err
			}
			err = harness.Await(ctx, treeLimit, "the files to disappear", func() error {
				if left, err := os.ReadDir(there); !errors.Is(err, fs.ErrNotExist) && (err != nil || len(left) > 0) {
					return fmt.Errorf("%d entries are left: %w", len(left), err)
				}
				return nil
			})
			if err != nil {
				return out, err
			}
			gone = append(gone, time.Since(began))
		}
		return out, nil
	})
	if err != nil {
		return err
	}
	l.report.cases[len(l.report.cases)-1].note = "cp -r " + short(copied.median())
	return l.measure(ctx, app, treesGone, inTime, func() (liveCase, error) { return liveCase{took: gone}, nil })
}

// lastOf returns the last file of each folder.
func lastOf(paths []string) []string {
	var out []string
	for i := treeFolder - 1; i < len(paths); i += treeFolder {
		out = append(out, paths[i])
	}
	return out
}

// plant writes many small files below a folder, and returns their paths in it.
func plant(dir, text string) ([]string, error) {
	paths := make([]string, treeFiles)
	for i := range paths {
		paths[i] = fmt.Sprintf("%d/%d.js", i/treeFolder, i)
		path := filepath.Join(dir, paths[i])
		if i%treeFolder == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return nil, err
			}
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return paths, nil
}
