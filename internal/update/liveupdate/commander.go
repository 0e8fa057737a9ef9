package liveupdate

import (
	"context"
	"io"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// commander runs commands in one container so that their end is certain. It is used by one goroutine at a time.
type commander struct {
	pods PodExecer
	c    model.ContainerRef
	// bare is set where there is no shell.
	bare bool
}

// program is a command line with its streams.
type program struct {
	argv         []string
	stdout, said io.Writer // nil drops it
	// feed calls run with fresh input each time that it is called; nil is no input.
	feed func(run func(stdin io.Reader) error) error
}

// run runs a program under a shell that says how it ended, and where there is none without, as k8s.ExecRequest.Certain.
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

// script runs a command line of saying, and tells whether that said how it ended.
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
		Namespace: r.c.Namespace, Pod: r.c.Pod, Container: r.c.Name, Argv: p.argv,
		Stdin: stdin, Stdout: stdout, Stderr: p.said, Certain: certain,
	})
}
