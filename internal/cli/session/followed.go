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
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/loop/store"
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
	near    nearSide
	changed chan struct{}
	end     atomic.Pointer[error]
	lost    atomic.Pointer[hud.Loss] // nil while the session is connected
	// at is the newest selection that the session has not been told.
	at   chan model.ManifestName
	work sync.WaitGroup
}

// nearSide leads from here to a session on another machine.
type nearSide interface {
	// amend returns a value of the session's state as it is here.
	amend(value any) any
	// keep takes in the newest state.
	keep(v store.View)
}

// follow begins to follow a session, as its screen with an id.
func follow(ctx context.Context, session *client.Client, id string, logs *logstore.Store, near nearSide) (*followed, error) {
	ctx, cancel := context.WithCancel(ctx)
	document := client.DumpFollowed + "?screen=" + id
	stream, err := session.Dump(ctx, document)
	if err != nil {
		cancel()
		return nil, foreign(session, err)
	}
	of, err := snapshot.Follow(stream, logs, near.amend)
	if err != nil {
		cancel()
		_ = stream.Close()
		return nil, foreign(session, err)
	}
	near.keep(of.View())
	f := &followed{of: of, ctx: ctx, cancel: cancel, near: near, changed: make(chan struct{}, 1), at: make(chan model.ManifestName, 1)}
	f.work.Go(func() { f.run(session, document, stream) })
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

// run takes in changes until the session ends, or the stream is lost for good.
func (f *followed) run(session *client.Client, document string, stream io.Closer) {
	defer f.cancel()
	defer func() { _ = stream.Close() }()
	for {
		over, err := f.of.Next()
		switch {
		case over:
			err = errOver
		case f.ctx.Err() != nil:
			return
		case errors.Is(err, snapshot.ErrLost):
			_ = stream.Close()
			stream, err = f.resume(session, document)
		}
		if err != nil {
			f.end.Store(&err)
			return
		}
		f.near.keep(f.of.View())
		f.tell()
	}
}

// tell says that something has changed.
func (f *followed) tell() {
	select {
	case f.changed <- struct{}{}:
	default:
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
