//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

// knock is the pause between two requests to a program that is expected to restart.
const knock = 300 * time.Microsecond

// restartPause is the pause between saves that restart the process: one that follows sooner waits until the files have settled.
const restartPause = 250 * time.Millisecond

// restarts saves the file that a program reads at its start, and sends requests over the pod network until a process that has read
// it answers. bytesThere are the times that the file itself took.
func (l *live) restarts(ctx context.Context, c *container, n int, pause time.Duration) (served, bytesThere times, lost int, err error) {
	client := knocking()
	for i := range n {
		if err := harness.Sleep(ctx, pause); err != nil {
			return nil, nil, 0, err
		}
		f := file{"server/app/text", "app/text", l.text(1024)}
		a := expect([]file{f}, 1)
		l.watch(a.saw)
		if err := l.save(i, f); err != nil {
			return nil, nil, 0, err
		}
		saved := time.Now()
		if err := answers(ctx, client, fmt.Sprintf("http://%s:8080/", c.ip), f.content); err != nil {
			if ctx.Err() != nil {
				return nil, nil, 0, err
			}
			lost++
			if lost > 2 {
				break
			}
			continue
		}
		served = append(served, time.Since(saved))
		select {
		case <-a.done:
		case <-time.After(time.Second): // it has been read, so it is there, and only its notice was lost
			continue
		}
		bytesThere = append(bytesThere, max(0, a.at[0].Sub(saved)))
	}
	return served, bytesThere, lost, nil
}

// rebuilds saves programs in turn, and sends requests until the new one answers. The first two saves are not counted: the container
// has not received such programs before.
func (l *live) rebuilds(ctx context.Context, c *container, programs [][]byte, n int, pause time.Duration) (took times, lost int, err error) {
	client := knocking()
	path := filepath.Join(l.project.Dir, "server/app/server")
	text, err := os.ReadFile(filepath.Join(l.project.Dir, "server/app/text"))
	if err != nil {
		return nil, 0, err
	}
	for i := range n + 2 {
		if err := harness.Sleep(ctx, pause); err != nil {
			return nil, 0, err
		}
		build := i % len(programs)
		if err := os.WriteFile(path+"~", programs[build], 0o755); err != nil {
			return nil, 0, err
		}
		if err := os.Rename(path+"~", path); err != nil {
			return nil, 0, err
		}
		saved := time.Now()
		if err := answers(ctx, client, fmt.Sprintf("http://%s:8080/", c.ip), fmt.Appendf(nil, "build %d %s", build, text)); err != nil {
			if ctx.Err() != nil {
				return nil, 0, err
			}
			if lost++; lost > 2 {
				break
			}
			continue
		}
		if i >= 2 {
			took = append(took, time.Since(saved))
		}
	}
	if err := copyProgram(l.options.server, path); err != nil {
		return nil, 0, err
	}
	return took, lost, answers(ctx, client, fmt.Sprintf("http://%s:8080/", c.ip), text) // the other cases use it
}

// starts starts the program alone, without a container and without hone, and returns how long it took to answer: the
// minimum of a restart.
func (l *live) starts(ctx context.Context, n int, pause time.Duration) (took times, err error) {
	dir, err := os.MkdirTemp("", "hone-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	text, client := l.text(1024), knocking()
	path := filepath.Join(dir, "text")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	for range n {
		if err := harness.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		program := exec.CommandContext(ctx, l.options.server, address, path)
		program.Stderr = os.Stderr
		began := time.Now()
		if err := program.Start(); err != nil {
			return nil, err
		}
		err := answers(ctx, client, "http://"+address+"/", text)
		took = append(took, time.Since(began))
		_ = program.Process.Kill()
		_ = program.Wait()
		if err != nil {
			return nil, err
		}
	}
	return took, nil
}

// freeAddress returns a free address of this machine.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// knocking returns a client that opens a connection for each request, since the process behind the address changes.
func knocking() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
}

// answers sends requests until the answer is the given one.
func answers(ctx context.Context, client *http.Client, url string, want []byte) error {
	for end := time.Now().Add(arrivalLimit); time.Now().Before(end); {
		if got, err := get(ctx, client, url); err == nil && bytes.Equal(got, want) {
			return nil
		}
		if err := harness.Sleep(ctx, knock); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s did not answer with what was saved", url)
}

func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
