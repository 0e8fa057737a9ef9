package tiltfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The test binary under the name of helm or kustomize stands for that program: it is native, as the real ones are. What
// it prints is decided by the files that the real one would read. It appends a line to the file that FAKE_RUNS names.

// linkTool puts the test binary into a folder under another name.
func linkTool(t testing.TB, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(self, path); err == nil {
		return
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// fakeTool runs the program that the binary was called as, if it is one.
func fakeTool(args []string) (code int, isTool bool) {
	tool := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if tool != "helm" && tool != "kustomize" {
		return 0, false
	}
	if err := countRun(tool + " " + strings.Join(args[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	files := args[2:]
	if err := fakeOutput(os.Stdout, files); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

func countRun(line string) error {
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

// fakeOutput prints a ConfigMap that holds all words, and what is in those that are paths. A file that says "open FIFO"
// or "fifo FIFO" makes it wait there for another run that does the opposite.
func fakeOutput(out io.Writer, words []string) error {
	fmt.Fprintf(out, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: out-%x}\ndata:\n", strings.Join(words, " "))
	fmt.Fprintf(out, "  env: %q\n", os.Getenv("FAKE_ENV"))
	for i, w := range words {
		fmt.Fprintf(out, "  w%d: %q\n", i, w)
		if !filepath.IsAbs(w) {
			continue
		}
		n := 0
		err := walkLinks(w, func(path string, data []byte) error {
			n++
			fmt.Fprintf(out, "  f%d-%d: %q\n", i, n, path+"="+string(data))
			if strings.Contains(string(data), "{{bad}}") {
				return fmt.Errorf("%s is bad", path)
			}
			return meet(string(data))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func walkLinks(root string, visit func(path string, data []byte) error) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		data, err := os.ReadFile(root)
		if err != nil {
			return err
		}
		return visit(root, data)
	}
	entries, err := os.ReadDir(root)
	for _, e := range entries {
		if err := walkLinks(filepath.Join(root, e.Name()), visit); err != nil && !isDangling(err) {
			return err
		}
	}
	return err
}

func isDangling(err error) bool { return os.IsNotExist(err) }

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
	f, err := os.OpenFile(fifo, mode, fs.ModeNamedPipe)
	if err != nil {
		return err
	}
	return f.Close()
}
