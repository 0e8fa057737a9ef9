//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/test/harness"
)

// saveBaselines are the baselines of an update in place: running "true" in the pod, and sending 1 KB to a process in the
// pod and back over an exec that stays open, which no mechanism can beat.
type saveBaselines struct{ exec, echo times }

// saveBaselines measures them in the running pod of a namespace.
func (c *cluster) saveBaselines(ctx context.Context, namespace string) (*saveBaselines, error) {
	pod, err := c.runningPod(ctx, namespace)
	if err != nil {
		return nil, err
	}
	return c.podBaselines(ctx, namespace, pod)
}

func (c *cluster) podBaselines(ctx context.Context, namespace, pod string) (b *saveBaselines, err error) {
	b = &saveBaselines{}
	b.exec, err = repeat(20, func() error {
		return c.Client.Exec(ctx, k8s.ExecRequest{Namespace: namespace, Pod: pod, Argv: []string{"true"}})
	})
	if err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	if b.echo, err = c.echo(ctx, namespace, pod, 1024, 200, 0); err != nil {
		return nil, fmt.Errorf("echo: %w", err)
	}
	return b, nil
}

// echo times a message of the given size through "cat" and back, with a pause before each round. It uses the same kind of
// connection as live updates.
func (c *cluster) echo(ctx context.Context, namespace, pod string, size, rounds int, pause time.Duration) (took times, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := c.Client.Exec(ctx, k8s.ExecRequest{Namespace: namespace, Pod: pod, Argv: []string{"cat"}, Stdin: in, Stdout: out, Quick: true})
		_ = out.CloseWithError(err)
		_ = in.CloseWithError(err)
	}()
	defer func() {
		_ = send.Close()
		cancel()
		<-ended
	}()
	sent := bytes.Repeat([]byte("x"), size)
	got := make([]byte, len(sent))
	round := func() error {
		if _, err := send.Write(sent); err != nil {
			return err
		}
		_, err := io.ReadFull(receive, got)
		return err
	}
	if err := round(); err != nil { // sets up the connection
		return nil, err
	}
	for range rounds {
		if err := harness.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		one, err := repeat(1, round)
		if err != nil {
			return nil, err
		}
		took = append(took, one...)
	}
	return took, nil
}

func (b *saveBaselines) print(t *table) {
	t.section("save → bytes in the container: p50 / p90 / max (how many)",
		"from the return of the write until the container's file system shows the new bytes, watched through /proc/PID/root",
		fmt.Sprintf("baselines: exec of true %s (kubectl 97 ms); echo of 1 KB over an open exec %s", b.exec, b.echo),
		"other tools: measured earlier on a like machine")
}

func (b *saveBaselines) ratio(d time.Duration) string {
	return timesOver(d, b.exec.median()) + " exec, " + timesOver(d, b.echo.median()) + " echo"
}
