package portforward

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// A goroutine of the cluster's client in the test on real pods outlives the client's Close by up to five
		// seconds.
		goleak.IgnoreTopFunction("github.com/moby/spdystream.(*Stream).WaitTimeout"))
}
