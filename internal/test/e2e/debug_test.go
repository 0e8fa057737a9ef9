package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// debugged are programs under a debugger, as web/docs/debuggers.md recommends it. $PORT0 leads to the program, $PORT1 to the
// debugger. Each answers a request with the text that its source has. stop waits until a debugger has stopped the program at the
// line, and returns a function that lets it continue.
var debugged = []struct {
	name, needs, files string
	// source is the file with the text, and line the line of the breakpoint.
	source string
	line   int
	stop   func(d *debuggee) (goOn func())
}{
	{name: "go", source: "main.go", line: 9, stop: stopByDAP, files: `
-- Tiltfile --
local_resource('compile',
    'CGO_ENABLED=0 GOOS=linux GOFLAGS= go build -gcflags "all=-N -l" -o server.new . && mkdir -p build && mv server.new build/server',
    deps=['main.go', 'go.mod'])
local_resource('dlv', 'mkdir -p build && CGO_ENABLED=0 GOOS=linux GOBIN=$PWD/build GOFLAGS= go install -ldflags="-s -w" github.com/go-delve/delve/cmd/dlv@v1.26.2', allow_parallel=True)
docker_build('app', 'build', dockerfile='Dockerfile',
    entrypoint=['/dlv', 'exec', '/server', '--headless', '--listen=:40000', '--api-version=2', '--accept-multiclient', '--continue'],
    live_update=[sync('build/server', '/server'), restart_process()])
k8s_yaml('app.yaml')
k8s_resource('app', port_forwards=['$PORT0:8080', '$PORT1:40000'], resource_deps=['compile', 'dlv'])
-- Dockerfile --
FROM busybox
COPY dlv /dlv
COPY server /server
-- go.mod --
module example.com/app

go 1.25
-- main.go --
package main

import (
	"io"
	"net/http"
)

func answer(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "one")
}

func main() { _ = http.ListenAndServe(":8080", http.HandlerFunc(answer)) }
`},
	{name: "python", source: "app.py", line: 9, stop: stopByDAP, files: `
-- Tiltfile --
docker_build('app', '.', only=['app.py'], entrypoint=['python3', '-Xfrozen_modules=off', '-m', 'debugpy', '--listen', '0.0.0.0:5678', 'app.py'],
    live_update=[sync('app.py', '/app/app.py'), restart_process()])
k8s_yaml('app.yaml')
k8s_resource('app', port_forwards=['$PORT0:8080', '$PORT1:5678'])
-- Dockerfile --
FROM python:3.13-slim
WORKDIR /app
COPY app.py .
-- app.py --
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        text = b"one"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text)


HTTPServer(("", 8080), Handler).serve_forever()
`},
	{name: "node", needs: "node", source: "server.js", line: 2, stop: stopByNode, files: `
-- Tiltfile --
docker_build('app', '.', only=['server.js'], entrypoint=['node', '--inspect=0.0.0.0:9229', 'server.js'],
    live_update=[sync('server.js', '/app/server.js'), restart_process()])
k8s_yaml('app.yaml')
k8s_resource('app', port_forwards=['$PORT0:8080', '$PORT1:9229'])
-- Dockerfile --
FROM node:22-slim
WORKDIR /app
COPY server.js .
-- server.js --
function answer(request, response) {
  response.end("one");
}
require("node:http").createServer(answer).listen(8080);
`},
	{name: "jvm", needs: "jdb", source: "src/Hello.java", line: 9, stop: stopByJDB, files: `
-- Tiltfile --
local_resource('compile', 'javac -g -d build src/*.java', deps=['src'])
docker_build('app', 'build', dockerfile='Dockerfile',
    entrypoint=['java', '-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=*:5005', '-cp', '/app', 'Hello'],
    live_update=[sync('build', '/app'), restart_process()])
k8s_yaml('app.yaml')
k8s_resource('app', port_forwards=['$PORT0:8080', '$PORT1:5005'], resource_deps=['compile'])
-- Dockerfile --
FROM eclipse-temurin:17-jre
COPY . /app
-- src/Hello.java --
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Hello {
  static void answer(HttpExchange exchange) throws java.io.IOException {
    byte[] text = "one".getBytes();
    exchange.sendResponseHeaders(200, text.length);
    exchange.getResponseBody().write(text);
    exchange.close();
  }

  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(8080), 0);
    server.createContext("/", Hello::answer);
    server.start();
  }
}
`},
}

// TestDebuggers: a debugger in a container stops at a breakpoint, and after a live update the next one stops at the same line of the
// new program.
func TestDebuggers(t *testing.T) {
	for _, tc := range debugged {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.needs != "" {
				if _, err := exec.LookPath(tc.needs); err != nil {
					t.Skip("needs the program " + tc.needs)
				}
			}
			p := newProject(t, tc.files+"-- app.yaml --\n"+deployment("app", `
terminationGracePeriodSeconds: 0
containers:
- {name: app, image: app}
`))
			s := p.up()
			d := &debuggee{t: t, dir: p.dir, name: tc.name, source: tc.source, line: tc.line, web: p.ports[0], debugger: p.ports[1]}
			s.serves(d.web, "/", "one")
			pod := s.onlyPod("app")
			tc.stop(d)()
			s.serves(d.web, "/", "one")
			p.replace(tc.source, "one", "two")
			s.serves(d.web, "/", "two")
			tc.stop(d)()
			s.serves(d.web, "/", "two")
			if now := s.onlyPod("app"); now != pod {
				t.Errorf("the pod is another one: %s, was %s", now, pod)
			}
		})
	}
}

// onlyPod returns the name of the only pod of a resource.
func (s *session) onlyPod(name string) string {
	s.p.t.Helper()
	r := s.becomes(name, "to have one pod", func(r api.Resource) bool { return len(r.Pods) == 1 })
	return r.Pods[0].Name
}

// debuggee is a program under a debugger.
type debuggee struct {
	t *testing.T
	// dir is the folder of the project.
	dir, name, source string
	line              int
	// web and debugger are ports.
	web, debugger int
}

// request sends a request, which will be held at the breakpoint, and returns a function that waits for the answer.
func (d *debuggee) request() (answered func()) {
	done := make(chan error, 1)
	go func() {
		r, err := (&http.Client{Timeout: patience}).Get(fmt.Sprintf("http://localhost:%d/", d.web))
		if err == nil {
			_, err = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
		}
		done <- err
	}()
	return func() {
		d.t.Helper()
		if err := <-done; err != nil {
			d.t.Errorf("the request that was held: %v", err)
		}
	}
}

// stopByDAP attaches by the Debug Adapter Protocol, as editors do, and waits until the program stops at the line. The result lets
// the program continue, and detaches.
func stopByDAP(d *debuggee) func() {
	d.t.Helper()
	var c net.Conn
	k8stest.Eventually(d.t, "the debugger to take a connection", func() (err error) {
		c, err = net.DialTimeout("tcp", fmt.Sprintf("localhost:%d", d.debugger), time.Second)
		return err
	})
	_ = c.SetDeadline(time.Now().Add(patience))
	in, seq := bufio.NewReader(c), 0
	send := func(command string, arguments any) {
		d.t.Helper()
		seq++
		raw, err := json.Marshal(map[string]any{"seq": seq, "type": "request", "command": command, "arguments": arguments})
		if err != nil {
			d.t.Fatal(err)
		}
		if err := dap.WriteBaseMessage(c, raw); err != nil {
			d.t.Fatalf("%s: %v", command, err)
		}
	}
	type message struct {
		Type, Event, Command, Message string
		Success                       bool
		Body                          json.RawMessage
	}
	await := func(what string, is func(message) bool) message {
		d.t.Helper()
		for {
			raw, err := dap.ReadBaseMessage(in)
			if err != nil {
				d.t.Fatalf("waiting for %s: %v", what, err)
			}
			var m message
			if err := json.Unmarshal(raw, &m); err != nil {
				d.t.Fatal(err)
			}
			if m.Type == "response" && !m.Success {
				d.t.Fatalf("%s fails: %s %s", m.Command, m.Message, m.Body)
			}
			if is(m) {
				return m
			}
		}
	}
	answer := func(command string) message {
		d.t.Helper()
		return await("the answer to "+command, func(m message) bool { return m.Type == "response" && m.Command == command })
	}
	event := func(name string) message {
		d.t.Helper()
		return await("the event "+name, func(m message) bool { return m.Type == "event" && m.Event == name })
	}
	path := "/app/" + d.source
	if d.name == "go" { // the compiler has recorded the path on this machine
		path = filepath.Join(d.dir, d.source)
	}
	send("initialize", map[string]any{"adapterID": d.name, "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path"})
	answer("initialize")
	send("attach", map[string]any{"mode": "remote", "justMyCode": false})
	event("initialized")
	send("setBreakpoints", map[string]any{"source": map[string]any{"path": path}, "breakpoints": []any{map[string]any{"line": d.line}}})
	answer("setBreakpoints")
	send("configurationDone", map[string]any{})
	answer("configurationDone")
	answered := d.request()
	var stopped struct{ ThreadID int }
	if err := json.Unmarshal(event("stopped").Body, &stopped); err != nil {
		d.t.Fatal(err)
	}
	send("stackTrace", map[string]any{"threadId": stopped.ThreadID, "levels": 1})
	var trace struct{ StackFrames []struct{ Line int } }
	if err := json.Unmarshal(answer("stackTrace").Body, &trace); err != nil || len(trace.StackFrames) == 0 || trace.StackFrames[0].Line != d.line {
		d.t.Errorf("stopped at %+v, not at line %d: %v", trace, d.line, err)
	}
	return func() {
		d.t.Helper()
		send("setBreakpoints", map[string]any{"source": map[string]any{"path": path}, "breakpoints": []any{}})
		answer("setBreakpoints")
		send("continue", map[string]any{"threadId": stopped.ThreadID})
		answer("continue")
		answered()
		send("disconnect", map[string]any{"terminateDebuggee": false})
		_ = c.Close()
	}
}

// prompt is a debugger of the command line.
type prompt struct {
	d     *debuggee
	stdin io.WriteCloser
	mu    sync.Mutex
	out   bytes.Buffer
	end   func()
}

func (p *prompt) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (d *debuggee) prompt(name string, args ...string) *prompt {
	d.t.Helper()
	c := exec.Command(name, args...)
	p := &prompt{d: d}
	c.Stdout, c.Stderr = p, p
	var err error
	if p.stdin, err = c.StdinPipe(); err != nil {
		d.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	p.end = sync.OnceFunc(func() {
		_ = p.stdin.Close()
		timer := time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		timer.Stop()
	})
	d.t.Cleanup(p.end)
	return p
}

// says waits for a text, and drops the output up to it.
func (p *prompt) says(pattern string) {
	p.d.t.Helper()
	k8stest.Eventually(p.d.t, "the debugger to say "+pattern, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		at := regexp.MustCompile(pattern).FindIndex(p.out.Bytes())
		if at == nil {
			return fmt.Errorf("it says %q", p.out.String())
		}
		p.out.Next(at[1])
		return nil
	})
}

func (p *prompt) types(line string) {
	p.d.t.Helper()
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		p.d.t.Fatal(err)
	}
}

func stopByNode(d *debuggee) func() {
	d.t.Helper()
	p := d.prompt("node", "inspect", fmt.Sprintf("localhost:%d", d.debugger))
	p.says(`debug> `)
	p.types(fmt.Sprintf("setBreakpoint('%s', %d)", d.source, d.line))
	p.says(`debug> `)
	answered := d.request()
	p.says(`break in .*` + regexp.QuoteMeta(d.source) + fmt.Sprintf(":%d", d.line))
	return func() {
		p.types(fmt.Sprintf("clearBreakpoint('%s', %d)", d.source, d.line))
		p.says(`debug> `)
		p.types("cont")
		answered()
		p.types(".exit")
		p.end()
	}
}

func stopByJDB(d *debuggee) func() {
	d.t.Helper()
	p := d.prompt("jdb", "-attach", fmt.Sprintf("localhost:%d", d.debugger))
	p.says(`Initializing jdb`)
	class := strings.TrimSuffix(filepath.Base(d.source), ".java")
	p.types(fmt.Sprintf("stop at %s:%d", class, d.line))
	p.says(`Set breakpoint`)
	answered := d.request()
	p.says(fmt.Sprintf(`Breakpoint hit: .*line=%d`, d.line))
	return func() {
		p.types(fmt.Sprintf("clear %s:%d", class, d.line))
		p.says(`Removed`)
		p.types("cont")
		answered()
		p.types("exit")
		p.end()
	}
}
