package command

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// TestAwait checks when a command says what it waits for.
func TestAwait(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(p *Printer)
		want string
	}{
		"a short wait": {func(p *Printer) {
			over := p.Await("the cluster")
			time.Sleep(time.Second)
			over()
		}, ""},
		"a wait": {func(p *Printer) {
			over := p.Await("the cluster")
			time.Sleep(3 * time.Second)
			over()
			over()
		}, "Waiting for the cluster…\n"},
		"a long wait": {func(p *Printer) {
			over := p.Await("the cluster")
			time.Sleep(time.Minute)
			over()
		}, "Waiting for the cluster…\nWaiting for the cluster… (for 32s now)\n"},
		"a wait that says something itself": {func(p *Printer) {
			over := p.Await("the Tiltfile")
			for range 4 {
				time.Sleep(1500 * time.Millisecond)
				logstore.Infof(p, "local: make")
			}
			over()
		}, "local: make\nlocal: make\nlocal: make\nlocal: make\n"},
		"a wait within a wait": {func(p *Printer) {
			over := p.Await("session shop to end")
			time.Sleep(time.Second)
			inner := p.Await("the cluster")
			time.Sleep(3 * time.Second)
			inner()
			time.Sleep(3 * time.Second)
			over()
		}, "Waiting for the cluster…\nWaiting for session shop to end…\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				tc.do((&Global{}).Printer(&out, &out))
				time.Sleep(time.Hour)
				if out.String() != tc.want {
					t.Errorf("%q, want %q", out.String(), tc.want)
				}
			})
		})
	}
}
