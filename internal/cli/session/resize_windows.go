package session

import (
	"context"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// sizeCheck is how often the console's size is looked at: nothing tells of changes.
const sizeCheck = 500 * time.Millisecond

// sendSizes tells the session about every new size of the terminal until ctx is done.
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
