package command

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaiting(t *testing.T) {
	for took, want := range map[time.Duration]string{time.Second: "", 3 * time.Second: "Waiting for the cluster…\n"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			done := (&Global{Stderr: &out}).Waiting("the cluster")
			time.Sleep(took)
			done()
			time.Sleep(time.Minute)
			if out.String() != want {
				t.Errorf("after %s: %q, want %q", took, out.String(), want)
			}
		})
	}
}
