package session

import (
	"context"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// sizeCheck is the interval at which the console's size is polled: there is no notification of changes.
const sizeCheck = 500 * time.Millisecond

// sendSizes sends the session every new size of the terminal until ctx is done.
func sendSizes(ctx context.Context, conn *terminal.Conn) {
	tick := time.NewTicker(sizeCheck)
	defer tick.Stop()
	var columns, rows int
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if c, r, err := term.GetSize(int(os.Stdout.Fd())); err == nil && (c != columns || r != rows) {
			columns, rows = c, r
			_ = conn.SendSize(c, r)
		}
	}
}
