package local

import (
	"errors"
	"fmt"
	"time"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// probe is the value that probe() returns and readiness_probe= takes.
type probe struct {
	value.Opaque
	probe *model.Probe
}

// probeAction is the action of a probe.
type probeAction struct {
	value.Opaque
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
func (a probeAction) String() string { return a.Kind + "()" }

// Unpack implements starlark.Unpacker.
func (p *probe) Unpack(v starlark.Value) error {
	got, ok := v.(probe)
	if !ok {
		return fmt.Errorf("got %s, want probe()", v.Type())
	}
	*p = got
	return nil
}

func newProbe(c *eval.Call) (starlark.Value, error) {
	delay, timeout, period, success, failures := 0, 1, 10, 1, 3
	var exec, http, tcp starlark.Value
	if err := c.Unpack("initial_delay_secs??", &delay, "timeout_secs??", &timeout, "period_secs??", &period,
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
		if !ok || a.Kind != arg.kind {
			return nil, fmt.Errorf("got %s, want %s()", arg.value.Type(), arg.kind)
		}
		a.apply(p)
		count++
	}
	if count != 1 {
		return nil, fmt.Errorf("give exactly one of exec=, http_get= and tcp_socket=, not %d", count)
	}
	return probe{Opaque: value.Opaque{Kind: "probe"}, probe: p}, nil
}

// apply sets the action of a probe.
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

func newExecAction(c *eval.Call) (starlark.Value, error) {
	var command value.Argv
	if err := c.Unpack("command", &command); err != nil {
		return nil, err
	}
	if len(command.Words) == 0 {
		return nil, errors.New("the command is empty")
	}
	return probeAction{Opaque: value.Opaque{Kind: c.Name}, exec: &model.Cmd{Argv: command.Words, Dir: c.Dir()}}, nil
}

func newHTTPGetAction(c *eval.Call) (starlark.Value, error) {
	h := &model.HTTPProbe{Host: "localhost", Scheme: "http", Path: "/"}
	if err := c.Unpack("port", &h.Port, "host??", &h.Host, "scheme??", &h.Scheme, "path??", &h.Path); err != nil {
		return nil, err
	}
	if h.Scheme != "http" && h.Scheme != "https" {
		return nil, fmt.Errorf("scheme: %q is neither http nor https", h.Scheme)
	}
	_, err := model.ParsePort(fmt.Sprint(h.Port))
	return probeAction{Opaque: value.Opaque{Kind: c.Name}, http: h}, err
}

func newTCPSocketAction(c *eval.Call) (starlark.Value, error) {
	t := &model.TCPProbe{Host: "localhost"}
	if err := c.Unpack("port", &t.Port, "host??", &t.Host); err != nil {
		return nil, err
	}
	_, err := model.ParsePort(fmt.Sprint(t.Port))
	return probeAction{Opaque: value.Opaque{Kind: c.Name}, tcp: t}, err
}
