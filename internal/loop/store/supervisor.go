package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/retry"
)

const (
	backoffMin = 100 * time.Millisecond
	backoffMax = 30 * time.Second
	// stageGrace is the time that a subscriber may take to stop unless its contract claims more.
	stageGrace = 5 * time.Second
)

// Supervisor runs a store's loop and its subscribers.
type Supervisor struct {
	store *Store
	log   *slog.Logger
	tasks []*task
	grace time.Duration
}

type task struct {
	sub      Subscriber
	contract Contract
	runtime  *Runtime
	cancel   context.CancelFunc
	done     chan struct{}
	// succeeded is set by Runtime.Succeeded and read between runs.
	mu        sync.Mutex
	succeeded bool
}

// NewSupervisor verifies the contracts of the subscribers against each other and the store's schema. Its error lists
// every violation.
func NewSupervisor(s *Store, log *slog.Logger, subs ...Subscriber) (*Supervisor, error) {
	contracts := make([]Contract, len(subs))
	for i, sub := range subs {
		contracts[i] = sub.Contract()
	}
	if err := errors.Join(Verify(s.schema, contracts)...); err != nil {
		return nil, fmt.Errorf("verify subscribers: %w", err)
	}
	sup := &Supervisor{store: s, log: log, grace: stageGrace}
	for i, sub := range subs {
		t := &task{sub: sub, contract: contracts[i], runtime: NewRuntime(s, sub), done: make(chan struct{})}
		t.runtime.success = func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.succeeded = true
		}
		sup.tasks = append(sup.tasks, t)
	}
	return sup, nil
}

// Run starts the loop and every subscriber, and returns when ctx is done and all have stopped, stage by stage. Its error
// names the subscribers that did not stop within the grace period; their goroutines are lost. A panic in the loop ends the
// session early and is a *bug.Report.
func (s *Supervisor) Run(ctx context.Context) error {
	loopCtx, stopLoop := context.WithCancel(context.WithoutCancel(ctx))
	loopDone := make(chan struct{})
	var broken error // written before loopDone is closed
	go func() {
		defer close(loopDone)
		defer func() {
			if p := recover(); p != nil {
				s.store.close()
				broken = bug.Caught("the loop reduced an action", p)
			}
		}()
		s.store.Run(loopCtx)
	}()
	for _, t := range s.tasks {
		var taskCtx context.Context
		taskCtx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
		detach := t.runtime.Attach()
		go func() {
			defer close(t.done)
			defer detach()
			s.supervise(taskCtx, t)
		}()
	}
	select {
	case <-ctx.Done():
	case <-loopDone: // only after a panic: without the loop no action has an effect
	}
	err := s.stop()
	stopLoop()
	<-loopDone
	return errors.Join(broken, err)
}

func (s *Supervisor) stop() error {
	var stuck []string
	for stage := StageInput; stage <= StageView; stage++ {
		for _, t := range s.tasks {
			if t.contract.Stage == stage {
				t.cancel()
			}
		}
		asked := time.Now()
		for _, t := range s.tasks {
			if t.contract.Stage == stage && !t.endsBy(asked.Add(s.graceOf(t))) {
				stuck = append(stuck, fmt.Sprintf("%s (%s)", t.contract.Name, s.graceOf(t)))
			}
		}
	}
	if len(stuck) > 0 {
		return fmt.Errorf("stop: these subscribers did not stop in time: %s", strings.Join(stuck, ", "))
	}
	return nil
}

// graceOf returns how long a subscriber may take to stop.
func (s *Supervisor) graceOf(t *task) time.Duration { return max(s.grace, t.contract.Grace) }

// endsBy waits for the subscriber to end, until the given time.
func (t *task) endsBy(limit time.Time) bool {
	timer := time.NewTimer(time.Until(limit))
	defer timer.Stop()
	select {
	case <-t.done:
		return true
	case <-timer.C:
	}
	select {
	case <-t.done: // both were ready
		return true
	default:
		return false
	}
}

// supervise runs one subscriber until it is done or ctx is, with pauses that double between failures.
func (s *Supervisor) supervise(ctx context.Context, t *task) {
	crashes := 0
	pauses := retry.Backoff{First: backoffMin, Most: backoffMax, Jitter: 0.25}
	for {
		s.report(SubscriberReported{Name: t.contract.Name, State: SubscriberRunning, Crashes: crashes})
		err := s.runOnce(ctx, t)
		if ctx.Err() != nil || err == nil {
			s.report(SubscriberReported{Name: t.contract.Name, State: SubscriberDone, Crashes: crashes})
			return
		}
		crashes++
		t.runtime.stats.crashed(err, time.Now())
		t.mu.Lock()
		if t.succeeded {
			t.succeeded = false
			pauses.Reset()
		}
		t.mu.Unlock()
		wait := pauses.Next()
		s.log.Error("subscriber failed", "subscriber", t.contract.Name, "error", err, "retry_in", wait)
		s.report(SubscriberReported{Name: t.contract.Name, State: SubscriberBackingOff, Crashes: crashes,
			Err: err.Error(), RetryAt: time.Now().Add(wait)})
		retry.Sleep(ctx, wait)
		t.runtime.box.wake()
	}
}

// report dispatches r only if the schema accepts it, so that small schemas in tests need no such table.
func (s *Supervisor) report(r SubscriberReported) {
	if s.store.accepts(r) {
		s.store.Dispatch(r)
	}
}

func (s *Supervisor) runOnce(ctx context.Context, t *task) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		bug.Caught("run "+t.contract.Name, p)
		if e, ok := p.(*UndeclaredError); ok {
			err = e
			return
		}
		err = fmt.Errorf("panic: %v", p)
	}()
	if err := fault(t.contract.Name); err != nil {
		return err
	}
	return t.sub.Run(ctx, t.runtime)
}
