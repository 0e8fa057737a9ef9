package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

// Options configure a server.
type Options struct {
	// Version is sent to the editor.
	Version string
	// Extensions finds the extensions that "ext://" names; nil means none.
	Extensions Extensions
	// Fault receives a panic in the handling of a message, with the stack; nil discards it. The server keeps running.
	Fault func(text string)
}

// Extensions finds extensions on this machine, without the network. Its methods are called from one goroutine.
type Extensions interface {
	// Names returns the names, without "ext://", of the extensions that can be loaded without a declaration.
	Names() []string
	// Find returns the path of an extension's Tiltfile, or its text if it is part of hone and has no file. The error is
	// fs.ErrNotExist for an extension that is not on this machine.
	Find(at extension.Location) (path, text string, err error)
	// Unpack returns the path of the Tiltfile of an extension that is part of hone, and writes the file if there is none.
	Unpack(at extension.Location) (path string, err error)
	// Unpacked reports whether a file was written by Unpack. Such files may use names that others cannot.
	Unpacked(path string) bool
}

// ErrNoShutdown means that the editor disconnected without a shutdown request.
var ErrNoShutdown = errors.New("the editor ended the connection without a shutdown")

// server is one connection. It is used by one goroutine.
type server struct {
	opts  Options
	codec *codec
	// files are the documents and the files that they load.
	files workspace
	// encoding is the editor's unit of characters; snippets is set if the editor supports snippets.
	encoding    encoding
	snippets    bool
	initialized bool
	shutdown    bool
}

// Serve serves an editor until it sends exit, its stream ends, or ctx is cancelled; then it closes in. It returns nil
// after an orderly shutdown, ErrNoShutdown without one, and the cause of ctx after a cancellation. Closing in must
// unblock its Read.
func Serve(ctx context.Context, in io.ReadCloser, out io.Writer, o Options) error {
	s := &server{opts: o, codec: newCodec(in, out), encoding: utf16Units, files: newWorkspace(o.Extensions)}
	bodies, failed := make(chan []byte), make(chan error, 1)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			body, err := s.codec.read()
			if err != nil {
				failed <- err
				return
			}
			select {
			case bodies <- body:
			case <-stop:
				return
			}
		}
	}()
	err := s.loop(ctx, bodies, failed)
	close(stop)
	_ = in.Close()
	<-done
	return err
}

// errExit ends the loop at the editor's request.
var errExit = errors.New("exit")

func (s *server) loop(ctx context.Context, bodies <-chan []byte, failed <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-failed:
			switch {
			case !errors.Is(err, io.EOF):
				return fmt.Errorf("serve the editor: %w", err)
			case !s.shutdown:
				return ErrNoShutdown
			}
			return nil
		case body := <-bodies:
			err := s.receive(body)
			switch {
			case errors.Is(err, errExit) && !s.shutdown:
				return ErrNoShutdown
			case errors.Is(err, errExit):
				return nil
			case err != nil:
				return fmt.Errorf("serve the editor: %w", err)
			}
		}
	}
}

// receive handles one message.
func (s *server) receive(body []byte) error {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return s.answer(json.RawMessage("null"), nil, &responseError{codeParse, err.Error()})
	}
	if m.Method == "exit" {
		return errExit
	}
	if m.Method == "" {
		if m.ID != nil && m.Params == nil {
			return nil // a response, but the server makes no requests
		}
		return s.answer(json.RawMessage("null"), nil, &responseError{codeInvalidRequest, "there is no method"})
	}
	result, err := s.handle(m)
	if m.ID == nil {
		var refused *responseError
		if errors.As(err, &refused) {
			return nil // notifications have no response
		}
		return err
	}
	return s.answer(*m.ID, result, err)
}

// answer sends the response to a request. An error other than a *responseError ends the connection.
func (s *server) answer(id json.RawMessage, result any, err error) error {
	r := response{Version: "2.0", ID: id}
	if err != nil {
		if !errors.As(err, &r.Error) {
			return err
		}
		return s.codec.write(r)
	}
	var encodeErr error
	if r.Result, encodeErr = json.Marshal(result); encodeErr != nil {
		return fmt.Errorf("encode a result: %w", encodeErr)
	}
	return s.codec.write(r)
}

// notify sends a notification.
func (s *server) notify(method string, params any) error {
	return s.codec.write(notification{"2.0", method, params})
}

// handle runs the handler of a message. A panic is returned as an error of that message.
func (s *server) handle(m message) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			if s.opts.Fault != nil {
				s.opts.Fault(fmt.Sprintf("%s: %v\n%s", m.Method, p, debug.Stack()))
			}
			result, err = nil, &responseError{codeInternal, fmt.Sprintf("%s: %v", m.Method, p)}
		}
	}()
	switch {
	case m.Method == "initialize":
		return s.initialize(m.Params)
	case !s.initialized:
		return nil, &responseError{codeNotInitialized, "the first message must be initialize"}
	case s.shutdown:
		return nil, &responseError{codeInvalidRequest, "the server is shut down"}
	case m.Method == "shutdown":
		s.shutdown = true
		return nil, nil
	}
	h, ok := handlers[m.Method]
	if !ok {
		return nil, &responseError{codeUnknownMethod, fmt.Sprintf("method %q is not supported", m.Method)}
	}
	return h(s, m.Params)
}

// handlers handle the messages of an initialized connection.
var handlers = map[string]func(*server, json.RawMessage) (any, error){
	"initialized":                 func(*server, json.RawMessage) (any, error) { return nil, nil },
	"textDocument/didOpen":        with((*server).didOpen),
	"textDocument/didChange":      with((*server).didChange),
	"textDocument/didClose":       with((*server).didClose),
	"textDocument/completion":     with((*server).completion),
	"completionItem/resolve":      with((*server).resolve),
	"textDocument/hover":          with((*server).hover),
	"textDocument/signatureHelp":  with((*server).signatureHelp),
	"textDocument/definition":     with((*server).definition),
	"textDocument/documentSymbol": with((*server).documentSymbol),
	"textDocument/formatting":     with((*server).formatting),
}

// with makes a handler from a function that takes decoded parameters.
func with[P any](fn func(*server, P) (any, error)) func(*server, json.RawMessage) (any, error) {
	return func(s *server, raw json.RawMessage) (any, error) {
		var params P
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, &responseError{codeInvalidParams, err.Error()}
		}
		return fn(s, params)
	}
}

func (s *server) initialize(raw json.RawMessage) (any, error) {
	if s.initialized {
		return nil, &responseError{codeInvalidRequest, "the connection is already initialized"}
	}
	var p initializeParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, &responseError{codeInvalidParams, err.Error()}
	}
	s.initialized = true
	for _, e := range p.Capabilities.General.PositionEncodings {
		if encoding(e) == utf8Units {
			s.encoding = utf8Units
		}
	}
	s.snippets = p.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport
	return initializeResult{
		Capabilities: serverCapabilities{
			PositionEncoding:       string(s.encoding),
			TextDocumentSync:       syncOptions{OpenClose: true, Change: syncIncremental},
			CompletionProvider:     completionOptions{TriggerCharacters: []string{".", "/", "\"", "'"}, ResolveProvider: true},
			SignatureHelpProvider:  signatureOptions{TriggerCharacters: []string{"(", ","}},
			HoverProvider:          true,
			DefinitionProvider:     true,
			DocumentSymbolProvider: true,
			FormattingProvider:     true,
		},
		ServerInfo: serverInfo{Name: "hone", Version: s.opts.Version},
	}, nil
}

func (s *server) didOpen(p didOpenParams) (any, error) {
	t := p.TextDocument
	d := newDocument(t.URI, pathOf(t.URI), t.Text)
	d.version = t.Version
	d.unpacked = s.opts.Extensions != nil && s.opts.Extensions.Unpacked(d.path)
	s.files.open[t.URI] = d
	return nil, s.publish(d)
}

func (s *server) didChange(p didChangeParams) (any, error) {
	d, err := s.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	for _, c := range p.ContentChanges {
		d.apply(c, s.encoding)
	}
	d.version = p.TextDocument.Version
	return nil, s.publish(d)
}

func (s *server) didClose(p documentParams) (any, error) {
	delete(s.files.open, p.TextDocument.URI)
	return nil, s.notify("textDocument/publishDiagnostics", publishDiagnostics{URI: p.TextDocument.URI, Diagnostics: []diagnostic{}})
}

// document returns an open document.
func (s *server) document(uri string) (*document, error) {
	d := s.files.open[uri]
	if d == nil {
		return nil, &responseError{codeInvalidParams, fmt.Sprintf("%q is not open", uri)}
	}
	return d, nil
}

// place is a position in an open document.
type place struct {
	*server
	doc *document
	o   *outline
	at  int
}

func (s *server) place(p positionParams) (place, error) {
	d, err := s.document(p.TextDocument.URI)
	if err != nil {
		return place{}, err
	}
	s.files.link(d)
	return place{s, d, d.outline(), d.offset(p.Position, s.encoding)}, nil
}

// span is a range of the document.
func (p place) span(from, to int) span { return p.doc.span(from, to, p.encoding) }
