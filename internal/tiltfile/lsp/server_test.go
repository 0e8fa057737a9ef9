package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLifecycle(t *testing.T) {
	c := start(t, Options{Version: "1.2.3"})
	if err := c.call("textDocument/hover", positionParams{}, nil); err == nil || err.Code != codeNotInitialized {
		t.Errorf("before initialize: %v", err)
	}
	got := c.initialize("{}")
	if got.ServerInfo != (serverInfo{"hone", "1.2.3"}) || got.Capabilities.PositionEncoding != "utf-16" ||
		got.Capabilities.TextDocumentSync != (syncOptions{true, syncIncremental}) {
		t.Errorf("%+v", got)
	}
	if err := c.call("initialize", map[string]any{}, nil); err == nil || err.Code != codeInvalidRequest {
		t.Errorf("a second initialize: %v", err)
	}
	if err := c.call("textDocument/rename", map[string]any{}, nil); err == nil || err.Code != codeUnknownMethod {
		t.Errorf("an unknown request: %v", err)
	}
	if err := c.call("textDocument/hover", positionParams{TextDocument: documentID{"file:///nowhere"}}, nil); err == nil || err.Code != codeInvalidParams {
		t.Errorf("a document that is not open: %v", err)
	}
	if err := c.call("textDocument/hover", []int{1}, nil); err == nil || err.Code != codeInvalidParams {
		t.Errorf("parameters of the wrong shape: %v", err)
	}
	c.notify("$/setTrace", map[string]any{"value": "off"})
	c.notify("textDocument/didChange", []int{1})
	if err := c.call("shutdown", nil, nil); err != nil {
		t.Error(err)
	}
	if err := c.call("textDocument/hover", positionParams{}, nil); err == nil || err.Code != codeInvalidRequest {
		t.Errorf("after shutdown: %v", err)
	}
	c.notify("exit", nil)
	if err := c.wait(); err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestUngracefulEnds(t *testing.T) {
	t.Run("exit without shutdown", func(t *testing.T) {
		c := start(t, Options{})
		c.notify("exit", nil)
		if err := c.wait(); !errors.Is(err, ErrNoShutdown) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the stream ends", func(t *testing.T) {
		c := start(t, Options{})
		c.initialize("{}")
		_ = c.in.Close()
		if err := c.wait(); !errors.Is(err, ErrNoShutdown) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the stream ends after shutdown", func(t *testing.T) {
		c := start(t, Options{})
		c.initialize("{}")
		_ = c.call("shutdown", nil, nil)
		_ = c.in.Close()
		if err := c.wait(); err != nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("something else speaks", func(t *testing.T) {
		c := start(t, Options{})
		_, _ = io.WriteString(c.in, "GET / HTTP/1.1\r\n")
		if err := c.wait(); !errors.Is(err, errFraming) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		in, w := io.Pipe()
		cancel()
		if err := Serve(ctx, in, io.Discard, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := w.Write([]byte("x")); err == nil {
			t.Error("the input is still open")
		}
	})
}

func TestBrokenMessages(t *testing.T) {
	c := start(t, Options{})
	for body, want := range map[string]int{"{": codeParse, "[]": codeParse, `{"jsonrpc":"2.0","params":{}}`: codeInvalidRequest} {
		c.send(json.RawMessage(`"` + "x" + `"`))
		if r := c.receive(); r.Error == nil || r.Error.Code != codeParse {
			t.Errorf("text: %+v", r.Error)
		}
		_, _ = io.WriteString(c.in, "Content-Length: "+itoa(len(body))+"\r\nContent-Type: x\r\n\r\n"+body)
		if r := c.receive(); r.Error == nil || r.Error.Code != want {
			t.Errorf("%s: got %+v, want %d", body, r.Error, want)
		}
	}
	c.send(json.RawMessage(`{"jsonrpc":"2.0","id":7,"result":null}`))
	c.initialize("{}")
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// TestPanicIsAnAnswer checks that a panic fails one request, not the connection.
func TestPanicIsAnAnswer(t *testing.T) {
	var told string
	s := &server{initialized: true, opts: Options{Fault: func(text string) { told = text }}}
	handlers["test/panic"] = func(*server, json.RawMessage) (any, error) { panic("oops") }
	t.Cleanup(func() { delete(handlers, "test/panic") })
	_, err := s.handle(message{Method: "test/panic"})
	var r *responseError
	if !errors.As(err, &r) || r.Code != codeInternal || !strings.Contains(told, "oops") {
		t.Errorf("got %v, told %q", err, told)
	}
}

func TestChanges(t *testing.T) {
	for name, enc := range map[string]encoding{"utf-16": utf16Units, "utf-8": utf8Units} {
		t.Run(name, func(t *testing.T) {
			c := start(t, Options{})
			if got := c.initialize(`{"general":{"positionEncodings":["` + name + `"]}}`); got.Capabilities.PositionEncoding != name {
				t.Errorf("the encoding is %s", got.Capabilities.PositionEncoding)
			}
			const uri = "untitled:Tiltfile"
			text := "x = '🐳ß'; y = 1\r\nprint(z)\n"
			if got := c.open(uri, text); len(got) != 1 || got[0].Range.Start != (position{1, 6}) {
				t.Errorf("got %+v", got)
			}
			d := newDocument(uri, "", text)
			z := strings.Index(text, "z")
			change := contentChange{Range: &span{d.position(z, enc), d.position(z+1, enc)}, Text: "why"}
			c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 2}, "contentChanges": []contentChange{change}})
			if got := c.diagnostics(uri, 2); len(got) != 1 || !strings.Contains(got[0].Message, "why") {
				t.Errorf("got %+v", got)
			}
			y := strings.Index(text, "y")
			changes := []contentChange{
				{Range: &span{d.position(y, enc), d.position(y+1, enc)}, Text: "why"},
				{Range: &span{position{99, 0}, position{99, 9}}, Text: "print(x)\n"},
			}
			c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 3}, "contentChanges": changes})
			if got := c.diagnostics(uri, 3); len(got) != 0 {
				t.Errorf("got %+v", got)
			}
			c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 4}, "contentChanges": []map[string]any{{"text": "("}}})
			if got := c.diagnostics(uri, 4); len(got) != 1 {
				t.Errorf("got %+v", got)
			}
			c.notify("textDocument/didClose", documentParams{documentID{uri}})
			if got := c.diagnostics(uri, 0); len(got) != 0 {
				t.Errorf("after closing: %+v", got)
			}
			if err := c.quit(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOpenFileCounts checks that a loaded file is taken from the editor if it is open there.
func TestOpenFileCounts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/lib.star", "def saved(): pass\n")
	c := start(t, Options{})
	c.initialize("{}")
	main, lib := uriOf(dir+"/Tiltfile"), uriOf(dir+"/lib.star")
	if got := c.open(main, "load('lib.star', 'saved')\n"); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	c.open(lib, "def typed(): pass\n")
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": main, "version": 2}, "contentChanges": []map[string]any{{"text": "load('lib.star', 'typed')\n"}}})
	if got := c.diagnostics(main, 2); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	// A file that changes on the disk is read again.
	c.notify("textDocument/didClose", documentParams{documentID{lib}})
	c.diagnostics(lib, 0)
	write(t, dir+"/lib.star", "def saved_later(): pass\n")
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": main, "version": 3}, "contentChanges": []map[string]any{{"text": "load('lib.star', 'saved_later')\n"}}})
	if got := c.diagnostics(main, 3); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestResolve(t *testing.T) {
	c := start(t, Options{})
	c.initialize("{}")
	for tag, want := range map[completionTag]string{{Name: "docker_build"}: "docker_build(", {Name: "upper", Of: "str"}: "str.upper(", {Name: "nothing"}: ""} {
		var got completionItem
		if err := c.call("completionItem/resolve", completionItem{Label: "x", Data: &tag}, &got); err != nil {
			t.Fatal(err)
		}
		text := ""
		if got.Documentation != nil {
			text = got.Documentation.Value
		}
		if (want == "") != (text == "") || !strings.Contains(text, want) {
			t.Errorf("%v: got %q", tag, text)
		}
	}
}

func TestCodec(t *testing.T) {
	for name, tc := range map[string]struct{ in, body, fault string }{
		"plain":          {in: "Content-Length: 2\r\n\r\n{}", body: "{}"},
		"line feeds":     {in: "content-length:2\nX: y\n\n{}", body: "{}"},
		"empty":          {in: "Content-Length: 0\r\n\r\n", body: ""},
		"nothing":        {in: "", fault: "EOF"},
		"cut header":     {in: "Content-Len", fault: "unexpected EOF"},
		"cut body":       {in: "Content-Length: 9\r\n\r\n{}", fault: "unexpected EOF"},
		"no length":      {in: "X: y\r\n\r\n", fault: "no Content-Length"},
		"bad length":     {in: "Content-Length: x\r\n\r\n", fault: "is not a valid length"},
		"negative":       {in: "Content-Length: -1\r\n\r\n", fault: "is not a valid length"},
		"too long":       {in: "Content-Length: 99999999999\r\n\r\n", fault: "is not a valid length"},
		"no header":      {in: "hello\r\n", fault: "is not a header"},
		"endless line":   {in: strings.Repeat("x", longestHeader+1), fault: "longer than"},
		"endless header": {in: strings.Repeat("X: y\r\n", mostHeaderLines+2), fault: "more than"},
	} {
		body, err := newCodec(strings.NewReader(tc.in), nil).read()
		switch {
		case tc.fault != "" && (err == nil || !strings.Contains(err.Error(), tc.fault)):
			t.Errorf("%s: got %v, want %q", name, err, tc.fault)
		case tc.fault == "" && (err != nil || string(body) != tc.body):
			t.Errorf("%s: got %q, %v", name, body, err)
		}
	}
}

func FuzzCodec(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 5\r\n\r\n{}"))
	f.Add([]byte("\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c := newCodec(bytes.NewReader(in), io.Discard)
		for {
			body, err := c.read()
			if err != nil {
				return
			}
			var out bytes.Buffer
			if err := newCodec(nil, &out).write(json.RawMessage(mustJSON(t, body))); err != nil {
				t.Fatal(err)
			}
			back, err := newCodec(&out, nil).read()
			if err != nil || !bytes.Equal(back, mustJSON(t, body)) {
				t.Fatalf("%q became %q, %v", body, back, err)
			}
		}
	})
}

func mustJSON(t *testing.T, body []byte) []byte {
	t.Helper()
	out, err := json.Marshal(string(body))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPositions(t *testing.T) {
	d := newDocument("", "", "aß🐳b\r\n\nlast")
	for at := 0; at <= len(d.text); at++ {
		if at > 0 && at < len(d.text) && d.text[at]&0xC0 == 0x80 {
			continue // within a character
		}
		for _, e := range []encoding{utf8Units, utf16Units} {
			if got := d.offset(d.position(at, e), e); got != at && d.text[at] != '\n' {
				t.Errorf("%s: %d became %d", e, at, got)
			}
		}
	}
	if diff := cmp.Diff(position{0, 5}, d.position(strings.Index(d.text, "\r"), utf16Units)); diff != "" {
		t.Error(diff)
	}
	for _, p := range []position{{-1, 0}, {0, 99}, {99, 99}, {0, -1}} {
		if at := d.offset(p, utf16Units); at < 0 || at > len(d.text) {
			t.Errorf("%v is at %d", p, at)
		}
	}
}

func TestURIs(t *testing.T) {
	for _, path := range []string{"/a/b c/Tiltfile", "/größe/%20", "/x#y?z"} {
		if got := pathOf(uriOf(path)); got != path {
			t.Errorf("%s became %s", path, got)
		}
	}
	for _, uri := range []string{"untitled:1", "http://a/b", "%zz", ""} {
		if got := pathOf(uri); got != "" {
			t.Errorf("%q means %s", uri, got)
		}
	}
}
