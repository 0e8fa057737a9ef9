//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Suspends reports whether a program can be suspended on this platform.
const Suspends = true

const (
	// wakerArg is the hidden argument that makes this program a waker. The number of a process group follows it.
	wakerArg = "__waker"
	// stopping bounds the time until a process that stops itself stands still.
	stopping = time.Second
	// noticing bounds the time until a shell notices that its job has stopped.
	noticing = 5 * time.Second
	// handoverCheck is the time between two checks of the group that has the terminal: nothing notifies of a change.
	handoverCheck = 20 * time.Millisecond
	// returnCheck is the same while the shell has the terminal.
	returnCheck = 200 * time.Millisecond
)

// Suspend gives the terminal of standard input back to the shell: it stops the process group of this process, as Ctrl-Z does
// in other programs, and returns when the group has the terminal again (fg), or with the cause of ctx. The caller has restored
// the terminal before.
//
// With running set, the process stands still only until the shell has taken the terminal. Then it runs on in the background,
// as bg would make it. The error is a problem if no shell takes the terminal, and any other error means that it is gone.
func Suspend(ctx context.Context, running bool) error {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	group, tty := unix.Getpgrp(), int(os.Stdin.Fd())
	if running {
		waker, err := startWaker(group)
		if err != nil {
			return err
		}
		defer func() {
			_ = waker.Process.Kill()
			_ = waker.Wait()
		}()
	}
	if err := unix.Kill(0, unix.SIGTSTP); err != nil {
		return fmt.Errorf("stop for the shell: %w", err)
	}
	if !await(continued) {
		return problem.New("there is no shell to go back to: this terminal was opened for this program alone", "another terminal has one")
	}
	tick := time.NewTicker(returnCheck)
	defer tick.Stop()
	for {
		switch has, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP); {
		case err != nil:
			return fmt.Errorf("wait for the terminal: %w", err)
		case has == group:
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-continued:
		case <-tick.C:
		}
	}
}

// await waits for the end of a stop, and reports whether there was one. A group without a shell does not stop.
func await(continued <-chan os.Signal) bool {
	for range 2 { // the time passes during the stop too
		select {
		case <-continued:
			return true
		case <-time.After(stopping):
		}
	}
	return false
}

// startWaker starts a process outside of the group that continues the group.
func startWaker(group int) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	c := exec.Command(self, wakerArg, strconv.Itoa(group))
	c.Stdin = os.Stdin
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start a waker: %w", err)
	}
	return c, nil
}

// runWaker continues a process group as soon as a shell has taken the terminal from it. If the group continued earlier, the
// shell would not notice that it has stopped.
func runWaker(group int) {
	for range noticing / handoverCheck {
		if has, err := unix.IoctlGetInt(int(os.Stdin.Fd()), unix.TIOCGPGRP); err != nil || has != group {
			break
		}
		time.Sleep(handoverCheck)
	}
	if err := unix.Kill(-group, unix.SIGCONT); err != nil && !errors.Is(err, unix.ESRCH) {
		os.Exit(1)
	}
}

// wakerMain runs this process as a waker if its arguments request it.
func wakerMain(args []string) (handled bool) {
	n := len(args)
	if n != 2 && n != 3 || args[n-2] != wakerArg {
		return false
	}
	if group, err := strconv.Atoi(args[n-1]); err == nil && group > 1 {
		runWaker(group)
	}
	return true
}
