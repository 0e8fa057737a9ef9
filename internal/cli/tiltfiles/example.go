package tiltfiles

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
)

// exampleFiles are the files of the example. It needs only a cluster, nothing else that a beginner may lack: its image is a small
// web server.
//
//go:embed example
var exampleFiles embed.FS

// offersExample asks in a terminal whether a folder without files gets the example, and writes it.
func offersExample(cmd *cobra.Command, g *command.Global, dir string) (bool, error) {
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 || !command.Interactive() {
		return false, nil //nolint:nilerr // a folder that cannot be read gets no example
	}
	yes, err := command.Confirm(cmd.Context(), g.Stderr, "This folder is empty. Write a small example to try hone on?")
	if err != nil || !yes {
		return false, err
	}
	return true, writeExample(g, dir)
}

// writeExample writes the example. It overwrites nothing: if a file is there, none is written.
func writeExample(g *command.Global, dir string) error {
	var names []string
	err := fs.WalkDir(exampleFiles, "example", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		panic(err) // they are embedded above
	}
	to := func(name string) string {
		return filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, "example/")))
	}
	for _, name := range names {
		if _, err := os.Lstat(to(name)); err == nil {
			return problem.New(to(name)+" is there already: nothing was written", "choose an empty folder: mkdir try-hone && hone init --example try-hone")
		}
	}
	for _, name := range names {
		content, err := exampleFiles.ReadFile(name)
		if err != nil {
			panic(err) // they are embedded above
		}
		if err := os.MkdirAll(filepath.Dir(to(name)), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", to(name), err)
		}
		if err := write(to(name), string(content)); err != nil {
			return err
		}
		fmt.Fprintln(g.Stdout, "Wrote", to(name))
	}
	fmt.Fprintln(g.Stdout, "Start it with hone up, open http://localhost:8080, and change site/index.html.")
	return nil
}
