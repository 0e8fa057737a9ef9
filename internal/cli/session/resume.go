package session

import (
	"errors"
	"io"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/tunnel"
	"github.com/hone-dev/hone/internal/hud"
)

// The pauses between the attempts to reach a session on another machine again.
const (
	firstPause = flags.AskLimit / 6
	mostPause  = 20 * firstPause
)

// resume goes on with another stream after the one before was lost. A session on this machine is gone without its stream. The
// connection to another machine can be lost alone, and is made again, however long that takes.
func (f *followed) resume(session *client.Client, document string) (io.Closer, error) {
	gone := problem.New("the session is gone without having ended: it was killed, or it crashed", "hone sessions shows what still runs")
	if !session.Far() {
		return io.NopCloser(nil), gone
	}
	since := time.Now()
	f.loses(&hud.Loss{Since: since})
	pauses := retry.Backoff{First: firstPause, Most: mostPause}
	for {
		stream, err := session.Dump(f.ctx, document)
		if err == nil {
			if err = f.of.Resume(stream); err == nil {
				f.lost.Store(nil)
				return stream, nil
			}
			_ = stream.Close()
		}
		switch {
		case f.ctx.Err() != nil:
			return io.NopCloser(nil), f.ctx.Err()
		case errors.Is(err, tunnel.ErrEnded):
			return io.NopCloser(nil), gone
		}
		f.loses(&hud.Loss{Since: since, Err: err})
		if !pauses.Sleep(f.ctx) {
			return io.NopCloser(nil), f.ctx.Err()
		}
	}
}

// loses has the screen say that the connection is lost.
func (f *followed) loses(l *hud.Loss) {
	f.lost.Store(l)
	f.tell()
}
