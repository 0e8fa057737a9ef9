package command

import (
	"context"
	"os"
	"time"

	"golang.org/x/term"
)

// sizeCheck is the interval at which the console's size is polled: there is no notification of changes.
const sizeCheck = 500 * time.Millisecond

// WatchSizes calls send with every new size of the terminal until ctx is done.
func WatchSizes(ctx context.Context, send func(columns, rows int)) {
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
			send(c, r)
		}
	}
}
