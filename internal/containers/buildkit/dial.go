package buildkit

import (
	"context"
	"net"
	"net/url"

	"github.com/docker/cli/cli/connhelper/commandconn"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// dial opens a connection to the daemon. Where a command carries it, ended receives the error of its end, if there is one.
func (a Address) dial(ctx context.Context, ended func(error)) (net.Conn, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "ssh":
		argv := a.sshCommand()
		// The connection outlives the context of its beginning.
		return commandconn.New(context.WithoutCancel(ctx), argv[0], argv[1:]...)
	case container:
		ep, err := docker.FindNamed(a.Endpoint)
		if err != nil {
			return nil, err
		}
		return docker.Tunnel(ctx, ep, u.Hostname(), []string{"buildctl", "dial-stdio"}, ended)
	case "unix":
		return new(net.Dialer).DialContext(ctx, "unix", u.Path)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", u.Host)
}

// sshCommand returns the command that connects its standard streams to a daemon behind the user's ssh. On the other side, it needs buildctl,
// which comes with buildkitd.
func (a Address) sshCommand() []string {
	argv := []string{"ssh", "-T", "-o", "BatchMode=yes"}
	u, err := url.Parse(a.URL)
	if err != nil {
		return argv
	}
	if u.User.Username() != "" {
		argv = append(argv, "-l", u.User.Username())
	}
	if u.Port() != "" {
		argv = append(argv, "-p", u.Port())
	}
	argv = append(argv, "--", u.Hostname(), "buildctl")
	if u.Path != "" {
		argv = append(argv, "--addr", "unix://"+u.Path)
	}
	return append(argv, "dial-stdio")
}
