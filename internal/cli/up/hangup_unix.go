//go:build unix

package up

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// outlives is set where a process can outlive its terminal.
const outlives = true

const (
	// closing is the longest time between the signal that announces the loss of a terminal and the loss itself.
	closing = time.Second
	// closingCheck is the interval at which the terminal is checked.
	closingCheck = 20 * time.Millisecond
)

// terminalLost waits until the terminal of standard input is gone, and reports whether it is.
func terminalLost() bool {
	for range closing / closingCheck {
		if _, err := unix.IoctlGetInt(int(os.Stdin.Fd()), unix.TIOCGPGRP); err != nil {
			return true
		}
		time.Sleep(closingCheck)
	}
	return false
}

// redirect makes a file the standard output and the standard error of this process, whose standard input is empty from then
// on.
func redirect(out *os.File) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("leave the terminal: %w", err)
	}
	defer null.Close()
	err = unix.Dup2(int(null.Fd()), int(os.Stdin.Fd()))
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		err = errors.Join(err, unix.Dup2(int(out.Fd()), int(f.Fd())))
	}
	if err != nil {
		return fmt.Errorf("leave the terminal: %w", err)
	}
	return nil
}
