// Package harness drives the hone binary as a user would, in a project of its own: a folder, a namespace, state, ports
// and sessions. The benchmark and the fault injection use it.
//
// # Concurrency
//
// A Session owns one goroutine, which ends with its process. Everything else runs in the caller's goroutine.
package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/client/sessions"
)

// Project is a folder with a Tiltfile, a namespace for it, and hone's state for it.
type Project struct {
	// Hone is the hone binary.
	Hone string
	// Dir is the source tree, State is the folder for hone's state and its sockets.
	Dir, State, Namespace string
	// Kubeconfig is the kubeconfig file for hone; empty for the user's own.
	Kubeconfig string
	// Env is added to hone's environment.
	Env []string
}

// NewProject creates a project with the given files below dir, which it also creates.
func NewProject(hone, dir, namespace string, files map[string]string) (*Project, error) {
	p := &Project{Hone: hone, Dir: filepath.Join(dir, "src"), State: filepath.Join(dir, "state"), Namespace: namespace}
	for name, text := range files {
		if err := p.Write(name, text); err != nil {
			return nil, err
		}
	}
	return p, os.MkdirAll(p.State, 0o700)
}

// Write replaces a file the way editors do: a new one, renamed over the old.
func (p *Project) Write(name, text string) error { return Write(filepath.Join(p.Dir, name), text) }

// Write replaces a file the way editors do: a new one, renamed over the old. Shell scripts become executable.
func Write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if strings.HasSuffix(path, ".sh") {
		mode = 0o755
	}
	if err := os.WriteFile(path+"~", []byte(text), mode); err != nil {
		return err
	}
	return os.Rename(path+"~", path)
}

// Registry returns the registry of the project's sessions.
func (p *Project) Registry() *sessions.Registry { return sessions.New(sessions.Dir(p.State, p.State)) }

// Command prepares a run of hone in the project. It receives SIGTERM when the caller dies.
func (p *Project) Command(args ...string) *exec.Cmd {
	c := exec.Command(p.Hone, args...)
	c.Dir = p.Dir
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+p.State, "XDG_RUNTIME_DIR="+p.State, "HONE_SESSION=", "NO_COLOR=1", "TILT_PORT=0")
	if p.Kubeconfig != "" {
		c.Env = append(c.Env, "KUBECONFIG="+p.Kubeconfig)
	}
	c.Env = append(c.Env, p.Env...)
	c.SysProcAttr = endWithParent()
	return c
}

// Use is the resources that a process has used.
type Use struct {
	Wall, CPU time.Duration
	// RSS is its peak memory in bytes; zero if the system does not report it.
	RSS int64
}

// Run runs hone until it ends.
func (p *Project) Run(ctx context.Context, args ...string) (Use, error) {
	_, u, err := p.Output(ctx, args...)
	return u, err
}

// Output runs hone until it ends, and returns its output. When ctx is done, hone is interrupted.
func (p *Project) Output(ctx context.Context, args ...string) (string, Use, error) {
	return Finish(ctx, p.Command(args...))
}

// killDelay is the time that a command may take to end after it was interrupted.
const killDelay = 30 * time.Second

// Finish runs a prepared command until it ends, and returns its output. When ctx is done, the command is interrupted.
func Finish(ctx context.Context, c *exec.Cmd) (string, Use, error) {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.WaitDelay = time.Second // a grandchild may hold the pipe open
	start := time.Now()
	if err := c.Start(); err != nil {
		return "", Use{}, err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(killDelay):
			_ = c.Process.Kill()
		}
	})
	err := c.Wait()
	close(ended)
	stop()
	u := Use{Wall: time.Since(start), CPU: c.ProcessState.UserTime() + c.ProcessState.SystemTime(), RSS: maxRSS(c.ProcessState)}
	if err != nil {
		return out.String(), u, fmt.Errorf("%s %s: %w\n%s", filepath.Base(c.Args[0]), strings.Join(c.Args[1:], " "), err, &out)
	}
	return out.String(), u, nil
}
