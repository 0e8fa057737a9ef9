package tiltfile

import (
	"errors"
	"fmt"
	"time"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/pkg/model"
)

// probe is what probe() returns, and what readiness_probe= takes.
type probe struct {
	opaque
	probe *model.Probe
}

// probeAction is what a probe does.
type probeAction struct {
	opaque
	exec *model.Cmd
	http *model.HTTPProbe
	tcp  *model.TCPProbe
}

var (
	_ starlark.Value = probe{}
	_ starlark.Value = probeAction{}
)

// String names the value.
func (probe) String() string { return "probe()" }

// String names the value.
func (a probeAction) String() string { return a.kind + "()" }

// Unpack implements starlark.Unpacker.
func (p *probe) Unpack(v starlark.Value) error {
	got, ok := v.(probe)
	if !ok {
		return fmt.Errorf("got %s, want probe()", v.Type())
	}
	*p = got
	return nil
}

func newProbe(c *call) (starlark.Value, error) {
	delay, timeout, period, success, failures := 0, 1, 10, 1, 3
	var exec, http, tcp starlark.Value
	if err := c.unpack("initial_delay_secs??", &delay, "timeout_secs??", &timeout, "period_secs??", &period,
		"success_threshold??", &success, "failure_threshold??", &failures, "exec??", &exec, "http_get??", &http,
		"tcp_socket??", &tcp); err != nil {
		return nil, err
	}
	if delay < 0 {
		return nil, errors.New("initial_delay_secs must not be negative")
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"timeout_secs", timeout}, {"period_secs", period}, {"success_threshold", success}, {"failure_threshold", failures}} {
		if n.value < 1 {
			return nil, fmt.Errorf("%s must be at least 1", n.name)
		}
	}
	p := &model.Probe{InitialDelay: time.Duration(delay) * time.Second, Timeout: time.Duration(timeout) * time.Second,
		Period: time.Duration(period) * time.Second, SuccessThreshold: success, FailureThreshold: failures}
	count := 0
	for _, arg := range []struct {
		kind  string
		value starlark.Value
	}{{"exec_action", exec}, {"http_get_action", http}, {"tcp_socket_action", tcp}} {
		if arg.value == nil {
			continue
		}
		a, ok := arg.value.(probeAction)
		if !ok || a.kind != arg.kind {
			return nil, fmt.Errorf("got %s, want %s()", arg.value.Type(), arg.kind)
		}
		a.apply(p)
		count++
	}
	if count != 1 {
		return nil, fmt.Errorf("give exactly one of exec=, http_get= and tcp_socket=, not %d", count)
	}
	return probe{opaque: opaque{"probe"}, probe: p}, nil
}

// apply makes the action that of a probe.
func (a probeAction) apply(p *model.Probe) {
	switch {
	case a.exec != nil:
		p.Exec = a.exec
	case a.http != nil:
		p.HTTP = a.http
	case a.tcp != nil:
		p.TCP = a.tcp
	}
}

func newExecAction(c *call) (starlark.Value, error) {
	var command argv
	if err := c.unpack("command", &command); err != nil {
		return nil, err
	}
	if len(command.words) == 0 {
		return nil, errors.New("the command is empty")
	}
	return probeAction{opaque: opaque{c.name}, exec: &model.Cmd{Argv: command.words, Dir: c.dir()}}, nil
}

func newHTTPGetAction(c *call) (starlark.Value, error) {
	h := &model.HTTPProbe{Host: "localhost", Scheme: "http", Path: "/"}
	if err := c.unpack("port", &h.Port, "host??", &h.Host, "scheme??", &h.Scheme, "path??", &h.Path); err != nil {
		return nil, err
	}
	if h.Scheme != "http" && h.Scheme != "https" {
		return nil, fmt.Errorf("scheme: %q is neither http nor https", h.Scheme)
	}
	_, err := port(fmt.Sprint(h.Port))
	return probeAction{opaque: opaque{c.name}, http: h}, err
}

func newTCPSocketAction(c *call) (starlark.Value, error) {
	t := &model.TCPProbe{Host: "localhost"}
	if err := c.unpack("port", &t.Port, "host??", &t.Host); err != nil {
		return nil, err
	}
	_, err := port(fmt.Sprint(t.Port))
	return probeAction{opaque: opaque{c.name}, tcp: t}, err
}
