package process

import (
	"fmt"
	"os/exec"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
)

const (
	// leftoverGrace is between SIGTERM and SIGKILL for what a command that ended by itself left behind.
	leftoverGrace = time.Second
	// killWait bounds the wait for processes that have got SIGKILL.
	killWait = 5 * time.Second
	// The group is looked at this often while it empties, more and more rarely.
	firstLook = time.Millisecond
	lastLook  = 50 * time.Millisecond
)

// running is a command that has been started. Its methods are for the one goroutine that started it.
type running struct {
	command Command
	cmd     *exec.Cmd
	group   *group
	files   *files
	// exited is closed when the process itself is gone; cmd.ProcessState may be read from then on.
	exited chan struct{}
}

// start starts the command in a group of its own.
func start(c Command) (*running, error) {
	cmd, err := c.prepare()
	if err != nil {
		return nil, err
	}
	files, err := connect(cmd, c)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", c.String(), err)
	}
	g, err := startGroup(cmd, c.Grace)
	if err != nil {
		files.abandon()
		return nil, c.startProblem(err)
	}
	files.pump()
	r := &running{command: c, cmd: cmd, group: g, files: files, exited: make(chan struct{})}
	go func() {
		defer close(r.exited)
		_ = r.cmd.Wait() // how it ended is in ProcessState
	}()
	return r, nil
}

// exit says how the process ended; valid once exited is closed.
func (r *running) exit() ExitError { return exitOf(r.cmd) }

// stop ends the group: SIGTERM, then SIGKILL after the grace. It returns when the process and its group are gone, and
// an error if they are not, even so. say, which may be nil, gets lines for people.
func (r *running) stop(grace time.Duration, say func(string)) error {
	r.group.terminate()
	begin := time.Now()
	kill := time.NewTimer(grace)
	defer kill.Stop()
	due := patience
	for {
		var talk <-chan time.Time
		if say != nil && len(due) > 0 && due[0] < grace {
			talk = time.After(time.Until(begin.Add(due[0])))
		}
		if r.await(kill.C, talk) {
			return nil
		}
		if talk == nil || time.Since(begin) >= grace {
			break
		}
		say(impatient(r.command, due[0], grace))
		due = due[1:]
	}
	return r.kill()
}

// kill sends SIGKILL and waits.
func (r *running) kill() error {
	r.group.kill()
	limit := time.NewTimer(killWait)
	defer limit.Stop()
	if r.await(limit.C, nil) {
		return nil
	}
	r.group.release()
	r.files.abandon()
	return problem.New(fmt.Sprintf("process %d (%s) does not end, not even when killed", r.cmd.Process.Pid, r.command.String()),
		fmt.Sprintf("It may run as another user, or wait for a device. Look at it with:\nps -fg %d", r.cmd.Process.Pid))
}

// await returns true when the process and its group are gone, false when one of the timers fires before.
func (r *running) await(a, b <-chan time.Time) bool {
	exited := r.exited
	look := time.NewTimer(time.Hour)
	defer look.Stop()
	for pause := firstLook; ; {
		select {
		case <-exited:
			exited = nil
		case <-look.C:
		case <-a:
			return false
		case <-b:
			return false
		}
		if !r.group.alive() {
			return true
		}
		look.Reset(pause)
		pause = min(2*pause, lastLook)
	}
}

// finish stops what the ended process left behind in its group and waits for the output. The error is that of a writer
// of the output.
func (r *running) finish() error {
	if r.group.alive() {
		if err := r.stop(leftoverGrace, nil); err != nil {
			return err
		}
	}
	r.group.release()
	return r.files.finish()
}
