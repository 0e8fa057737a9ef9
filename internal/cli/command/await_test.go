package command

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// TestAwait checks that a command says what it waits for, unless it prints something itself. Package patience tests when.
func TestAwait(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(p *Printer)
		want string
	}{
		"a wait": {func(p *Printer) {
			over := p.Await("the cluster")
			time.Sleep(3 * time.Second)
			over()
			over()
		}, "Waiting for the cluster…\n"},
		"a wait that says something itself": {func(p *Printer) {
			over := p.Await("the Tiltfile")
			for range 4 {
				time.Sleep(1500 * time.Millisecond)
				logstore.Infof(p, "local: make")
			}
			over()
		}, "local: make\nlocal: make\nlocal: make\nlocal: make\n"},
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
