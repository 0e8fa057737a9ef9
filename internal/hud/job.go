package hud

import (
	"context"

	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/internal/hud/settings"
)

// jobControl passes requests of job control on to the screen of this process. It owns one goroutine, from hold to free. A nil one
// leaves all to the system.
type jobControl struct {
	job    *process.Job
	asked  chan screen.JobControl
	cancel context.CancelFunc
	ended  chan struct{}
}

// newJobControl returns nil for a screen that is not in the terminal of this process, or cannot be suspended.
func newJobControl(given screen.Terminal, suspend func(context.Context) error) *jobControl {
	if given != nil || suspend == nil {
		return nil
	}
	return &jobControl{job: process.NewJob(), asked: make(chan screen.JobControl, 1)}
}

// hold begins to pass requests on.
func (j *jobControl) hold() {
	if j == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	j.cancel, j.ended = cancel, make(chan struct{})
	j.job.Hold()
	go func() {
		defer close(j.ended)
		for {
			var c screen.JobControl
			select {
			case <-ctx.Done():
				return
			case <-j.job.Rest():
				c = screen.Rest
			case <-j.job.Back():
				c = screen.Back
			}
			offer(j.asked, c)
		}
	}()
}

// free leaves job control to the system, and drops requests that were not carried out.
func (j *jobControl) free() {
	if j == nil {
		return
	}
	j.job.Free()
	j.cancel()
	<-j.ended
	select {
	case <-j.asked:
	default:
	}
}

// asks delivers the requests.
func (j *jobControl) asks() <-chan screen.JobControl {
	if j == nil {
		return nil
	}
	return j.asked
}

// offer puts a value into a slot, unless the slot is full.
func offer(slot chan screen.JobControl, c screen.JobControl) {
	select {
	case slot <- c:
	default:
	}
}

// suspend returns a function that gives the terminal to the user's shell for a while; nil if it cannot be given.
func (j *jobControl) suspend(give func(context.Context) error) func(context.Context) error {
	if j == nil || give == nil {
		return give
	}
	return func(ctx context.Context) error {
		j.free()
		defer j.hold()
		return give(ctx)
	}
}

// programs returns the same programs, each with job control while it has the terminal.
func (j *jobControl) programs(p screen.Programs) screen.Programs {
	edit, page, run, shell := p.Edit, p.Page, p.Run, p.Shell
	p.Edit = func(ctx context.Context, path string, line int) error {
		j.free()
		defer j.hold()
		return edit(ctx, path, line)
	}
	p.Page = func(ctx context.Context, path string) error {
		j.free()
		defer j.hold()
		return page(ctx, path)
	}
	p.Run = func(ctx context.Context, c settings.Command, env []string) (string, error) {
		if c.Terminal {
			j.free()
			defer j.hold()
		}
		return run(ctx, c, env)
	}
	if shell != nil {
		p.Shell = func(ctx context.Context, resource, pod, container string) error {
			j.free()
			defer j.hold()
			return shell(ctx, resource, pod, container)
		}
	}
	return p
}
