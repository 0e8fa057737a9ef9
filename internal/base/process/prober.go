package process

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// The defaults for settings that are zero in model.Probe, as in Kubernetes.
const (
	DefaultProbeTimeout   = time.Second
	DefaultProbePeriod    = 10 * time.Second
	DefaultProbeSuccesses = 1
	DefaultProbeFailures  = 3
)

// Prober checks periodically whether a server is ready.
type Prober struct {
	Probe model.Probe
	// ExtraEnv is added to the environment of exec probes.
	ExtraEnv []string

	check func(ctx context.Context) (detail string, err error) // replaced by tests
}

// Answer is the result of a probe.
type Answer struct {
	// Ready reports whether the server now counts as ready.
	Ready bool
	// OK reports whether this probe succeeded, and Detail why not ("connection refused").
	OK     bool
	Detail string
	// InARow is the number of equal results in a row, and Needed the number after which Ready changes.
	InARow, Needed int
}

// String returns the answer for the log: "success", "success 1 of 3", "failure 2 of 3: connection refused". It omits
// the count if Ready already agrees with the result.
func (a Answer) String() string {
	word := "failure"
	if a.OK {
		word = "success"
	}
	if a.OK != a.Ready {
		word += fmt.Sprintf(" %d of %d", a.InARow, a.Needed)
	}
	return strings.TrimSuffix(word+": "+a.Detail, ": ")
}

// Run probes until ctx ends and returns nil. It immediately returns an error if the probe has no action. The server
// counts as not ready at first, becomes ready after SuccessThreshold successes in a row, and not ready again after
// FailureThreshold failures in a row. Run calls report on its own goroutine for the first answer, and then when the
// readiness or the detail of the answer changes.
func (p *Prober) Run(ctx context.Context, report func(Answer)) error {
	check, err := p.checker()
	if err != nil {
		return err
	}
	timer := time.NewTimer(p.Probe.InitialDelay)
	defer timer.Stop()
	state := verdict{successes: or(p.Probe.SuccessThreshold, DefaultProbeSuccesses), failures: or(p.Probe.FailureThreshold, DefaultProbeFailures)}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		timer.Reset(or(p.Probe.Period, DefaultProbePeriod))
		detail, err := p.once(ctx, check)
		if ctx.Err() != nil {
			return nil
		}
		if state.add(detail, err == nil) {
			report(state.answer())
		}
	}
}

func or[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// once probes once, within the timeout.
func (p *Prober) once(ctx context.Context, check func(context.Context) (string, error)) (string, error) {
	timeout := or(p.Probe.Timeout, DefaultProbeTimeout)
	probeCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	detail, err := check(probeCtx)
	if err != nil && probeCtx.Err() != nil {
		err = fmt.Errorf("no answer within %s", timeout)
		detail = ""
	}
	if err != nil {
		return strings.TrimSuffix(err.Error()+": "+detail, ": "), err
	}
	return detail, nil
}

// verdict counts answers.
type verdict struct {
	successes, failures int // thresholds
	run                 int // answers of the same kind in a row, failures negative
	ready               bool
	detail              string
	told                bool
}

// answer returns the newest answer.
func (v *verdict) answer() Answer {
	a := Answer{Ready: v.ready, OK: v.run > 0, Detail: v.detail, InARow: v.run, Needed: v.successes}
	if !a.OK {
		a.InARow, a.Needed = -v.run, v.failures
	}
	return a
}

// add counts an answer and reports whether the readiness or the detail changed.
func (v *verdict) add(detail string, ok bool) (news bool) {
	if ok {
		v.run = max(v.run, 0) + 1
	} else {
		v.run = min(v.run, 0) - 1
	}
	ready := v.ready
	switch {
	case v.run >= v.successes:
		ready = true
	case -v.run >= v.failures:
		ready = false
	}
	news = !v.told || ready != v.ready || detail != v.detail
	v.ready, v.detail, v.told = ready, detail, true
	return news
}

// checker returns the function that probes once.
func (p *Prober) checker() (func(context.Context) (string, error), error) {
	switch {
	case p.check != nil:
		return p.check, nil
	case p.Probe.Exec != nil:
		return p.exec, nil
	case p.Probe.HTTP != nil:
		return p.http, nil
	case p.Probe.TCP != nil:
		return p.tcp, nil
	}
	return nil, errors.New("readiness probe: none of exec, http and tcp is set")
}

// exec succeeds when the command does; the detail is the last line of its output.
func (p *Prober) exec(ctx context.Context) (string, error) {
	var out tail
	err := Run(ctx, Command{
		Cmd: *p.Probe.Exec, ExtraEnv: p.ExtraEnv, Stdout: &out, Stderr: &out, Plain: true, Grace: leftoverGrace,
	})
	if err == nil {
		return "", nil
	}
	return out.lastLine(), err
}

// http succeeds on a status from 200 to 399. Certificates are not checked and redirections not followed.
func (p *Prober) http(ctx context.Context) (string, error) {
	url := probeURL(*p.Probe.HTTP)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	for _, h := range p.Probe.HTTP.Headers {
		if strings.EqualFold(h.Name, "Host") {
			req.Host = h.Value // net/http takes the Host header from this field
			continue
		}
		req.Header.Add(h.Name, h.Value)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "hone-probe")
	}
	transport := &http.Transport{
		DialContext:       dial,
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // a probe checks availability, not identity
	}
	defer transport.CloseIdleConnections()
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 399 {
		return "", fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return "", nil
}

func probeURL(h model.HTTPProbe) string {
	host, scheme, path := h.Host, strings.ToLower(h.Scheme), h.Path
	if host == "" {
		host = "localhost"
	}
	if scheme == "" {
		scheme = "http"
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return scheme + "://" + address(host, h.Port) + path
}

// address joins host and port. An IPv6 address may already be in brackets.
func address(host string, port int) string {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// tcp succeeds when a connection can be opened.
func (p *Prober) tcp(ctx context.Context) (string, error) {
	host := p.Probe.TCP.Host
	if host == "" {
		host = "localhost"
	}
	conn, err := dial(ctx, "tcp", address(host, p.Probe.TCP.Port))
	if err != nil {
		return "", err
	}
	return "", conn.Close()
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	return dialLoopback(ctx, (&net.Dialer{}).DialContext, network, address)
}

// dialLoopback finds "localhost" also where no name does: bare systems have no /etc/hosts.
func dialLoopback(ctx context.Context, dial dialFunc, network, address string) (net.Conn, error) {
	conn, err := dial(ctx, network, address)
	host, port, _ := net.SplitHostPort(address)
	var unknown *net.DNSError
	if host != "localhost" || !errors.As(err, &unknown) {
		return conn, err
	}
	if conn, err = dial(ctx, network, net.JoinHostPort("127.0.0.1", port)); err == nil {
		return conn, nil
	}
	if conn, six := dial(ctx, network, net.JoinHostPort("::1", port)); six == nil {
		return conn, nil
	}
	return nil, err
}

// tail keeps the end of the text that is written to it.
type tail struct{ b []byte }

const tailBytes = 1 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - tailBytes; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tail) lastLine() string {
	text := strings.TrimSpace(string(t.b))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
