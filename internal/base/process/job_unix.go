//go:build unix

package process

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Job passes on the requests of job control to this process while its screen has the terminal. The zero value cannot be used.
//
// A program that gets the terminal is in the process group of this process: while it has the terminal, Job must be left to the
// system (Free), which stops and continues both.
type Job struct {
	rest, back chan os.Signal
}

// NewJob returns the job of this process, which is left to the system until Hold.
func NewJob() *Job {
	return &Job{make(chan os.Signal, 1), make(chan os.Signal, 1)}
}

// Hold begins to report the requests of job control, instead of stopping at once.
func (j *Job) Hold() {
	catchStops(j.rest)
	signal.Notify(j.back, unix.SIGCONT)
}

// Free leaves job control to the system again. Earlier requests are dropped.
func (j *Job) Free() {
	leaveStops(j.rest)
	signal.Stop(j.back)
	for _, c := range []chan os.Signal{j.rest, j.back} {
		select {
		case <-c:
		default:
		}
	}
}

// Rest delivers a value when this process is asked to stop (SIGTSTP): it should restore the terminal, and then Free the job and
// Suspend. A screen reads the key Ctrl-Z itself, so this comes from kill, or from a program that manages others. Outside of Linux
// nothing is delivered: the process stops at once, and Back follows when it continues.
func (j *Job) Rest() <-chan os.Signal { return j.rest }

// Back delivers a value when this process continues after it was stopped at once (SIGSTOP): its terminal may be in any state.
func (j *Job) Back() <-chan os.Signal { return j.back }
