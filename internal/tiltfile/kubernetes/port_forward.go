package kubernetes

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// portForward is the result of port_forward().
type portForward struct {
	value.Opaque
	model.PortForward
}

var _ starlark.Value = portForward{}

// String shows both ports.
func (p portForward) String() string {
	return fmt.Sprintf("port_forward(%d, %d)", p.LocalPort, p.ContainerPort)
}

func newPortForward(c *eval.Call) (starlark.Value, error) {
	var local, container starlark.Int
	p := portForward{Opaque: value.Opaque{Kind: "port_forward"}}
	if err := c.Unpack("local_port", &local, "container_port??", &container, "name??", &p.Name, "link_path??", &p.LinkPath,
		"host??", &p.Host); err != nil {
		return nil, err
	}
	var err error
	if p.LocalPort, err = model.ParsePort(local.String()); err != nil {
		return nil, err
	}
	if container.Sign() != 0 { // 0 means the default port
		if p.ContainerPort, err = model.ParsePort(container.String()); err != nil {
			return nil, err
		}
	}
	p.Host, err = model.BareHost(p.Host)
	return p, err
}

// portForwards takes a port, "L", "L:C", "host:L:C", "[IPv6 address]:L:C", a port_forward(), or a list of these.
type portForwards struct{ list []model.PortForward }

// Unpack implements starlark.Unpacker.
func (p *portForwards) Unpack(v starlark.Value) error {
	for _, e := range value.OneOrMany(v) {
		var pf model.PortForward
		var err error
		switch e := e.(type) {
		case starlark.Int:
			pf.LocalPort, err = model.ParsePort(e.String())
		case starlark.String:
			pf, err = model.ParsePortForward(string(e))
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
