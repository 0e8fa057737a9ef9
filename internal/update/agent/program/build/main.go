// Command build compiles cmd/synclet for every supported architecture into the folder that package program embeds. The programs are
// reproducible. They are named by a hash of their sources, and a second build of the same sources does nothing. -check only reports
// whether the programs there were built from the present sources.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	module  = "github.com/hone-dev/hone/"
	synclet = module + "cmd/synclet"
)

func main() {
	check := flag.Bool("check", false, "report whether the programs are up to date, and build nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "build the synclet:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	root, err := output(nil, "go", "list", "-m", "-f", "{{.Dir}}", strings.TrimSuffix(module, "/"))
	if err != nil {
		return err
	}
	into := filepath.Join(root, "internal", "update", "agent", "program", "built")
	name, err := sources(root)
	if err != nil {
		return err
	}
	label := filepath.Join(into, "build.txt")
	is, err := os.ReadFile(label)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case strings.TrimSpace(string(is)) == name:
		return nil
	case check:
		return fmt.Errorf("the programs are of build %q, and the sources of %s: run make generate", is, name)
	}
	if err := os.Remove(label); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, arch := range []string{"amd64", "arm64"} {
		if err := build(into, arch, name); err != nil {
			return err
		}
	}
	// The label comes last: a build that ends early is repeated.
	return os.WriteFile(label, []byte(name+"\n"), 0o644)
}

// sources names the sources of the program by a hash of their paths and contents.
func sources(root string) (string, error) {
	list, err := output([]string{"GOOS=linux"}, "go", "list", "-deps", "-f",
		`{{if not .Standard}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}`, synclet)
	if err != nil {
		return "", err
	}
	files := strings.Fields(list)
	slices.Sort(files)
	all := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		path, err := filepath.Rel(root, file)
		if err != nil {
			return "", err
		}
		// Git may have given the file other line ends.
		fmt.Fprintf(all, "%x  %s\n", sha256.Sum256(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), filepath.ToSlash(path))
	}
	return hex.EncodeToString(all.Sum(nil))[:12], nil
}

// build compiles and compresses the program for one architecture.
func build(into, arch, name string) error {
	program := filepath.Join(into, "synclet-linux-"+arch)
	defer os.Remove(program)
	// Without inlining, the runtime is 57 KB smaller, and the program spends its time in system calls. Flags of the user's environment
	// would make another program.
	_, err := output([]string{"GOFLAGS=", "CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + arch}, "go", "build", "-trimpath", "-buildvcs=false",
		"-gcflags=runtime=-l", "-ldflags", "-s -w -X "+module+"internal/update/agent.Program="+name, "-o", program, synclet)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(program+".gz", packed.Bytes(), 0o644)
}

// output runs a command with additions to the environment, and returns its output without the last line end.
func output(env []string, argv ...string) (string, error) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(argv[:2], " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
