//go:build unix

package command

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// WatchSizes calls send with every new size of the terminal until ctx is done.
func WatchSizes(ctx context.Context, send func(columns, rows int)) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		if columns, rows, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			send(columns, rows)
		}
	}
}
