package screen

import (
	"context"
	"sync"
)

// mostJobs bounds the jobs that run at once.
const mostJobs = 4

// jobs runs work that takes longer than an instant, each job on a goroutine of its own, and passes the results to the pump.
type jobs struct {
	ctx     context.Context
	free    chan struct{}
	results chan func()
	work    sync.WaitGroup
}

func newJobs(ctx context.Context) *jobs {
	return &jobs{ctx: ctx, free: make(chan struct{}, mostJobs), results: make(chan func())}
}

// start runs a job and, when it has ended, the function that it returned, on the goroutine that draws. It reports whether the job was
// started: it is not while too many run.
func (j *jobs) start(u *ui, do func(ctx context.Context) (then func())) bool {
	select {
	case j.free <- struct{}{}:
	default:
		return false
	}
	j.work.Go(func() {
		defer u.guard()
		defer func() { <-j.free }()
		then := do(j.ctx)
		if then == nil {
			return
		}
		select {
		case j.results <- then:
		case <-j.ctx.Done():
		}
	})
	return true
}

// job runs something that takes longer than an instant.
func (u *ui) job(do func(ctx context.Context) (then func())) {
	if !u.jobs.start(u, do) {
		u.say("busy: try again in a moment")
	}
}
