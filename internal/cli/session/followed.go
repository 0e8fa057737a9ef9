package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// errOver is the end of a stream that ends with its session.
var errOver = errors.New("the session is over")

// followed is a session whose state this process follows.
type followed struct {
	of *snapshot.Followed
	// ctx ends with the stream.
	ctx     context.Context
	cancel  context.CancelFunc
	changed chan struct{}
	stream  io.Closer
	end     atomic.Pointer[error]
	// at is the newest selection that the session has not been told.
	at   chan model.ManifestName
	work sync.WaitGroup
}

// follow begins to follow a session, as its screen with an id.
func follow(ctx context.Context, session *client.Client, id string, logs *logstore.Store) (*followed, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := session.Dump(ctx, client.DumpFollowed+"?screen="+id)
	if err != nil {
		cancel()
		return nil, foreign(session, err)
	}
	of, err := snapshot.Follow(stream, logs)
	if err != nil {
		cancel()
		_ = stream.Close()
		return nil, foreign(session, err)
	}
	f := &followed{of: of, ctx: ctx, cancel: cancel, changed: make(chan struct{}, 1), stream: stream, at: make(chan model.ManifestName, 1)}
	f.work.Go(f.run)
	f.work.Go(func() { f.move(session, id) })
	return f, nil
}

// foreign explains the error of a session that another version of hone runs.
func foreign(session *client.Client, err error) error {
	is := session.Session.Version
	if is == "" || is == command.Version || errors.Is(err, context.Canceled) {
		return err
	}
	return problem.Wrap(err, fmt.Sprintf("%s runs hone v%s, and this hone cannot show it", session.Where(), is), "attach with that version, or start the session again")
}

// run takes in changes until the stream ends.
func (f *followed) run() {
	defer f.cancel()
	for {
		over, err := f.of.Next()
		switch {
		case over:
			err = errOver
		case f.ctx.Err() != nil:
			return
		case errors.Is(err, snapshot.ErrLost):
			err = problem.New("the session is gone without having ended: it was killed, or it crashed", "hone sessions shows what still runs")
		}
		if err != nil {
			f.end.Store(&err)
			return
		}
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
}

// outcome returns why the stream has ended; nil if it has not.
func (f *followed) outcome() error {
	if end := f.end.Load(); end != nil {
		return *end
	}
	return nil
}

// stop ends the stream.
func (f *followed) stop() {
	f.cancel()
	_ = f.stream.Close()
	f.work.Wait()
}

// moved has the session be told the selection of the screen, instead of an older one that it was not told yet. It is called by one
// goroutine.
func (f *followed) moved(to model.ManifestName) {
	select {
	case <-f.at:
	default:
	}
	f.at <- to
}

// move tells the session the newest selection, as fast as it takes them. If that fails, only other screens miss it.
func (f *followed) move(session *client.Client, id string) {
	for {
		select {
		case <-f.ctx.Done():
			return
		case at := <-f.at:
			_ = session.Send(f.ctx, "/api/screen", api.ScreenRequest{ID: id, Selected: string(at)})
		}
	}
}
