//go:build linux

// Command supervisor runs the process of a container and starts it anew when it is told to. It is what
// docker_build_with_restart puts into images: static, without needs, and the container's first process.
//
//	supervisor run FILE -- COMMAND [ARGUMENT…]
//	supervisor restart FILE
//
// "run" starts the command, and starts it anew whenever FILE is written to or touched. It passes signals on, reaps what
// its descendants leave behind, and ends as the command ends: with its exit code, or 128 and the number of the signal
// that killed it. "restart" touches FILE. It exists so that the image needs no shell.
package main

import (
	"os"
	"syscall"
)

// Exit codes are those of shells.
const (
	exitUsage    = 2
	exitFailed   = 1
	exitNoRun    = 126
	exitNotFound = 127
	exitSignal   = 128
)

func main() {
	args := os.Args[1:]
	switch {
	case len(args) >= 4 && args[0] == "run" && args[2] == "--":
		os.Exit(run(args[1], args[3:]))
	case len(args) == 2 && args[0] == "restart":
		os.Exit(restart(args[1]))
	}
	say("usage: supervisor run FILE -- COMMAND [ARGUMENT…] | supervisor restart FILE")
	os.Exit(exitUsage)
}

// restart writes to the file, which wakes the supervisor that watches it.
func restart(file string) int {
	fd, err := syscall.Open(file, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC|syscall.O_CLOEXEC, 0o666)
	if err == nil {
		_, err = syscall.Write(fd, []byte("restart\n"))
		_ = syscall.Close(fd)
	}
	if err != nil {
		say("cannot write " + file + ": " + err.Error() + "; choose a file that the container's user may write, with restart_file=")
		return exitFailed
	}
	return 0
}

// say writes a line where the container's log takes it up.
func say(text string) { _, _ = os.Stderr.WriteString("hone: " + text + "\n") }
