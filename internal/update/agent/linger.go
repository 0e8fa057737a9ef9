//go:build linux

package agent

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// lingering is how long a synclet waits for a client that has lost its connection: some time longer than the minute for which many lines
// are away.
const lingering = 90 * time.Second

// linger keeps a program whose file has been removed in the container for a while. A client that comes back starts it from this process,
// which its claim then ends; otherwise it would have to send the program once more, which takes seconds over a thin line.
func linger() {
	if exe, err := os.Readlink("/proc/self/exe"); err != nil || !strings.HasSuffix(exe, " (deleted)") {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		_ = f.Close()
	}
	select {
	case <-signals:
	case <-time.After(lingering):
	}
}
