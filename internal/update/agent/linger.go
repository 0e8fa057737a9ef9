//go:build linux

package agent

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// lingering is the time for which a synclet waits for a client that has lost its connection. Many connections are interrupted for a
// minute, so it is a little longer.
const lingering = 90 * time.Second

// linger keeps a program whose file has been removed in the container for a while. A client that comes back starts the program from
// this process, which its claim then ends. Otherwise the client would have to send the program again, which takes seconds on a slow
// connection.
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
