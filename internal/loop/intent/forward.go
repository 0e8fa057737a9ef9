package intent

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// AddForward opens a port forward to a resource until the session ends, or the Tiltfile declares its port. A forward whose
// port is already forwarded is refused; whether another process has the port shows once it is opened.
func AddForward(v store.View, resource string, f model.PortForward) (state.ForwardsChosen, error) {
	m, err := forwarding(v, resource)
	if err == nil {
		err = podless(v, m)
	}
	if err == nil {
		err = free(v, m, f, nil)
	}
	if err != nil {
		return state.ForwardsChosen{}, err
	}
	return state.ForwardsChosen{Resource: m.Name, Added: []model.PortForward{f}}, nil
}

// RemoveForward closes a port forward of a resource until the session ends. The port is given as address, as
// model.PortForward.Address returns it: "8080" or "host:8080".
func RemoveForward(v store.View, resource, address string) (state.ForwardsChosen, error) {
	if address == "" {
		return state.ForwardsChosen{}, invalid("must specify a port forward")
	}
	m, err := forwarding(v, resource)
	if err != nil {
		return state.ForwardsChosen{}, err
	}
	f, err := forwardOf(m, address)
	if err != nil {
		return state.ForwardsChosen{}, err
	}
	return state.ForwardsChosen{Resource: m.Name, Removed: []model.PortForward{f}}, nil
}

// ChangeForward moves a port forward of a resource, given as for RemoveForward, to another local port. Its pod's port and
// everything else stay.
func ChangeForward(v store.View, resource, address string, local int) (state.ForwardsChosen, error) {
	m, err := forwarding(v, resource)
	if err != nil {
		return state.ForwardsChosen{}, err
	}
	was, err := forwardOf(m, address)
	if err != nil {
		return state.ForwardsChosen{}, err
	}
	is := was
	is.LocalPort = local
	if was.ContainerPort == 0 {
		is.ContainerPort = declaredPort(v, m, was)
	}
	if is.LocalPort == was.LocalPort {
		return state.ForwardsChosen{}, &Refusal{Impossible, fmt.Errorf("port %s of resource %q is local port %d already", was.Address(), m.Name, local)}
	}
	if err := free(v, m, is, &was); err != nil {
		return state.ForwardsChosen{}, err
	}
	return state.ForwardsChosen{Resource: m.Name, Removed: []model.PortForward{was}, Added: []model.PortForward{is}}, nil
}

// forwarding returns the manifest of a resource that can have port forwards.
func forwarding(v store.View, resource string) (model.Manifest, error) {
	if resource == "" {
		return model.Manifest{}, invalid("must specify a resource")
	}
	r, err := enabled(v, resource)
	if err != nil {
		return model.Manifest{}, err
	}
	m := r.Manifest
	switch {
	case m.IsCompose():
		return m, &Refusal{Impossible, problem.New(fmt.Sprintf("resource %q is a service of Compose, whose ports the engine publishes", resource),
			"declare the port in the Compose file: ports: [\"8080:80\"]")}
	case !m.IsK8s():
		return m, &Refusal{Impossible, problem.New(fmt.Sprintf("resource %q runs on this machine, so that its ports need no forward", resource),
			"show its address with links=[…] in the Tiltfile")}
	}
	return m, nil
}

// Forwardable returns why no port can be forwarded to a resource; nil if one can.
func Forwardable(v store.View, resource string) error {
	m, err := forwarding(v, resource)
	if err == nil {
		err = podless(v, m)
	}
	return err
}

// podless refuses a resource that is deployed, has no pods, and is not expected to get any.
func podless(v store.View, m model.Manifest) error {
	expected := m.K8s.PodReadiness != model.PodIgnore || m.K8s.CustomDeploy != nil
	if expected || state.Updates.In(v).Value(string(m.Name)).AppliedAt.IsZero() || len(state.PodsOf(v, m.Name)) > 0 {
		return nil
	}
	return &Refusal{Impossible, problem.New(fmt.Sprintf("resource %q has no pods that a port could be forwarded to", m.Name),
		"choose the resource whose pods listen on the port")}
}

// forwardOf returns the forward of a manifest that listens on an address.
func forwardOf(m model.Manifest, address string) (model.PortForward, error) {
	var all []string
	for _, f := range m.K8s.PortForwards {
		if f.Address() == address {
			return f, nil
		}
		all = append(all, f.Address())
	}
	mend := "it forwards no ports"
	if len(all) > 0 {
		mend = "its port forwards listen on " + strings.Join(all, ", ")
	}
	return model.PortForward{}, &Refusal{Unknown, problem.New(fmt.Sprintf("resource %q has no port forward on %q", m.Name, words.Clip(address, quoted)), mend)}
}

// free refuses a forward whose port another one listens on already, except the forward that it replaces.
func free(v store.View, m model.Manifest, f model.PortForward, replaced *model.PortForward) error {
	ports := func(from, port int) bool { return from <= port && port <= 65535 }
	if !ports(1, f.LocalPort) || !ports(0, f.ContainerPort) {
		return invalid("a port forward has ports from 1 to 65535, not %d:%d", f.LocalPort, f.ContainerPort)
	}
	for e := range state.Enabled(v) {
		o := &e.Value.Manifest
		if o.K8s == nil {
			continue
		}
		for _, other := range o.K8s.PortForwards {
			same := other.LocalPort == f.LocalPort && overlap(other.Host, f.Host)
			makesRoom := replaced != nil && o.Name == m.Name && other == *replaced
			if !same || makesRoom {
				continue
			}
			return &Refusal{Impossible, problem.New(fmt.Sprintf("port %s is already forwarded to resource %q", f.Address(), o.Name),
				fmt.Sprintf("choose another local port, or remove that one: hone forwards remove %s %s", o.Name, other.Address()))}
		}
	}
	return nil
}

// overlap reports whether listeners on two hosts, as forwards name them, cannot have the same port.
func overlap(a, b string) bool {
	wild := func(host string) bool {
		ip := net.ParseIP(host)
		return ip != nil && ip.IsUnspecified()
	}
	plain := func(host string) string {
		if host == "" || host == "localhost" {
			return "127.0.0.1"
		}
		return host
	}
	return wild(a) || wild(b) || plain(a) == plain(b)
}

// declaredPort returns the port of the pod that a forward without one leads to: its local port if a container declares that
// or none declares any, else the first declared one.
func declaredPort(v store.View, m model.Manifest, f model.PortForward) int {
	var declared []int
	for _, p := range state.Standing(state.PodsOf(v, m.Name)) {
		for _, c := range p.LastingContainers() {
			declared = append(declared, c.Ports...)
		}
	}
	if slices.Contains(declared, f.LocalPort) || len(declared) == 0 {
		return f.LocalPort
	}
	return declared[0]
}
