// Package client finds a running session and talks to its API: over its socket, or over TCP with its token.
//
// # Concurrency
//
// The package starts no goroutines. A Client may be used by several goroutines at once.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// A session is asked only once it has shown that it answers (see knock). The time that an answer may take depends on the work
// behind it.
const (
	// timeout limits a request that the session answers without further work.
	timeout = 10 * time.Second
	// planTimeout limits the wait for a plan, for which the session asks the cluster about each object, however slow that is.
	planTimeout = time.Hour
	// updateTimeout limits the wait for the end of updates. The session gives up earlier, and says why.
	updateTimeout = time.Minute
	// settleTimeout limits the wait for changes of files. The session gives up earlier, and says so.
	settleTimeout = 2 * timeout
	// maxFailure limits how much of a failure response is read.
	maxFailure = 1 << 16
	// socketHost is the host name in requests over a socket, which has no host name of its own.
	socketHost = "localhost"
)

// Client talks to one session.
type Client struct {
	// Session is the registry's information about the session. Only Host, Port and URL are set for a session that is not in
	// the registry.
	Session sessions.Info
	// OnSlow, if set, is called when the first answer of the session takes long. It is set before the first request.
	OnSlow func()

	token string
	far   bool // the session runs on another machine, and the socket is there
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	http  *http.Client

	knocking sync.Mutex
	answered bool // guarded by knocking; the session has answered once
}

// Over returns a client that uses the socket of a session on this machine.
func Over(s sessions.Info) *Client {
	return newClient(s, "", func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", s.Socket)
	})
}

// At returns a client for a session at a URL. The token may be empty.
func At(s sessions.Info, token string) *Client {
	var d net.Dialer
	return newClient(s, token, d.DialContext)
}

// Through returns a client of a session on another machine, whose connections dial makes. The requests have the rights of a token, or all
// rights if it is empty.
func Through(s sessions.Info, token string, dial func(context.Context) (net.Conn, error)) *Client {
	dialed := func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	c := newClient(s, token, dialed)
	c.http.Transport = &http.Transport{DialContext: dialed} // which keeps a connection: a new one costs a way there and back
	c.far = true
	return c
}

// Far reports whether the session runs on another machine, to which the connection can be lost alone.
func (c *Client) Far() bool { return c.far }

func newClient(s sessions.Info, token string, dial func(context.Context, string, string) (net.Conn, error)) *Client {
	return &Client{Session: s, token: token, dial: dial,
		http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// base returns the URL that requests begin with.
func (c *Client) base() *url.URL {
	if c.Session.Socket != "" {
		return &url.URL{Scheme: "http", Host: socketHost}
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(c.Session.Host, fmt.Sprint(c.Session.Port))}
}

// Where names the session for messages.
func (c *Client) Where() string {
	if c.Session.Name != "" {
		return "session " + c.Session.Name
	}
	return "the session at " + c.base().Host
}

// RESTConfig returns the configuration with which client-go talks to the session.
func (c *Client) RESTConfig() *rest.Config {
	return &rest.Config{Host: c.base().String(), BearerToken: c.token, Dial: c.dial, UserAgent: "hone",
		WrapTransport: func(next http.RoundTripper) http.RoundTripper { return explaining{c, next} }}
}

// explaining is a transport that returns the same errors as the client's own requests.
type explaining struct {
	client *Client
	next   http.RoundTripper
}

var _ http.RoundTripper = explaining{}

// RoundTrip implements http.RoundTripper.
func (e explaining) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := e.client.knock(req.Context()); err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	resp, err := e.next.RoundTrip(req)
	if err != nil {
		return nil, e.client.silent(req.Context(), err)
	}
	if resp.StatusCode == http.StatusUnauthorized {
		defer resp.Body.Close()
		return nil, e.client.refused(resp)
	}
	return resp, nil
}

// View returns everything that the session shows.
func (c *Client) View(ctx context.Context) (v api.View, err error) {
	err = c.ask(ctx, http.MethodGet, "/api/view", nil, &v)
	return v, err
}

// Status returns how the session is.
func (c *Client) Status(ctx context.Context) (st api.Status, err error) {
	err = c.ask(ctx, http.MethodGet, "/api/status", nil, &st)
	return st, err
}

// Why returns the answer to why a resource is as it is.
func (c *Client) Why(ctx context.Context, resource string) (w api.Why, err error) {
	err = c.ask(ctx, http.MethodGet, "/api/why?"+url.Values{"resource": {resource}}.Encode(), nil, &w)
	return w, err
}

// Shell returns where a shell of a resource can run; query is the query of GET /api/shell.
func (c *Client) Shell(ctx context.Context, query url.Values) (s api.Shell, err error) {
	err = c.ask(ctx, http.MethodGet, "/api/shell?"+query.Encode(), nil, &s)
	return s, err
}

// Trigger requests an update of resources now.
func (c *Client) Trigger(ctx context.Context, names []string) error {
	return c.ask(ctx, http.MethodPost, "/api/trigger", api.TriggerRequest{ManifestNames: names}, nil)
}

// Plan returns the plan of the updates that wait.
func (c *Client) Plan(ctx context.Context) (plan api.Plan, err error) {
	err = c.askWithin(ctx, planTimeout, http.MethodGet, "/api/plan", nil, &plan)
	return plan, err
}

// Revision returns the differences of a revision to the one before. on is the context of a declared cluster; empty for the session's own.
func (c *Client) Revision(ctx context.Context, on string, number int) (plan api.Plan, err error) {
	query := url.Values{"number": {strconv.Itoa(number)}}
	if on != "" {
		query.Set("cluster", on)
	}
	err = c.askWithin(ctx, planTimeout, http.MethodGet, "/api/revision?"+query.Encode(), nil, &plan)
	return plan, err
}

// Confirm starts the updates and deletions of a plan that the session has shown, and that wait for the user's confirmation.
func (c *Client) Confirm(ctx context.Context, plan api.Plan) (result api.ConfirmResult, err error) {
	err = c.ask(ctx, http.MethodPost, "/api/confirm", api.ConfirmRequest{Evaluation: plan.Evaluation}, &result)
	return result, err
}

// Rebuild requests an update of resources from scratch: images are built without a cache, and all pods are replaced.
func (c *Client) Rebuild(ctx context.Context, names []string) error {
	return c.ask(ctx, http.MethodPost, "/api/trigger", api.TriggerRequest{ManifestNames: names, NoCache: true}, nil)
}

// Restart requests a restart of the resources' processes or, with pods, of their pods.
func (c *Client) Restart(ctx context.Context, names []string, pods bool) error {
	return c.ask(ctx, http.MethodPost, "/api/restart", api.RestartRequest{ManifestNames: names, Pods: pods}, nil)
}

// Pause pauses or resumes the session.
func (c *Client) Pause(ctx context.Context, paused bool) (result api.PauseResult, err error) {
	err = c.ask(ctx, http.MethodPost, "/api/pause", api.PauseRequest{Paused: paused}, &result)
	return result, err
}

// Forward adds, removes or changes a port forward. It returns once the session has accepted the request, and does not wait
// until the port is open.
func (c *Client) Forward(ctx context.Context, r api.ForwardRequest) error {
	return c.ask(ctx, http.MethodPost, "/api/forwards", r, nil)
}

// TakenDown announces that objects are about to be deleted, and returns once the session no longer applies them.
func (c *Client) TakenDown(ctx context.Context, r api.TakenDownRequest) error {
	return c.askWithin(ctx, updateTimeout, http.MethodPost, "/api/taken_down", r, nil)
}

// DeployLock makes the session begin no update from now on, and returns once those that it has begun have ended, after limit at the latest.
// waits is called with the resources that it waits for, each time that they change. The lock lasts until end is called, or ctx is done.
func (c *Client) DeployLock(ctx context.Context, by string, limit time.Duration, waits func(on []string)) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	resp, err := c.send(ctx, http.MethodPost, "/api/turn", api.DeployLockRequest{By: by})
	if err != nil {
		cancel()
		return nil, err
	}
	end = func() {
		cancel()
		_ = resp.Body.Close()
	}
	expired := time.AfterFunc(limit, cancel)
	lines := json.NewDecoder(resp.Body)
	for {
		var t api.DeployLock
		err := lines.Decode(&t)
		switch {
		case err != nil && ctx.Err() != nil && !expired.Stop():
			end()
			return nil, fmt.Errorf("its updates did not end within %s", limit)
		case err != nil:
			end()
			return nil, fmt.Errorf("wait for the turn: %w", err)
		case t.Granted:
			if expired.Stop() {
				return end, nil
			}
		default:
			waits(t.WaitsFor)
		}
	}
}

// Switch enables or disables resources. It returns once the session has applied the change.
func (c *Client) Switch(ctx context.Context, r api.SwitchRequest) (result api.SwitchResult, err error) {
	err = c.ask(ctx, http.MethodPost, "/api/switch", r, &result)
	return result, err
}

// Args returns the arguments that the Tiltfile is evaluated with. Secrets among them are redacted.
func (c *Client) Args(ctx context.Context) ([]string, error) {
	var t v1alpha1.Tiltfile
	err := c.ask(ctx, http.MethodGet, "/apis/"+v1alpha1.Group+"/v1alpha1/tiltfiles/"+url.PathEscape(string(model.TiltfileName)), nil, &t)
	return t.Spec.Args, err
}

// SetArgs sets the arguments of the Tiltfile, which is then evaluated again. An argument that Args returned redacted keeps its
// value if it is at the same position.
func (c *Client) SetArgs(ctx context.Context, args []string) error {
	return c.ask(ctx, http.MethodPost, "/api/set_tiltfile_args", append([]string{}, args...), nil)
}

// Click clicks a button.
func (c *Client) Click(ctx context.Context, r api.ClickRequest) error {
	return c.ask(ctx, http.MethodPost, "/api/click", r, nil)
}

// Ticket returns an address that lets a browser in to the page of a resource, or to the overview if resource is empty.
func (c *Client) Ticket(ctx context.Context, resource string) (t api.Ticket, err error) {
	err = c.ask(ctx, http.MethodPost, "/api/ticket", api.TicketRequest{Resource: resource}, &t)
	return t, err
}

// Object returns an object that the session has applied, as the cluster has it, as YAML.
func (c *Client) Object(ctx context.Context, uid string) (string, error) {
	var o api.Object
	err := c.askWithin(ctx, updateTimeout, http.MethodGet, "/api/object?"+url.Values{"uid": {uid}}.Encode(), nil, &o)
	return o.YAML, err
}

// Previous returns the newest lines of the run of a container before its present one.
func (c *Client) Previous(ctx context.Context, of model.ContainerRef) ([]string, error) {
	var p api.PreviousRun
	query := url.Values{"resource": {string(of.Resource)}, "namespace": {of.Namespace}, "pod": {of.Pod}, "container": {of.Name}}
	err := c.askWithin(ctx, updateTimeout, http.MethodGet, "/api/previous?"+query.Encode(), nil, &p)
	return p.Lines, err
}

// Send sends a request of the API that changes something, and returns once the session has accepted it.
func (c *Client) Send(ctx context.Context, path string, body any) error {
	return c.ask(ctx, http.MethodPost, path, body, nil)
}

// Stop requests the end of the session, and does not wait for it.
func (c *Client) Stop(ctx context.Context) error {
	return c.ask(ctx, http.MethodPost, "/api/stop", struct{}{}, nil)
}

// Logs returns a stream of log lines; query is the query of GET /api/logs. The stream ends when ctx is done, and must be
// closed.
func (c *Client) Logs(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	resp, err := c.send(ctx, http.MethodGet, "/api/logs?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Events returns a stream of events, one JSON object per line; query is the query of GET /api/events. The stream ends when
// ctx is done, and must be closed.
func (c *Client) Events(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	resp, err := c.send(ctx, http.MethodGet, "/api/events?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// The documents that Dump returns, of type api.EngineDump, api.LogDump, api.View and api.Snapshot. They may be long.
const (
	DumpEngine   = "/api/dump/engine"
	DumpLogstore = "/api/dump/logstore"
	DumpView     = "/api/view"
	DumpSnapshot = "/api/snapshot"
	// DumpState is an api.Snapshot without logs and events.
	DumpState = "/api/snapshot?logs=false"
	// DumpFollowed is an api.Snapshot and then, until the session ends, each api.SnapshotChange.
	DumpFollowed = "/api/snapshot/follow"
)

// Dump returns a document while the session writes it, as fast as it is read. It ends when ctx is done, and must be closed.
func (c *Client) Dump(ctx context.Context, document string) (io.ReadCloser, error) {
	resp, err := c.send(ctx, http.MethodGet, document, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// ask sends a request that the session answers without further work, and reads its response.
func (c *Client) ask(ctx context.Context, method, path string, body, answer any) error {
	return c.askWithin(ctx, timeout, method, path, body, answer)
}

// askWithin is ask for a request whose answer may take up to limit.
func (c *Client) askWithin(ctx context.Context, limit time.Duration, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	resp, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if answer == nil {
		_, _ = io.Copy(io.Discard, resp.Body) // else the connection is of no use any more
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		return fmt.Errorf("read the answer of %s: %w", c.Where(), err)
	}
	return nil
}

// send sends a request and returns its response if that is a success.
func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	if err := c.knock(ctx); err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.silent(ctx, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.refused(resp)
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		content = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base().String()+path, content)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return req, nil
}

// silent returns the error for a session that does not respond.
func (c *Client) silent(ctx context.Context, err error) error {
	if ctx.Err() == context.Canceled {
		return ctx.Err()
	}
	if _, said := problem.Of(err); said && c.far {
		return err
	}
	if c.Session.Name == "" {
		return problem.Wrap(err, "no session answers at "+c.base().Host,
			"start one with hone up, or select one with --session, --port and --host, or TILT_PORT and TILT_HOST; hone sessions lists the running ones")
	}
	if c.far {
		return problem.Wrap(err, c.Where()+" does not answer", "on its machine, hone sessions shows its state")
	}
	return problem.Wrap(err, fmt.Sprintf("session %s does not answer", c.Session.Name),
		fmt.Sprintf("end it: kill %d, and if that does not help: kill -9 %d; the next hone cleans up after it", c.Session.PID, c.Session.PID))
}

// unknownPath begins the answer of a session to a path that it does not have.
const unknownPath = "unknown path"

// refused returns the error for a response that is not a success.
func (c *Client) refused(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxFailure))
	var failure api.Failure
	if json.Unmarshal(text, &failure) != nil || failure.Error == "" {
		failure.Error = resp.Status
		if t := bytes.TrimSpace(text); len(t) > 0 {
			failure.Error += ": " + string(t)
		}
	}
	if resp.StatusCode == http.StatusUnauthorized {
		if c.token != "" {
			return problem.New(fmt.Sprintf("%s does not know the token: it has ended, or is one of another session", c.Where()),
				"set HONE_TOKEN to another one, which hone token create prints; for your own session on this machine, unset it")
		}
		return problem.New(fmt.Sprintf("%s requires a token", c.Where()),
			"for your own session on this machine, use --session NAME; for another, set HONE_TOKEN to one that hone token create prints there, or to the content of its file NAME.token")
	}
	if resp.StatusCode == http.StatusNotFound && strings.HasPrefix(failure.Error, unknownPath) {
		return problem.New(fmt.Sprintf("%s runs another version of hone, which has no %s", c.Where(), resp.Request.URL.Path),
			"start it again with this version: hone stop, then hone up")
	}
	if failure.Mend != "" {
		return problem.New(c.Where()+": "+failure.Error, failure.Mend)
	}
	return fmt.Errorf("%s: %s", c.Where(), failure.Error)
}
