package liveupdate

import (
	"context"
	"io"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// commander runs commands in one container and finds out reliably how they end. It is for use by one goroutine at a
// time.
type commander struct {
	pods PodExecer
	c    model.ContainerRef
	// heard attends the present step; nil if nothing does.
	heard *hearing
	// bare is set if the container has no shell.
	bare bool
}

// program is a command line with its streams.
type program struct {
	argv         []string
	stdout, said io.Writer // nil drops it
	// feed calls run, each time with fresh input; nil means no input.
	feed func(run func(stdin io.Reader) error) error
}

// run runs a program under a shell that reports how it ended, or, without a shell, with k8s.ExecRequest.Certain.
func (r *commander) run(ctx context.Context, p program) error {
	if !r.bare {
		said, err := r.script(ctx, program{argv: saying(itself, p.argv...), stdout: p.stdout, said: p.said, feed: p.feed})
		if said || !cannotStart(err) || ctx.Err() != nil {
			return err
		}
		r.bare = true
	}
	return p.fed(func(stdin io.Reader) error { return r.exec(ctx, p, stdin, p.stdout, true) })
}

// script runs a command line from saying, and returns whether it reported how it ended.
func (r *commander) script(ctx context.Context, p program) (said bool, err error) {
	err = p.fed(func(stdin io.Reader) error {
		e := &ending{out: p.stdout}
		err := e.verdict(r.exec(ctx, p, stdin, e, false))
		said = e.said
		return err
	})
	return said, err
}

func (p program) fed(run func(stdin io.Reader) error) error {
	if p.feed == nil {
		return run(nil)
	}
	return p.feed(run)
}

func (r *commander) exec(ctx context.Context, p program, stdin io.Reader, stdout io.Writer, certain bool) error {
	return r.pods.Exec(ctx, k8s.ExecRequest{
		Cluster: r.c.Cluster, Namespace: r.c.Namespace, Pod: r.c.Pod, Container: r.c.Name, Argv: p.argv,
		Stdin: r.heard.through(stdin), Stdout: stdout, Stderr: p.said, Certain: certain,
	})
}
