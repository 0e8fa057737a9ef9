//go:build linux

package main

import (
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// grace is the time between SIGTERM and SIGKILL for a process that is to be started anew; tests shorten it.
var grace = 10 * time.Second

// supervisor is the state of "run". It belongs to one goroutine.
type supervisor struct {
	program string
	argv    []string
	// group is whether the command leads a process group of its own. At a terminal it does not, since only the group in
	// the foreground may read from it.
	group bool
	child int
	// again says that the child is ending because it is to be started anew; kill is when patience with it ends.
	again bool
	kill  <-chan time.Time
}

// run starts the command and serves it until it ends by itself; the result is the exit code.
func run(file string, argv []string) int {
	runtime.LockOSThread() // the kernel takes the end of the thread that starts the command for ours
	s := &supervisor{argv: argv, group: !isTerminal(0)}
	var code int
	if s.program, code = find(argv[0]); code != 0 {
		return code
	}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	touched := watch(file)
	if code := s.start(); code != 0 {
		return code
	}
	for {
		select {
		case <-touched:
			if !s.again {
				s.again, s.kill = true, time.After(grace)
				s.signalAll(syscall.SIGTERM)
			}
		case <-s.kill:
			s.signalAll(syscall.SIGKILL)
		case sig := <-signals:
			if sig != syscall.SIGCHLD {
				s.pass(sig.(syscall.Signal))
				continue
			}
			status, ended := s.reap()
			switch {
			case ended && !s.again:
				return exitCode(status)
			case ended:
				// What the old process left in its group must not stand in the way of the new one.
				s.signalAll(syscall.SIGKILL)
				s.again, s.kill = false, nil
				if code := s.start(); code != 0 {
					return code
				}
			}
		}
	}
}

func (s *supervisor) start() int {
	pid, err := syscall.ForkExec(s.program, s.argv, &syscall.ProcAttr{
		Env: syscall.Environ(), Files: []uintptr{0, 1, 2},
		// Where this is not the first process of a container, the command must not outlive it.
		Sys: &syscall.SysProcAttr{Setpgid: s.group, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		say("cannot run " + s.program + ": " + err.Error())
		return exitNoRun
	}
	s.child = pid
	return 0
}

// pass gives a signal to the process. A request to end also overrides a restart that is under way.
func (s *supervisor) pass(sig syscall.Signal) {
	switch sig {
	case syscall.SIGURG, syscall.SIGPIPE: // of the runtime of Go, and of our own output
		return
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT:
		s.again, s.kill = false, nil
	}
	_ = syscall.Kill(s.child, sig)
}

// signalAll signals the process with what it started.
func (s *supervisor) signalAll(sig syscall.Signal) {
	if s.group {
		_ = syscall.Kill(-s.child, sig)
		return
	}
	_ = syscall.Kill(s.child, sig)
}

// reap takes note of every process that has ended, and reports whether the command's is among them.
func (s *supervisor) reap() (status syscall.WaitStatus, ended bool) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || pid <= 0:
			return status, ended
		case pid == s.child && (ws.Exited() || ws.Signaled()):
			status, ended = ws, true
		}
	}
}

func exitCode(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return exitSignal + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// find looks a program up in PATH, as execvp does.
func find(name string) (program string, code int) {
	if strings.Contains(name, "/") {
		return name, 0
	}
	path, ok := syscall.Getenv("PATH")
	if !ok {
		path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	for _, dir := range strings.Split(path, ":") {
		if dir == "" {
			dir = "."
		}
		program := dir + "/" + name
		if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return program, 0
		}
	}
	say(name + ": not found in PATH")
	return "", exitNotFound
}

func isTerminal(fd uintptr) bool {
	var group int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return errno == 0
}
