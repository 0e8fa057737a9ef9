package process

import (
	"fmt"
	"os/exec"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
)

const (
	// leftoverGrace is the time between SIGTERM and SIGKILL for processes left by a command that ended on its own.
	leftoverGrace = time.Second
	// killWait bounds the wait for the end of processes after SIGKILL.
	killWait = 5 * time.Second
	// The shortest and the longest pause between two checks of a group that is ending.
	firstLook = time.Millisecond
	lastLook  = 50 * time.Millisecond
)

// running is a command that has been started. Only the goroutine that started it may call its methods.
type running struct {
	command Command
	cmd     *exec.Cmd
	group   *group
	files   *files
	// exited is closed when the process itself is gone; cmd.ProcessState may be read from then on.
	exited chan struct{}
}

// start starts the command in a new group.
func start(c Command) (*running, error) {
	cmd, err := c.prepare()
	if err != nil {
		return nil, err
	}
	files, err := connect(cmd, c)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", c.String(), err)
	}
	g, err := startGroup(cmd, c.Grace, c.mark)
	if err != nil {
		files.abandon()
		return nil, c.startProblem(err)
	}
	files.pump()
	r := &running{command: c, cmd: cmd, group: g, files: files, exited: make(chan struct{})}
	go func() {
		defer close(r.exited)
		_ = r.cmd.Wait() // the result is in ProcessState
	}()
	return r, nil
}

// exit returns how the process ended; valid once exited is closed.
func (r *running) exit() ExitError { return exitOf(r.cmd) }

// stop ends the group: SIGTERM, then SIGKILL after the grace. It returns when the process and its group are gone, or
// with an error if they survive SIGKILL. say, which may be nil, receives messages for the user.
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
	return problem.New(fmt.Sprintf("process %d (%s) does not end, not even after SIGKILL", r.cmd.Process.Pid, r.command.String()),
		fmt.Sprintf("It may run as another user, or wait for a device. Inspect it with:\nps -fg %d", r.cmd.Process.Pid))
}

// await returns true when the process and its group are gone, false if one of the timers fires first.
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

// finish stops the remaining processes of the group and waits for the output. It returns an error if they cannot be
// stopped, or if a writer of the output fails.
func (r *running) finish() error {
	if r.group.alive() {
		if err := r.stop(leftoverGrace, nil); err != nil {
			return err
		}
	}
	r.group.release()
	return r.files.finish()
}
