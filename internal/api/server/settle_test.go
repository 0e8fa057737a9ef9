package server

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
)

// TestSettle checks that a response comes only once the state has the changes of files on their way, and that it says if no watcher can tell.
func TestSettle(t *testing.T) {
	var f *live
	var fails error
	f = serveLive(t, func(s *Subscriber) {
		s.SettleBy(func(context.Context) (time.Time, error) {
			return f.Store.Dispatch(state.FilesChanged{At: statetest.Epoch, Changes: []state.FileChange{{Target: statetest.Local("a").DeployID(), Paths: []string{"/src/a"}}}}), fails
		})
	})
	f.Dispatch(statetest.Session, statetest.Loaded(statetest.Local("a")))
	if code, body := f.ask("http", "POST", "/api/settle", "{}"); code != http.StatusOK || body != `{"known":true}`+"\n" {
		t.Errorf("%d %s", code, body)
	}
	if u := state.Updates.In(f.Store.Snapshot().All()).Value("a"); u.PendingSince().IsZero() {
		t.Error("the change is not in the state")
	}
	fails = errors.ErrUnsupported
	if code, body := f.ask("http", "POST", "/api/settle", "{}"); code != http.StatusOK || body != `{"known":false}`+"\n" {
		t.Errorf("%d %s", code, body)
	}
}
