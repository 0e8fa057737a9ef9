//go:build unix

package process

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test binary act as hone: as its guard, and as a process that serves a command until it is killed.
func TestMain(m *testing.M) {
	if GuardMain(os.Args[1:]) {
		return
	}
	if script := os.Getenv("PROCESS_TEST_SERVE"); script != "" {
		serveUntilKilled(script)
		return
	}
	goleak.VerifyTestMain(m)
}

// serveUntilKilled acts as a session with one server. It prints "guard PID" once its guard is in the state that the
// environment requests: as usual, dead and not replaced (unguarded), without the announced groups (unannounced), or the
// successor of a killed one (replaced).
func serveUntilKilled(script string) {
	mode := os.Getenv("PROCESS_TEST_GUARD")
	var replaced sync.WaitGroup
	err := Serve(context.Background(), Command{
		Cmd: sh(script), Stdout: os.Stdout, Stderr: os.Stderr, Grace: 200 * time.Millisecond,
	}, Events{Started: func(Started) {
		theGuard.mu.Lock()
		defer theGuard.mu.Unlock()
		pid := theGuard.cmd.Process.Pid
		switch {
		case mode == "unguarded":
			theGuard.endVigil(theGuard.vigil)
			theGuard.bury()
		case mode == "unannounced":
			for pgid := range theGuard.groups {
				_ = theGuard.send(removeLine(pgid)) // the test notices if the guard still knows the group
			}
		case strings.Contains(mode, "replaced"):
			_ = syscall.Kill(pid, syscall.SIGKILL) // the test notices if the guard still runs
			replaced.Go(func() { fmt.Println("guard", awaitSuccessor(pid)) })
			return
		}
		fmt.Println("guard", pid)
	}})
	replaced.Wait()
	fmt.Fprintln(os.Stderr, "serve ended:", err)
	os.Exit(3)
}

// awaitSuccessor returns the number of the guard process that comes after the given one.
func awaitSuccessor(before int) int {
	for {
		theGuard.mu.Lock()
		cmd := theGuard.cmd
		theGuard.mu.Unlock()
		if cmd != nil && cmd.Process.Pid != before {
			return cmd.Process.Pid
		}
		time.Sleep(time.Millisecond)
	}
}
