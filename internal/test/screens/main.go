//go:build linux

// Command screens makes the pictures of the documentation from real runs: it runs the demo in a terminal, brings it into the states
// that the pictures show, and writes the terminal's screen as SVG, and the browser's page as PNG.
//
// scripts/screens builds hone, sets up the cluster, and runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// options are the program to run, and the folders for the pictures.
type options struct {
	hone, out, root, namespace string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("screens", flag.ContinueOnError)
	flags.StringVar(&o.hone, "hone", "", "the hone binary")
	flags.StringVar(&o.root, "root", ".", "the folder with Tiltfile.example and scripts/demo")
	flags.StringVar(&o.out, "out", "web/docs/screens", "the folder for the pictures")
	flags.StringVar(&o.namespace, "namespace", "", "the namespace to deploy to, which exists")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.hone == "" || o.namespace == "" {
		return errors.New("-hone and -namespace must be set")
	}
	// The pictures show its path, so that its name is not random.
	d := &demo{dir: "/tmp/shop"}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		return fmt.Errorf("make a folder for the demo, which must not exist: %w", err)
	}
	defer func() { _ = os.RemoveAll(d.dir) }()
	if err := d.unpack(o.root); err != nil {
		return fmt.Errorf("copy the demo: %w", err)
	}
	term, err := open(ctx, d.dir, o.hone, "up", "--port", "0", "--namespace", o.namespace)
	if err != nil {
		return err
	}
	defer term.close()
	var pictures []picture
	for _, s := range scenes {
		p, err := s.play(ctx, d, term)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		pictures = append(pictures, p)
		fmt.Println("played", s.name)
	}
	page, err := os.MkdirTemp("", "hone-page-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(page) }()
	if err := browse(ctx, o.hone, d.dir, page, "page-resources", "page-resource", "page-log", "page-graph", "page-time", "page-hone"); err != nil {
		return err
	}
	if err := d.wait(ctx, o.hone); err != nil {
		return err
	}
	if err := browse(ctx, o.hone, d.dir, page, "page-changes"); err != nil {
		return err
	}
	if err := term.quit(ctx); err != nil {
		return err
	}
	for i, s := range scenes { // all or none
		if err := private(pictures[i]); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	for i, s := range scenes {
		if err := os.WriteFile(filepath.Join(o.out, s.name+".svg"), []byte(pictures[i].svg("hone up")), 0o644); err != nil {
			return err
		}
	}
	files, err := os.ReadDir(page)
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(page, f.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(o.out, f.Name()), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// browse takes the named pictures of the session's web page: scripts/web has a program for that.
func browse(ctx context.Context, hone, dir, out string, pictures ...string) error {
	ask := exec.CommandContext(ctx, hone, "open", "--print")
	ask.Dir = dir
	address, err := ask.Output()
	if err != nil {
		return fmt.Errorf("ask for the address of the page: %w", err)
	}
	c := exec.CommandContext(ctx, "scripts/web", append([]string{"pictures", strings.TrimSpace(string(address)), out}, pictures...)...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("take pictures of the page: %w", err)
	}
	return nil
}
