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
	treesCase     = "a tree of 20,000 files appears"
	treesSwitched = "a tree of 20,000 files for another one"
	treesGone     = "a tree of 20,000 files disappears"
	treeFiles     = 20_000
	treeFolder    = 100 // files in each of its folders
	treeLimit     = time.Minute
)

// inTime: a switched branch.
var inTime = []target{{share: 0.5, limit: 2 * time.Second}}

// measureTrees moves folders of many small files into the project, as a switched branch would, exchanges them, and moves them out
// again. The order matters: ext4 creates files slowly for minutes after as many were deleted.
func (l *live) measureTrees(ctx context.Context, app []*container) error {
	if !l.wanted(treesCase) {
		return nil
	}
	elsewhere, err := os.MkdirTemp(filepath.Dir(l.project.Dir), "trees")
	if err != nil {
		return err
	}
	defer os.RemoveAll(elsewhere)
	const n = 3
	var trees [2 * n]tree
	var copied times
	for i := range trees {
		name := fmt.Sprint("tree-", i)
		t := tree{at: filepath.Join(elsewhere, name), here: filepath.Join(l.project.Dir, "files", name),
			there: filepath.Join(app[0].root, "files", name), text: fmt.Sprintln("tree", i)}
		if t.paths, err = plant(t.at, t.text); err != nil {
			return err
		}
		trees[i] = t
		if i < n {
			began := time.Now()
			if said, err := exec.CommandContext(ctx, "cp", "-r", t.at, t.at+"-copy").CombinedOutput(); err != nil {
				return fmt.Errorf("cp: %w\n%s", err, said)
			}
			copied = append(copied, time.Since(began))
		}
	}
	each := func(do func(i int) error) func() (liveCase, error) {
		return func() (out liveCase, err error) {
			for i := range n {
				if err := harness.Sleep(ctx, 2*time.Second); err != nil { // meanwhile pending data is written to the disk
					return out, err
				}
				began := time.Now()
				if err := do(i); err != nil {
					return out, err
				}
				out.took = append(out.took, time.Since(began))
			}
			return out, nil
		}
	}
	err = l.measure(ctx, app, treesCase, inTime, each(func(i int) error {
		if err := os.Rename(trees[i].at, trees[i].here); err != nil {
			return err
		}
		return trees[i].awaitAll()
	}))
	if err != nil {
		return err
	}
	l.report.cases[len(l.report.cases)-1].note = "cp -r " + short(copied.median())
	err = l.measure(ctx, app, treesSwitched, inTime, each(func(i int) error {
		if err := errors.Join(os.Rename(trees[i].here, trees[i].at), os.Rename(trees[n+i].at, trees[n+i].here)); err != nil {
			return err
		}
		return errors.Join(trees[n+i].awaitAll(), trees[i].awaitGone(ctx))
	}))
	if err != nil {
		return err
	}
	return l.measure(ctx, app, treesGone, inTime, each(func(i int) error {
		if err := os.Rename(trees[n+i].here, trees[n+i].at); err != nil {
			return err
		}
		return trees[n+i].awaitGone(ctx)
	}))
}

// tree is a folder of many files, at one of its two places.
type tree struct {
	at, here, there string // aside, in the project, in the container
	paths           []string
	text            string
}

// awaitAll waits until all files are in the container. Looking at all of them would take processor time from the update. Therefore
// it waits for the last file of each folder, and then checks that all files are there.
func (t *tree) awaitAll() error {
	if err := awaitIn([]string{t.there}, nil, lastOf(t.paths), t.text, treeLimit); err != nil {
		return err
	}
	return awaitIn([]string{t.there}, nil, t.paths, t.text, time.Second)
}

// awaitGone waits until no file is in the container.
func (t *tree) awaitGone(ctx context.Context) error {
	return harness.Await(ctx, treeLimit, "the files to disappear", func() error {
		if left, err := os.ReadDir(t.there); !errors.Is(err, fs.ErrNotExist) && (err != nil || len(left) > 0) {
			return fmt.Errorf("%d entries are left: %w", len(left), err)
		}
		return nil
	})
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
