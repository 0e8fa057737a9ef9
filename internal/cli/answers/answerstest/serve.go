// Package answerstest serves the state of a session for tests that ask about it.
package answerstest

import (
	"context"
	"net"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/answers"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Serve serves a session as it was at a moment, until the test ends, and returns its client. Everything can be asked, and nothing changed.
// fill writes the session's logs; nil leaves them empty.
func Serve(t testing.TB, v store.View, at time.Time, fill func(*logstore.Store)) *client.Client {
	t.Helper()
	logs, err := logstore.New(logstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if fill != nil {
		fill(logs)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const token = "token"
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- server.ServePast(ctx, server.Options{Version: "1.2.3", TCP: l, Token: token, Logs: logs, Answers: answers.Here{Logs: logs}, PageLogin: server.NewPageLogin(l),
			Page: fstest.MapFS{"index.html": {Data: []byte("page")}}}, server.Past{View: v, At: at, By: "1.2.3"})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := logs.Close(); err != nil {
			t.Error(err)
		}
	})
	a := l.Addr().(*net.TCPAddr)
	return client.At(sessions.Info{Name: "shop", StartedAt: time.Unix(1, 0), Host: a.IP.String(), Port: a.Port}, token)
}
