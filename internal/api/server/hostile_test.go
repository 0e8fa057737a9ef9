//go:build unix

package server

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/test/attackers"
)

// TestHostile attacks a server whose loop is busy, while its owner uses it.
func TestHostile(t *testing.T) {
	for _, a := range attackers.Attacks {
		t.Run(a.Name, func(t *testing.T) {
			f := serveLive(t)
			f.declare(20)
			f.talks()
			f.busy()
			s := attackers.Target{Address: f.tcp, Token: token, Secret: "/src/Tiltfile", Resource: "r0001"}
			if a.Once != nil {
				if err := a.Once(t.Context(), s); err != nil {
					t.Error(err)
				}
			} else {
				if a.Name == "idle connections" {
					a.Hold = attackers.IdleConnections(mostIdle(t))
				}
				release, err := a.Hold(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				defer release()
				f.talks()
				f.changes()
				f.bounded()
			}
			f.alive()
			select {
			case <-f.stopped:
				t.Error("the session was stopped")
			default:
			}
		})
	}
}

// talks writes enough logs to fill the buffers of the clients that follow them.
func (f *live) talks() {
	l := f.logs.Logger("r0001", "span", "build")
	for range 20000 {
		l.Write(1, strings.Repeat("a line that nobody reads ", 10)+"\n")
	}
}

// changes changes objects often enough to fill the buffers of the clients that watch them.
func (f *live) changes() {
	before := f.Store.Loop().Batches
	wake, stop := f.Store.Watch()
	defer stop()
	for i := range 500 { // one by one, so that the test does not make long batches
		at := f.Store.Dispatch(statetest.Loaded(statetest.K8s(fmt.Sprintf("r%d", i%7)), statetest.K8s("r0001")))
		for f.Store.Snapshot().At.Before(at) {
			<-wake
		}
	}
	f.Until("the loop keeps running", func(store.View) bool { return f.Store.Loop().Batches > before })
}

// spareFiles is the number of files that a test and its server have open in addition to connections.
const spareFiles = 200

// mostIdle returns how many idle connections a test can have whose server is in the same process.
func mostIdle(t testing.TB) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return min(attackers.Idle, int(limit.Cur/2)-spareFiles)
}

// bounded checks that the server keeps no more connections than allowed, in addition to the connections of
// TestHostile's clients.
func (f *live) bounded() {
	f.t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return // this machine does not list open files
	}
	if most := mostIdle(f.t) + access.MaxConnections + spareFiles; len(entries) > most {
		f.t.Errorf("%d files are open, more than %d", len(entries), most)
	}
}
