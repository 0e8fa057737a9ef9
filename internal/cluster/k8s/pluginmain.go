package k8s

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// pluginArg is the hidden argument that makes this program a credential plugin's attendant.
	pluginArg = "__credentials"
	// pluginVariable has the attendant's way to the client: "ADDRESS TOKEN".
	pluginVariable = "HONE_CREDENTIALS"
	// pluginGrace is the time between SIGTERM and SIGKILL for a plugin whose client has gone.
	pluginGrace = time.Second
)

// attended is set if this program can be the attendant of plugins.
var attended atomic.Bool

// PluginMain runs this process as the attendant of a credential plugin if its arguments request it, and returns the exit code for main.
// Otherwise handled is false, and from then on plugins have an attendant. main must call it first. The plugins of a program that does not
// call it, such as a test, run without one.
func PluginMain(args []string) (code int, handled bool) {
	if len(args) > 1 && args[0] == pluginArg {
		return attend(args[1:], os.Getenv(pluginVariable)), true
	}
	attended.Store(true)
	return 0, false
}

// attend runs a plugin. Its messages go to the client, and its credentials to this process's standard output. It is ended, with its group,
// when the client is gone or no longer wants it. An interrupt of the terminal is the client's to act on.
func attend(argv []string, way string) int {
	signal.Ignore(os.Interrupt, syscall.SIGHUP)
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	address, token, _ := strings.Cut(way, " ")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 1 // the client is gone
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(conn, token); err != nil {
		return 1
	}
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, conn)
	}()
	err = process.Run(ctx, process.Command{Cmd: model.Cmd{Argv: argv}, Stdout: os.Stdout, Stderr: conn, Grace: pluginGrace,
		Without: []string{pluginVariable}, Plain: true})
	var exit *process.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	fmt.Fprintln(conn, err)
	return 1
}
