//go:build unix

package process

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand for hone: as its guard, and as a process that serves a command until it is
// killed.
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

// serveUntilKilled plays a session with one server. The environment can
// make the guard die beforehand, or forget what it was told.
func serveUntilKilled(script string) {
	err := Serve(context.Background(), Command{
		Cmd: sh(script), Stdout: os.Stdout, Stderr: os.Stderr, Grace: 200 * time.Millisecond,
	}, Events{Started: func(Started) {
		theGuard.mu.Lock()
		defer theGuard.mu.Unlock()
		switch {
		case os.Getenv("PROCESS_TEST_UNGUARDED") != "":
			theGuard.bury()
			fmt.Println("changed")
		case os.Getenv("PROCESS_TEST_UNANNOUNCED") != "":
			for pgid := range theGuard.groups {
				theGuard.send(removeLine(pgid))
			}
			fmt.Println("changed")
		}
	}})
	fmt.Fprintln(os.Stderr, "serve ended:", err)
	os.Exit(3)
}
