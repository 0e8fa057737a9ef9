package editor

import (
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// lastWords bounds the time that a program may take to end after its terminal was taken away.
	lastWords = 2 * time.Second
	// echo is the time after the end of a program in which an interrupt still counts as meant for it.
	echo = 250 * time.Millisecond
)

// running counts the programs that run; ended is the time at which the last one ended, in nanoseconds.
var running, ended atomic.Int64

// TakesInterrupts reports whether an interrupt is meant for a program that this package runs, or that has just ended because
// of it. The terminal sends Ctrl-C to the program and to this process at once.
func TakesInterrupts() bool {
	return running.Load() > 0 || time.Since(time.Unix(0, ended.Load())) < echo
}

// Run runs a program that has the terminal to itself: until it has ended, interrupts are for it. When the context of the command
// ends, the program is told that it has lost its terminal, and gets a moment to end, or the time of WaitDelay.
func Run(c *exec.Cmd) error {
	running.Add(1)
	defer func() {
		ended.Store(time.Now().UnixNano())
		running.Add(-1)
	}()
	// Ctrl-\ is for the program too. It would end this process, if nothing received it.
	quits := make(chan os.Signal, 1)
	signal.Notify(quits, syscall.SIGQUIT)
	defer signal.Stop(quits)
	// Editors answer the loss of their terminal by saving their texts.
	c.Cancel = func() error {
		if c.Process.Signal(syscall.SIGHUP) != nil {
			return c.Process.Kill() // Windows has no such signal
		}
		return nil
	}
	if c.WaitDelay == 0 {
		c.WaitDelay = lastWords
	}
	return c.Run()
}
