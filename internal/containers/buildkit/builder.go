package buildkit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	control "github.com/moby/buildkit/api/services/control"
	"github.com/moby/buildkit/session/grpchijack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
)

// redialTime is the longest pause between two attempts to connect.
const redialTime = docker.AnswerTimeout / 5

// Builder is a BuildKit daemon. Construct it with New, and Close it.
type Builder struct {
	at     Address
	dialer Dialer
	// ready is Pod.Ready.
	ready func(ctx context.Context) (starting string, err error)
	// how is Pod.String.
	how     func() string
	conn    *grpc.ClientConn
	control control.ControlClient
	refused atomic.Pointer[error] // the reason why the last connection could not be opened; nil if it was opened
	// opens is set where a connection counts as open before the daemon has accepted it: the way into a pod takes its time on a busy node.
	opens bool
	own   bool         // whether the daemon runs in a pod of the session's own cluster
	heard atomic.Bool  // whether something came over the newest connection
	ended atomic.Int64 // the number of connections that have ended
}

var _ docker.BuildKit = (*Builder)(nil)

// New returns the builder at an address. It connects with the first call, and again whenever the connection has ended. An error means
// that certificates cannot be read.
func New(at Address) (*Builder, error) { return through(at, at.dial) }

// through is New with connections of any kind.
func through(at Address, dial Dialer) (*Builder, error) {
	u, err := url.Parse(at.URL)
	if err != nil {
		return nil, fmt.Errorf("builder address: %w", err)
	}
	secured, err := at.tls(u.Hostname())
	if err != nil {
		return nil, err
	}
	b := &Builder{at: at, dialer: dial, ready: func(context.Context) (string, error) { return "", nil }, how: func() string { return "" }}
	trust := insecure.NewCredentials()
	if secured != nil {
		trust = credentials.NewTLS(secured)
	}
	pace := backoff.DefaultConfig
	pace.BaseDelay, pace.MaxDelay = redialTime/10, redialTime
	b.conn, err = grpc.NewClient("passthrough:///buildkitd", grpc.WithTransportCredentials(trust), grpc.WithContextDialer(b.dial),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: pace, MinConnectTimeout: docker.AnswerTimeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(docker.MaxMessage)))
	if err != nil {
		return nil, fmt.Errorf("builder %s: %w", at, err)
	}
	b.control = control.NewControlClient(b.conn)
	return b, nil
}

func (b *Builder) dial(ctx context.Context, _ string) (net.Conn, error) {
	b.refused.Store(nil)
	b.heard.Store(false)
	conn, err := b.dialer(ctx, b.refuse)
	b.refuse(err)
	if err != nil {
		return nil, err
	}
	return &counted{Conn: conn, heard: &b.heard, ended: &b.ended}, nil
}

// counted is a connection whose end is counted, once. It notes that something has come.
type counted struct {
	net.Conn
	once  sync.Once
	heard *atomic.Bool
	ended *atomic.Int64
}

// Read implements net.Conn.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.heard.Store(true)
	}
	return n, err
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.once.Do(func() { c.ended.Add(1) })
	return c.Conn.Close()
}

// refuse keeps the reason why there is no connection.
func (b *Builder) refuse(err error) {
	if err != nil {
		b.refused.Store(&err)
	}
}

// OnThisMachine reports whether the daemon shares the network of this machine. One in a container or a pod has a network of its own.
func (b *Builder) OnThisMachine() bool { return strings.HasPrefix(b.at.URL, "unix://") }

// InCluster reports whether the daemon runs in a pod of the session's own cluster.
func (b *Builder) InCluster() bool { return b.own }

// Close closes the connection.
func (b *Builder) Close() error { return b.conn.Close() }

// Address implements docker.BuildKit.
func (b *Builder) Address() string { return b.at.URL }

// String names the builder for people.
func (b *Builder) String() string { return b.at.String() }

// Describe is String with the way in which the daemon runs, where hone runs it.
func (b *Builder) Describe() string {
	if how := b.how(); how != "" {
		return b.String() + ", " + how
	}
	return b.String()
}

// Alive returns nil when the daemon answers, or a problem that satisfies docker.IsUnreachable.
func (b *Builder) Alive(ctx context.Context) error {
	_, err := b.Ping(ctx)
	return err
}

// Ping asks the daemon for its version and its platform. The error satisfies docker.IsUnreachable if it does not answer in time.
func (b *Builder) Ping(ctx context.Context) (docker.Info, error) {
	if err := b.started(ctx); err != nil {
		return docker.Info{}, err
	}
	limited, cancel := context.WithTimeout(ctx, docker.AnswerTimeout)
	defer cancel()
	workers, err := b.control.ListWorkers(limited, &control.ListWorkersRequest{})
	if err != nil && b.opening(ctx, limited) {
		return docker.Info{}, b.starting("it runs, and the connection to it is not open yet")
	}
	if err != nil {
		return docker.Info{}, b.wrapIn(ctx, "ask the builder for its platforms", err)
	}
	out := docker.Info{BuildKit: true, Host: b.at.URL, Name: b.at.Name}
	for _, w := range workers.GetRecord() {
		if len(w.GetPlatforms()) > 0 {
			out.OS, out.Arch = w.GetPlatforms()[0].GetOS(), w.GetPlatforms()[0].GetArchitecture()
			break
		}
	}
	if info, err := b.control.Info(limited, &control.InfoRequest{}); err == nil { // daemons before 0.12 do not tell
		out.Version = info.GetBuildkitVersion().GetVersion()
	}
	return out, nil
}

// started returns nil once the daemon has started, and docker.IsStarting holds for the error if it needs more time than for an answer.
func (b *Builder) started(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, docker.AnswerTimeout)
	defer cancel()
	starting, err := b.ready(limited)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case err != nil:
		return b.away(err)
	case starting != "":
		return b.starting(starting)
	}
	return nil
}

// opening reports whether the time for an answer is up, and the connection has not been open so long.
func (b *Builder) opening(ctx, limited context.Context) bool {
	waits := !errors.Is(ctx.Err(), context.Canceled) && limited.Err() != nil
	return b.opens && waits && !b.heard.Load()
}

// starting returns the problem of a daemon that starts. why names the thing that it waits for.
func (b *Builder) starting(why string) error {
	return docker.BuilderStarting(errors.New(why), "the builder "+b.at.String()+" is starting", "if it waits for long, "+b.at.mend(""))
}

// away returns the problem of a daemon that cannot be used for a reason.
func (b *Builder) away(cause error) error {
	if p, ok := problem.Of(cause); ok { // it knows better
		return docker.BuilderAway(p, "cannot use the builder "+b.at.String(), p.Mend)
	}
	return docker.BuilderAway(cause, "cannot reach the builder "+b.at.String(), b.at.mend(cause.Error()))
}

// Build builds an image as docker.Client does. Without an Output, the image stays in the daemon's cache. The id is the digest of the image's
// manifest.
func (b *Builder) Build(ctx context.Context, req docker.BuildRequest) (id string, err error) {
	return docker.BuildThrough(ctx, req, b)
}

// DialSession implements docker.BuildKit.
func (b *Builder) DialSession(ctx context.Context, proto string, meta map[string][]string) (net.Conn, error) {
	return grpchijack.Dialer(b.control)(ctx, proto, meta)
}

// refusal is the answer of the daemon to a build that it cannot do.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

var _ error = (*refusal)(nil)

// Refused implements docker.BuildKit.
func (b *Builder) Refused(err error) bool { return errors.As(err, new(*refusal)) }

// Wrap implements docker.BuildKit.
func (b *Builder) Wrap(op string, err error) error {
	code := status.Code(err)
	if code != codes.Unavailable && code != codes.DeadlineExceeded {
		return fmt.Errorf("%s: %w", op, err)
	}
	cause := error(&refusal{brief(status.Convert(err).Message())})
	if last := b.refused.Load(); last != nil {
		cause = *last
	}
	if code == codes.DeadlineExceeded {
		cause = errors.New("it accepts connections and answers nothing")
	}
	return b.away(cause)
}

// wrapIn is Wrap, except that it leaves the end of ctx alone, unless its time is up.
func (b *Builder) wrapIn(ctx context.Context, op string, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return b.Wrap(op, err)
}

// brief drops the words of gRPC around the reason of a broken connection.
func brief(text string) string {
	text = strings.TrimPrefix(text, "connection error: desc = ")
	text = strings.Trim(text, `"`)
	return strings.TrimPrefix(text, "transport: ")
}
