package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is an editor: it talks to a server over pipes.
type client struct {
	t      *testing.T
	codec  *codec
	in     *io.PipeWriter
	ended  chan error
	nextID int
	// notifications are those that arrived while the client waited for a response.
	notifications []message
	closing       sync.Once
}

// start runs a server until the end of the test.
func start(t *testing.T, o Options) *client {
	t.Helper()
	if o.Fault == nil {
		o.Fault = func(text string) { t.Error(text) }
	}
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	c := &client{t: t, codec: newCodec(out, in), in: in, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		err := Serve(ctx, toServer, fromServer, o)
		_ = fromServer.Close()
		c.ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		_ = in.Close()
		_ = out.Close()
		_ = c.wait() // a test that expects a result has waited for it
	})
	return c
}

// wait returns the result of Serve.
func (c *client) wait() (err error) {
	c.closing.Do(func() { err = <-c.ended })
	return err
}

// send writes a message as it is.
func (c *client) send(v any) {
	c.t.Helper()
	if err := c.codec.write(v); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	c.send(notification{"2.0", method, params})
}

// reply is a response as the client sees it.
type reply struct {
	ID     *json.RawMessage `json:"id"`
	Method string           `json:"method"`
	Params json.RawMessage  `json:"params"`
	Result json.RawMessage  `json:"result"`
	Error  *responseError   `json:"error"`
}

// receive returns the next message.
func (c *client) receive() reply {
	c.t.Helper()
	body, err := c.codec.read()
	if err != nil {
		c.t.Fatal(err)
	}
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		c.t.Fatalf("%v in %s", err, body)
	}
	return r
}

// call makes a request, and decodes its result if result is not nil. Notifications that arrive before are kept.
func (c *client) call(method string, params, result any) *responseError {
	c.t.Helper()
	c.nextID++
	id := json.RawMessage(fmt.Sprint(c.nextID))
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	for {
		r := c.receive()
		if r.Method != "" {
			c.notifications = append(c.notifications, message{Method: r.Method, Params: r.Params})
			continue
		}
		if r.ID == nil || string(*r.ID) != string(id) {
			c.t.Fatalf("got the response to %v, want that to %s", r.ID, id)
		}
		if r.Error == nil && result != nil {
			if err := json.Unmarshal(r.Result, result); err != nil {
				c.t.Fatalf("%s: %v in %s", method, err, r.Result)
			}
		}
		return r.Error
	}
}

// initialize begins the connection with some capabilities of the client.
func (c *client) initialize(capabilities string) initializeResult {
	c.t.Helper()
	var result initializeResult
	if err := c.call("initialize", map[string]any{"capabilities": json.RawMessage(capabilities)}, &result); err != nil {
		c.t.Fatal(err)
	}
	c.notify("initialized", struct{}{})
	return result
}

// open opens a document and returns its diagnostics.
func (c *client) open(uri, text string) []diagnostic {
	c.t.Helper()
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "tiltfile", "version": 1, "text": text}})
	return c.diagnostics(uri, 1)
}

// diagnostics returns the next published diagnostics.
func (c *client) diagnostics(uri string, version int) []diagnostic {
	c.t.Helper()
	r := c.receive()
	var p publishDiagnostics
	if err := json.Unmarshal(r.Params, &p); err != nil || r.Method != "textDocument/publishDiagnostics" {
		c.t.Fatalf("got %+v, want diagnostics: %v", r, err)
	}
	if p.URI != uri || p.Version != version {
		c.t.Fatalf("diagnostics of version %d of %s, want %d of %s", p.Version, p.URI, version, uri)
	}
	return p.Diagnostics
}

// quit ends the connection in order.
func (c *client) quit() error {
	c.t.Helper()
	if err := c.call("shutdown", nil, nil); err != nil {
		c.t.Fatal(err)
	}
	c.notify("exit", nil)
	return c.wait()
}
