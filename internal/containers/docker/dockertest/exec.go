package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// Exec implements Client. The fake's programs write to stdout only.
func (f *Fake) Exec(ctx context.Context, containerID string, argv []string, stdin io.Reader, stdout, _ io.Writer) error {
	return f.ContainerExec(ctx, containerID, argv, stdin, stdout)
}

// ExecTerminal implements Client. The fake's terminal has no size; it turns each line end into CR LF, as a terminal does.
func (f *Fake) ExecTerminal(ctx context.Context, containerID string, argv []string, t docker.Terminal) error {
	return f.ContainerExec(ctx, containerID, argv, t.In, lineEnds{t.Out})
}

// lineEnds writes the line ends of a terminal.
type lineEnds struct{ io.Writer }

// Write implements io.Writer.
func (w lineEnds) Write(p []byte) (int, error) {
	if _, err := w.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ContainerExec implements Client.
func (f *Fake) ContainerExec(ctx context.Context, containerID string, argv []string, stdin io.Reader, out io.Writer) error {
	if err := f.begin(ctx, "ContainerExec"); err != nil {
		return err
	}
	c, err := f.container(containerID)
	if err != nil {
		return fmt.Errorf("run %s in container %s: %w", strings.Join(argv, " "), containerID, err)
	}
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	if out == nil {
		out = io.Discard
	}
	run := c.Exec
	if run == nil {
		run = f.shell(c)
	}
	code := run(ctx, argv, stdin, out)
	if closer, ok := stdin.(io.Closer); ok {
		_ = closer.Close() // as promised by ContainerExec
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if code != 0 {
		return &docker.ExitError{Code: code}
	}
	return nil
}

// shell runs the few commands of a container without Exec.
func (f *Fake) shell(c *Container) func(context.Context, []string, io.Reader, io.Writer) int {
	return func(_ context.Context, argv []string, stdin io.Reader, out io.Writer) int {
		switch {
		case argv[0] == "echo":
			fmt.Fprintln(out, strings.Join(argv[1:], " "))
			return 0
		case argv[0] == "cat" && len(argv) == 1:
			_, err := io.Copy(out, stdin)
			return code(err == nil)
		case argv[0] == "cat":
			f.mu.Lock()
			text, ok := c.Files[clean(argv[1])]
			f.mu.Unlock()
			_, err := io.WriteString(out, text)
			return code(ok && err == nil)
		case argv[0] == "sh" && len(argv) == 3:
			return shellCode(argv[2])
		case argv[0] == "true" || argv[0] == "false":
			return shellCode(argv[0])
		}
		fmt.Fprintf(out, "%s: not found\n", argv[0])
		return 127
	}
}

func code(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

// shellCode returns the exit code of a script that fails on purpose, 0 for any other.
func shellCode(script string) int {
	if script == "false" {
		return 1
	}
	if text, ok := strings.CutPrefix(script, "exit "); ok {
		n, err := strconv.Atoi(text)
		if err == nil {
			return n
		}
	}
	return 0
}

// CopyTo implements Client.
func (f *Fake) CopyTo(ctx context.Context, containerID, dir string, archive io.Reader) error {
	if err := f.begin(ctx, "CopyTo"); err != nil {
		return err
	}
	c, err := f.container(containerID)
	if err != nil {
		return fmt.Errorf("copy files to %s in container %s: %w", dir, containerID, err)
	}
	r := tar.NewReader(archive)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("copy files to %s in container %s: %w", dir, containerID, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("copy files to %s in container %s: %w", dir, containerID, err)
		}
		f.mu.Lock()
		c.Files[clean(path.Join(dir, header.Name))] = string(data)
		c.Changed = append(c.Changed, clean(path.Join(dir, header.Name)))
		f.mu.Unlock()
	}
}

// Entry implements Client.
func (f *Fake) Entry(ctx context.Context, containerID, name string) (*tar.Header, error) {
	if err := f.begin(ctx, "Entry"); err != nil {
		return nil, err
	}
	c, err := f.container(containerID)
	if err != nil {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := c.Files[name]; ok {
		return &tar.Header{Name: path.Base(name), Typeflag: tar.TypeReg}, nil
	}
	for file := range c.Files {
		if strings.HasPrefix(file, name+"/") {
			return &tar.Header{Name: path.Base(name) + "/", Typeflag: tar.TypeDir}, nil
		}
	}
	return nil, nil
}
