package tunnel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// greeting begins the line that a relay begins with. The number of its protocol and its version of hone follow.
	greeting = "hone relay "
	protocol = "1"
	// maxNoise limits the output of the other machine's shell before that line.
	maxNoise = 64 << 10
	// greetLimit limits the time that ssh and hone may take to begin.
	greetLimit = process.DefaultServeGrace
	// idle is the silence after which a side asks whether the other is still there, and the time that the answer may take.
	idle = greetLimit / 6
	// grace is the time for ssh to end before it is killed.
	grace = time.Second
	// relayHost is the host in requests to a relay, which has none.
	relayHost = "relay"
)

// link is one run of ssh.
type link struct {
	to     Address
	conn   *streams
	said   *tail
	http   *http.ClientConn // set by greet
	cancel context.CancelFunc
	// ended is closed when ssh has ended; end is its error then.
	ended chan struct{}
	end   error
}

// newLink starts ssh, which outlives ctx.
func newLink(ctx context.Context, to Address) (*link, error) {
	stdin, there, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", to.Box(), err)
	}
	back, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect to %s: %w", to.Box(), err), stdin.Close(), there.Close())
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &link{to: to, conn: &streams{in: back, out: there}, said: &tail{}, cancel: cancel, ended: make(chan struct{})}
	// A process of its own group has no way to the terminal, and does not get its interrupts. It starts no connection that others
	// share and that would outlive it, but uses one that the user has.
	flags := []string{"-T", "-o", "ControlMaster=no", "-o", "ClearAllForwardings=yes"}
	c := process.Command{Cmd: model.Cmd{Argv: to.Command(flags, "hone", "relay")}, Stdin: stdin, Stdout: stdout, Stderr: l.said, Grace: grace,
		ExtraEnv: []string{"SSH_ASKPASS_REQUIRE=never"}, Plain: true}
	go func() {
		l.end = process.Run(ctx, c)
		close(l.ended) // before its readers see the end
		_ = stdin.Close()
		_ = stdout.Close()
	}()
	return l, nil
}

// greet waits until the relay has greeted, and returns why it does not.
func (l *link) greet(ctx context.Context, version string) error {
	ctx, cancel := context.WithTimeout(ctx, greetLimit)
	defer cancel()
	defer context.AfterFunc(ctx, l.cancel)()
	in := bufio.NewReaderSize(l.conn.in, maxNoise)
	for read := 0; ; {
		line, err := in.ReadSlice('\n')
		read += len(line)
		switch {
		case read >= maxNoise:
			return problem.New(l.to.Box()+" prints other things, and hone does not begin", "see what it prints: "+l.to.line("hone", "sessions"))
		case err != nil:
			l.stop()
			return l.unreached(ctx, version)
		}
		_, hello, greeted := strings.Cut(string(line), greeting) // a shell may have printed something into the same line
		if !greeted {
			continue
		}
		speaks, there, _ := strings.Cut(strings.TrimSpace(hello), " ")
		if speaks != protocol {
			l.stop()
			return l.foreign(there, version)
		}
		break
	}
	l.conn.in = &buffered{in, l.conn.in}
	t := &http.Transport{Protocols: onlyHTTP2(), HTTP2: &http.HTTP2Config{StrictMaxConcurrentRequests: true, SendPingTimeout: idle, PingTimeout: idle},
		DialContext: func(context.Context, string, string) (net.Conn, error) { return l.conn, nil }}
	var err error
	if l.http, err = t.NewClientConn(ctx, "http", net.JoinHostPort(relayHost, "http")); err != nil {
		return l.lost(err)
	}
	return nil
}

// onlyHTTP2 returns the one protocol of a tunnel.
func onlyHTTP2() *http.Protocols {
	p := &http.Protocols{}
	p.SetUnencryptedHTTP2(true)
	return p
}

// usable reports whether the link takes requests.
func (l *link) usable() bool {
	select {
	case <-l.ended:
		return false
	default:
		return l.http != nil && l.http.Err() == nil
	}
}

// stop ends ssh and waits for its end.
func (l *link) stop() {
	l.cancel()
	<-l.ended
	if l.http != nil {
		_ = l.http.Close()
	}
	_ = l.conn.Close()
}

// buffered first reads the bytes that were read ahead.
type buffered struct {
	*bufio.Reader
	io.Closer
}

// failure explains the error of a request.
func (l *link) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if l.usable() {
		return fmt.Errorf("%s: %w", l.to.Box(), err)
	}
	return l.lost(err)
}
