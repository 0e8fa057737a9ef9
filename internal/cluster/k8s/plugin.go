package k8s

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/base/retry"
)

// A kubeconfig may name a program that has the credentials. client-go runs it, gives it this process's standard error, waits for it even
// after the request has ended, and never ends it. So hone is the program that client-go runs: its attendant, which runs the plugin in a
// group of its own (PluginMain). The attendant holds a connection to the client. The plugin's messages come over it, and when the client
// or its process is gone, the attendant ends the group. A request does not wait longer than its context allows; see impatient.

const (
	// pluginMessages bounds the lines of a credential plugin that are kept for an error.
	pluginMessages = 5
	// pluginPatience is the time that a plugin may take: the user may have to log in in a browser. pluginQuiet is the time after which
	// the user is told that hone waits for it.
	pluginPatience = 20 * pluginQuiet
	pluginQuiet    = answerTimeout
)

// plugin is the client's side of its credential plugin. The zero value has none.
type plugin struct {
	listener net.Listener // nil without a plugin that has an attendant
	token    string       // of the attendants
	handlers sync.WaitGroup

	mu     sync.Mutex             // guards all below
	name   string                 // of the program
	tell   func(text string)      // nil without a listener
	said   []string               // the newest lines
	runs   map[net.Conn]time.Time // the plugins that run, by the connections of their attendants, and since when
	ended  time.Time              // the end of the last one
	closed bool
}

// hear makes the configuration run its plugin with an attendant. Where the program does not exist, the configuration stays as it is.
func (p *plugin) hear(config *rest.Config) {
	provider := config.ExecProvider
	if provider == nil {
		return
	}
	p.mu.Lock()
	p.name = provider.Command
	p.mu.Unlock()
	if !attended.Load() {
		return
	}
	self, err := process.OwnProgram()
	if err != nil {
		return
	}
	if _, err := exec.LookPath(provider.Command); err != nil {
		return // client-go says so, with the hint of the kubeconfig
	}
	if p.listener == nil && !p.listen() {
		return
	}
	provider = provider.DeepCopy() // the kubeconfig has it, too
	provider.Env = append(provider.Env, api.ExecEnvVar{Name: pluginVariable, Value: p.listener.Addr().String() + " " + p.token})
	provider.Args = slices.Concat([]string{pluginArg, provider.Command}, provider.Args)
	provider.Command = self
	config.ExecProvider = provider
}

func (p *plugin) listen() bool {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false
	}
	p.listener, p.token, p.runs = l, rand.Text(), map[net.Conn]time.Time{}
	p.handlers.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.handlers.Go(func() { p.follow(conn) })
		}
	})
	return true
}

// follow takes the messages of an attendant until its plugin has ended.
func (p *plugin) follow(conn net.Conn) {
	defer conn.Close()
	if !p.begin(conn) {
		return
	}
	defer p.end(conn)
	_ = conn.SetReadDeadline(time.Now().Add(pluginQuiet))
	lines := bufio.NewScanner(conn)
	if !lines.Scan() || lines.Text() != p.token {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	slow := time.AfterFunc(pluginQuiet, func() {
		p.pass("waiting for the credential plugin " + p.title() + "; if it hangs, run it by hand, or log in again")
	})
	defer slow.Stop()
	for lines.Scan() {
		p.take(strings.TrimSpace(lines.Text()))
	}
}

// begin notes that a plugin runs. It returns false if the client is closed.
func (p *plugin) begin(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.runs[conn] = time.Now()
	}
	return !p.closed
}

func (p *plugin) end(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.runs, conn)
	p.ended = time.Now()
}

func (p *plugin) take(line string) {
	if line == "" {
		return
	}
	p.mu.Lock()
	p.said = append(p.said, line)
	p.said = slices.Clone(p.said[max(0, len(p.said)-pluginMessages):])
	p.mu.Unlock()
	p.pass("credential plugin: " + line)
}

func (p *plugin) pass(text string) {
	p.mu.Lock()
	tell := p.tell
	p.mu.Unlock()
	if tell != nil {
		tell(text)
	}
}

// HearPlugin passes the messages of the client's credential plugin to tell, beginning with its newest lines: they may explain
// how to log in.
func (c *Client) HearPlugin(tell func(text string)) {
	c.plugin.mu.Lock()
	said := c.plugin.said
	c.plugin.tell = tell
	c.plugin.mu.Unlock()
	for _, line := range said {
		tell("credential plugin: " + line)
	}
}

// words returns the newest lines of the plugin.
func (p *plugin) words() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.said, "\n")
}

// title returns the plugin's name.
func (p *plugin) title() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return filepath.Base(p.name)
}

// running returns the time for which a plugin has been running; zero if none does.
func (p *plugin) running() (d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, begun := range p.runs {
		d = max(d, time.Since(begun))
	}
	return d
}

// ranAfter reports whether a plugin runs, or has ended after t.
func (p *plugin) ranAfter(t time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.runs) > 0 || p.ended.After(t)
}

// timeout works like context.WithTimeout for a request: the time in which a plugin runs does not count, as long as it is not longer than
// pluginPatience. The cause of the context's end is then context.DeadlineExceeded.
func (p *plugin) timeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for since := time.Now(); retry.Sleep(ctx, d); since = time.Now() {
			if p.running() >= pluginPatience || !p.ranAfter(since) {
				cancel(context.DeadlineExceeded)
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// giveUp ends the plugins that have run for too long.
func (p *plugin) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn, begun := range p.runs {
		if time.Since(begun) >= pluginPatience {
			_ = conn.Close()
		}
	}
}

// problem returns the problem of a plugin, with its newest messages.
func (p *plugin) problem(cause error, where, trouble, again string) error {
	out := problem.Wrap(cause, "the credential plugin "+p.title()+" of "+where+" "+trouble, "Run it by hand or log in again, then check: "+again)
	out.Detail = p.words()
	return out
}

// failure returns the part of an error that is about the plugin. It names the program that the user knows, instead of the attendant.
func (p *plugin) failure(err error) error {
	_, text, _ := strings.Cut(err.Error(), "getting credentials: ")
	if self, failed := process.OwnProgram(); failed == nil {
		text = strings.ReplaceAll(text, "executable "+self+" ", "")
	}
	return errors.New(strings.TrimPrefix(text, "exec: "))
}

// close ends the plugins that still run.
func (p *plugin) close() {
	if p.listener == nil {
		return
	}
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for conn := range p.runs {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.handlers.Wait()
}

// impatient is a transport over one that may wait for a credential plugin: it returns when its request has ended.
type impatient struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = impatient{}

// WrappedRoundTripper returns the transport below.
func (t impatient) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t impatient) RoundTrip(req *http.Request) (*http.Response, error) {
	type answer struct {
		resp *http.Response
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		resp, err := t.next.RoundTrip(req)
		answers <- answer{resp, err}
	}()
	select {
	case a := <-answers:
		return a.resp, a.err
	case <-req.Context().Done():
		go func() {
			if a := <-answers; a.resp != nil {
				_ = a.resp.Body.Close()
			}
		}()
		return nil, req.Context().Err()
	}
}
