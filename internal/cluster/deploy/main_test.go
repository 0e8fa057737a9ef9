package deploy

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// Connections of real API clients stay open for reuse.
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreAnyFunction("golang.org/x/net/http2.(*ClientConn).readLoop"),
		goleak.IgnoreAnyFunction("golang.org/x/net/internal/http2.(*ClientConn).readLoop"))
}
