package tiltfile

import (
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/pkg/model"
)

// portForward is what port_forward() returns.
type portForward struct {
	opaque
	model.PortForward
}

var _ starlark.Value = portForward{}

// String shows both ports.
func (p portForward) String() string {
	return fmt.Sprintf("port_forward(%d, %d)", p.LocalPort, p.ContainerPort)
}

func portForwardBuiltin(c *call) (starlark.Value, error) {
	var local starlark.Int
	var container starlark.Value
	p := portForward{opaque: opaque{"port_forward"}}
	if err := c.unpack("local_port", &local, "container_port??", &container, "name??", &p.Name, "link_path??", &p.LinkPath,
		"host??", &p.Host); err != nil {
		return nil, err
	}
	var err error
	if p.LocalPort, err = port(local.String()); err != nil {
		return nil, err
	}
	if container != nil && container.String() != "0" { // 0 is what the container offers by itself
		if p.ContainerPort, err = port(container.String()); err != nil {
			return nil, err
		}
	}
	return p, checkHost(p.Host)
}

// portForwards takes a port, "L", "L:C", "host:L:C", a port_forward(), or a list of those.
type portForwards struct{ list []model.PortForward }

// Unpack implements starlark.Unpacker.
func (p *portForwards) Unpack(v starlark.Value) error {
	for _, e := range oneOrMany(v) {
		var pf model.PortForward
		var err error
		switch e := e.(type) {
		case starlark.Int:
			pf.LocalPort, err = port(e.String())
		case starlark.String:
			pf, err = parsePortForward(string(e))
		case portForward:
			pf = e.PortForward
		default:
			err = fmt.Errorf("got %s, want a port, \"local:container\", or port_forward()", e.Type())
		}
		if err != nil {
			return err
		}
		p.list = append(p.list, pf)
	}
	return nil
}

func parsePortForward(s string) (model.PortForward, error) {
	var pf model.PortForward
	parts := strings.Split(s, ":")
	if n := len(parts); n > 2 {
		pf.Host = strings.Join(parts[:n-2], ":")
		parts = parts[n-2:]
		if err := checkHost(pf.Host); err != nil {
			return pf, err
		}
	}
	var err error
	if pf.LocalPort, err = port(parts[0]); err != nil {
		return pf, fmt.Errorf("%q: %w; the form is \"local\", \"local:container\" or \"host:local:container\"", s, err)
	}
	if len(parts) == 2 {
		if pf.ContainerPort, err = port(parts[1]); err != nil {
			return pf, fmt.Errorf("%q: %w", s, err)
		}
	}
	return pf, nil
}

func port(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 {
		return 0, fmt.Errorf("%s is not a port (1 to 65535)", s)
	}
	return n, nil
}

func checkHost(host string) error {
	if strings.ContainsAny(host, " /\t\n") {
		return fmt.Errorf("%q is not the name or address of a host", host)
	}
	return nil
}
