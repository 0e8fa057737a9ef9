package up

import (
	"context"
	"io"
	"os"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// outlive makes a session continue in the background when its terminal is lost. The channel reports the loss to the screen. lost
// returns the replacement for the screen: it writes the log of a session in the background. Both are nil where a process ends with
// its terminal.
func outlive(ctx context.Context, o options, p sessionParts) (hangup <-chan struct{}, lost func() store.Subscriber) {
	if !outlives {
		return nil, nil
	}
	told := make(chan struct{}, 1)
	o.global.Terminal.OnHangup(func() bool {
		if !terminalLost() {
			return false // the signal was sent to end the session
		}
		select {
		case told <- struct{}{}:
		default:
		}
		return true
	})
	return told, func() store.Subscriber {
		o.global.Terminal.End()
		out, where := toBackground(ctx, p)
		name := p.Claim.Info().Name
		logstore.Warnf(p.Logs.Logger(model.TiltfileName, "", logstore.SourceBuild),
			"The terminal of this session was closed. The session keeps running in the background: hone attach --session %s shows it, hone stop --session %s ends it. %s", name, name, where)
		return stream.New(stream.Options{Logs: p.Logs, Out: out, Color: stream.ColorNever})
	}
}

// toBackground directs the process away from its terminal, to the log of a session in the background, and says where that is.
func toBackground(ctx context.Context, p sessionParts) (out io.Writer, where string) {
	file, err := newBackgroundLog()
	if err != nil {
		if null, failed := os.OpenFile(os.DevNull, os.O_RDWR, 0); failed == nil {
			_ = redirect(null)
			_ = null.Close()
		}
		return io.Discard, "Its output cannot be kept: " + err.Error()
	}
	defer file.Close()
	if err := redirect(file); err != nil {
		return io.Discard, "Its output cannot be kept: " + err.Error()
	}
	b := &background{file: os.Stdout, limit: maxBackgroundLog, path: file.Name()}
	if err := b.name(context.WithoutCancel(ctx), p.Claim); err != nil {
		return b, "Its output is in " + b.path + ": " + err.Error()
	}
	return b, "Its output is in " + b.path
}
