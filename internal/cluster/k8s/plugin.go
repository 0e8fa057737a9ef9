package k8s

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// A kubeconfig may name a program that has the credentials. client-go runs it, gives it this process's standard error, and
// waits for it even after the request has ended. So hone runs it through a shell that sends its messages to a pipe, and does
// not wait longer than the request does.

// pluginMessages bounds the lines of a credential plugin that are kept for an error.
const pluginMessages = 5

// plugin reads the messages of a client's credential plugin. The zero value reads nothing.
type plugin struct {
	read, write *os.File
	done        chan struct{}

	mu   sync.Mutex        // guards all below
	tell func(text string) // nil without a listener
	said []string          // the newest lines
}

// hear makes the configuration run its plugin with its messages sent to p instead of the terminal. On systems where a process
// cannot open another's pipe, and where the program does not exist, the configuration stays as it is.
func (p *plugin) hear(config *rest.Config) {
	provider := config.ExecProvider
	if provider == nil || runtime.GOOS != "linux" {
		return
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return
	}
	if _, err := exec.LookPath(provider.Command); err != nil {
		return // client-go says so, with the hint of the kubeconfig
	}
	if p.write == nil && !p.open() {
		return
	}
	provider = provider.DeepCopy() // the kubeconfig has it, too
	said := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), p.write.Fd())
	provider.Args = slices.Concat([]string{"-c", `exec "$@" 2>"$0"`, said, provider.Command}, provider.Args)
	provider.Command = shell
	config.ExecProvider = provider
}

func (p *plugin) open() bool {
	read, write, err := os.Pipe()
	if err != nil {
		return false
	}
	p.read, p.write, p.done = read, write, make(chan struct{})
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(read)
		for lines.Scan() {
			p.take(strings.TrimSpace(lines.Text()))
		}
	}()
	return true
}

func (p *plugin) take(line string) {
	if line == "" {
		return
	}
	p.mu.Lock()
	p.said = append(p.said, line)
	p.said = slices.Clone(p.said[max(0, len(p.said)-pluginMessages):])
	tell := p.tell
	p.mu.Unlock()
	if tell != nil {
		tell("credential plugin: " + line)
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

func (p *plugin) close() {
	if p.write == nil {
		return
	}
	_ = p.write.Close()
	_ = p.read.Close() // a plugin that still runs does not keep the goroutine
	<-p.done
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
