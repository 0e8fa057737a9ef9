// Command faketool replaces helm and kustomize in tests, depending on the name by which it is called. Its output
// depends on the files that the real program would read. It appends a line to the file that FAKE_RUNS names.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Stdout, filepath.Base(os.Args[0]), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer, tool string, args []string) error {
	if err := count(tool + " " + strings.Join(args, " ")); err != nil {
		return err
	}
	words := args[1:]
	if tool == "kustomize" {
		words = kustomized(args[len(args)-1])
	}
	fmt.Fprintf(out, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: out-%x}\ndata:\n", strings.Join(args, " "))
	fmt.Fprintf(out, "  env: %q\n", os.Getenv("FAKE_ENV"))
	for i, w := range words {
		fmt.Fprintf(out, "  w%d: %q\n", i, w)
		if !filepath.IsAbs(w) {
			continue
		}
		n := 0
		err := walk(w, func(path, text string) error {
			n++
			fmt.Fprintf(out, "  f%d-%d: %q\n", i, n, path+"="+text)
			if strings.Contains(text, "{{bad}}") {
				return fmt.Errorf("%s is bad", path)
			}
			return meet(text)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// kustomized returns the files of a kustomization, whose lists must be on one line: "resources: [a, b]".
func kustomized(dir string) []string {
	file := filepath.Join(dir, "kustomization.yaml")
	files := []string{file}
	data, _ := os.ReadFile(file)
	for line := range strings.Lines(string(data)) {
		_, list, ok := strings.Cut(strings.TrimSpace(line), "resources: [")
		if !ok {
			continue
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
			path := filepath.Join(dir, strings.TrimSpace(name))
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				files = append(files, kustomized(path)...)
			} else if err == nil {
				files = append(files, path)
			}
		}
	}
	return files
}

func count(line string) error {
	name := os.Getenv("FAKE_RUNS")
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, line)
	return err
}

// walk visits a file, or the files in a folder, following links; broken links are skipped.
func walk(root string, visit func(path, text string) error) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		data, err := os.ReadFile(root)
		if err != nil {
			return err
		}
		return visit(root, string(data))
	}
	entries, err := os.ReadDir(root)
	for _, e := range entries {
		if err := walk(filepath.Join(root, e.Name()), visit); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return err
}

// meet waits for another run: for a file with "write-to FIFO" or "read-from FIFO" it opens the FIFO, which blocks until
// another run does the opposite.
func meet(text string) error {
	word, fifo, ok := strings.Cut(strings.TrimSpace(text), " ")
	mode := os.O_RDONLY
	switch {
	case !ok:
		return nil
	case word == "write-to":
		mode = os.O_WRONLY
	case word != "read-from":
		return nil
	}
	f, err := os.OpenFile(fifo, mode, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
