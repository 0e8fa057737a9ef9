package screen

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/view"
)

// BenchmarkDraw draws the whole shop with a log in which every line is new each time.
func BenchmarkDraw(b *testing.B) {
	logs, err := logstore.New(logstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer logs.Close()
	hudtest.ShopLogs(logs)
	term := newTerminal("UTF-8", 120, 34)
	if err := term.Init(); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(b.Context())
	lists := loglist.NewLister(ctx, logs, time.Now)
	defer lists.Close()
	u := newUI(Options{Logs: logs, Now: time.Now}, theme{}, lists)
	u.leave, u.done = cancel, ctx.Done()
	u.apply(Frame{View: view.Build(hudtest.Shop().View(b.Context()), hudtest.ShopTime, 0)}, hudtest.ShopTime)
	r := newRoot(u)
	r.SetRect(0, 0, 120, 34)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for range 15 {
			logs.Append(logstore.Entry{Resource: "api", Level: logstore.LevelInfo, Text: fmt.Sprintf("line %d of a service that has a lot to say for itself", i)})
		}
		term.Clear()
		r.Draw(term)
		term.SimulationScreen.Show()
	}
	if ctx.Err() != nil {
		b.Fatal(context.Cause(ctx))
	}
}
