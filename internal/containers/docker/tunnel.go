package docker

import (
	"context"
	"net"
	"strings"
)

// FindNamed returns the engine that a docker context or an address names; the engine that a docker CLI would use if name is empty.
func FindNamed(name string) (Endpoint, error) {
	switch {
	case name == "" || name == "default":
		return Find()
	case strings.Contains(name, "://"):
		return Endpoint{Host: name}, nil
	}
	return contextEndpoint(ConfigDir(), name)
}

// Tunnel runs a command in a container of an engine, and returns a connection to its standard streams. The command ends with the connection,
// which tells ended the error of the command.
func Tunnel(ctx context.Context, ep Endpoint, containerID string, argv []string, ended func(error)) (net.Conn, error) {
	e, err := New(ep)
	if err != nil {
		return nil, err
	}
	if _, err := e.api.ContainerInspect(ctx, containerID); err != nil {
		_ = e.Close()
		return nil, e.wrap("look for container "+containerID, err)
	}
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		ended(e.Exec(ctx, containerID, argv, far, far, nil))
		_ = far.Close()
		_ = e.Close()
	}()
	return tunnel{near, cancel}, nil
}

// tunnel is the near end of a connection.
type tunnel struct {
	net.Conn
	cancel context.CancelFunc
}

// Close implements net.Conn.
func (t tunnel) Close() error {
	t.cancel()
	return t.Conn.Close()
}
