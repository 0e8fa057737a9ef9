package up

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/cluster/portforward"
	"github.com/hone-dev/hone/internal/loop/state"
)

// stopFunc requests the end of the session. It returns at once.
type stopFunc func()

// provideClaim registers the session among those that run on this machine.
func provideClaim(ctx context.Context, o options, p project.Project) (*sessions.Claim, func(), error) {
	c, err := flags.Registry().Claim(ctx, sessions.Info{PID: os.Getpid(), StartedAt: time.Now(), Version: command.Version, Command: string(o.command),
		Name: o.session, Tiltfile: o.project.Path, Context: o.project.Home(), Namespace: o.project.HomeNamespace(), Project: p.ID})
	var taken *sessions.TakenError
	if errors.As(err, &taken) {
		s := taken.Session
		return nil, nil, problem.New(fmt.Sprintf("another session is called %s (%s, pid %d)", s.Name, s.Tiltfile, s.PID),
			fmt.Sprintf("choose another name, or end that session: hone stop --session %s", s.Name))
	}
	if err != nil {
		return nil, nil, err
	}
	if err := o.background.name(ctx, c); err != nil {
		c.Release(ctx)
		return nil, nil, err
	}
	return c, func() { c.Release(ctx) }, nil
}

// listeners are the listeners of the session's API. Without a port, tcp is nil and the port's other fields are zero.
type listeners struct {
	unix, tcp net.Listener
	keys      sessions.Keys
	port      int
	url       string
	// name is the name of the session.
	name string
}

// provideListeners opens the session's socket, and its port if one is wanted.
func provideListeners(ctx context.Context, o options, c *sessions.Claim) (d listeners, _ func(), err error) {
	cleanup := func() {
		for _, l := range []net.Listener{d.unix, d.tcp} {
			if l != nil {
				_ = l.Close()
			}
		}
	}
	d.name = c.Info().Name
	defer func() {
		if err != nil {
			cleanup()
		}
	}()
	if d.tcp, err = listen(ctx, o); err != nil {
		return d, nil, err
	}
	if d.tcp != nil {
		d.port = d.tcp.Addr().(*net.TCPAddr).Port
		d.url = "http://" + net.JoinHostPort(o.host, strconv.Itoa(d.port)) + "/"
		if d.keys, err = c.MakeKeys(ctx, d.tcp.Addr()); err != nil {
			return d, nil, err
		}
	}
	if d.unix, err = c.Listen(ctx); err != nil {
		return d, nil, err
	}
	err = c.Publish(ctx, func(i *sessions.Info) {
		i.Socket, i.URL, i.Port = d.unix.Addr().String(), d.url, d.port
		if d.tcp != nil {
			i.Host = o.host
		}
	})
	return d, cleanup, err
}

// certificate returns the certificate for TLS connections; nil without a port.
func (d listeners) certificate() *tls.Certificate {
	if d.tcp == nil {
		return nil
	}
	return &d.keys.Certificate
}

// exposed reports whether other machines can reach the port.
func (d listeners) exposed() bool {
	return d.tcp != nil && !d.tcp.Addr().(*net.TCPAddr).IP.IsLoopback()
}

// listen opens the port of the session's API; nil when none is wanted.
func listen(ctx context.Context, o options) (net.Listener, error) {
	if o.port.None {
		return nil, nil
	}
	host := o.host
	if host == flags.DefaultHost {
		host = "127.0.0.1" // bare systems have no /etc/hosts that says so
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(o.port.Number)))
	taken := errors.Is(err, syscall.EADDRINUSE)
	if taken && o.command == state.CommandCI && !o.port.Asked { // a session that ends by itself need not be on the usual port
		l, err = lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
		taken = false
	}
	switch {
	case taken:
		who, mend := whoHas(ctx, o.port.Number)
		return nil, problem.New(fmt.Sprintf("hone cannot start because you already have another process on port %d%s", o.port.Number, who), mend).See("troubleshooting")
	case err != nil:
		return nil, problem.Wrap(err, "cannot open the port of the session's API", "choose another with --host and --port, or none with --port=none")
	}
	return l, nil
}

// sessionOf returns the name of the session that a process runs, "" for any other process.
func sessionOf(pid int) string {
	living, _ := flags.Registry().List(context.Background())
	for _, s := range living {
		if s.PID == pid {
			return s.Name
		}
	}
	return ""
}

// whoHas returns the holder of a taken port, as text to follow its number, and advice for the user.
func whoHas(ctx context.Context, port int) (who, mend string) {
	mend = "take a free port: --port=0, or none at all: --port=none"
	living, _ := flags.Registry().List(ctx)
	for _, s := range living {
		if s.Port == port {
			return "", fmt.Sprintf("session %s has it (%s, pid %d): hone attach --session %s shows it, hone stop --session %s ends it\n%s",
				s.Name, s.Tiltfile, s.PID, s.Name, s.Name, mend)
		}
	}
	if name, known := portforward.Holder(port); known {
		who = ": " + name
	}
	return who, mend
}
