//go:build unix

package session

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// sendSizes sends the session every new size of the terminal until ctx is done.
func sendSizes(ctx context.Context, conn *terminal.Conn) {
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
			_ = conn.SendSize(columns, rows)
		}
	}
}
