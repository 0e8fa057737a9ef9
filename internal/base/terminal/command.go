package terminal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
)

const (
	// numberSize is the size of the number in a frame of kind Command, Output or Ended.
	numberSize = 4
	// InTerminal is the number of a command that has the terminal.
	InTerminal = 0
	// MaxOutput bounds the output of a command that is kept, in bytes.
	MaxOutput = 1 << 20
)

// Request asks a client to run one of its user's own commands.
type Request struct {
	// Number distinguishes the requests of a connection. It is InTerminal for a command that has the terminal.
	Number uint32
	// Name is the name that the user has given to the command. Only the client knows which program it runs.
	Name string
	// Env are variables for the command, "NAME=value".
	Env []string
}

// encode returns the content of the frame, or an error if the other side would refuse it.
func (r Request) encode() ([]byte, error) {
	b := binary.BigEndian.AppendUint32(nil, r.Number)
	for i, s := range append([]string{r.Name}, r.Env...) {
		if i > 0 {
			b = append(b, 0)
		}
		b = append(b, s...)
	}
	if len(b) > maxContent {
		return nil, problem.New(fmt.Sprintf("the selection is too long for the command %s", words.Clip(r.Name, longest)), "select less, or a shorter line")
	}
	back, err := (Frame{Command, b}).Request()
	if err == nil && (back.Name != r.Name || len(back.Env) != len(r.Env)) {
		err = errors.New("a request for a command contains a NUL")
	}
	return b, err
}

// Request returns the request in a frame of kind Command, or an error for a frame that hone does not send.
func (f Frame) Request() (Request, error) {
	parts := strings.Split(string(f.Content[numberSize:]), "\x00")
	r := Request{Number: f.number(), Name: parts[0], Env: parts[1:]}
	if r.Name == "" || len(r.Name) > longestSettings {
		return r, fmt.Errorf("the name of a command is %d bytes long", len(r.Name))
	}
	for _, p := range parts {
		if !utf8.ValidString(p) {
			return r, fmt.Errorf("a request for a command is not UTF-8: %q", words.Clip(p, longest))
		}
	}
	for _, e := range r.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return r, fmt.Errorf("a request for a command has %q for a variable", words.Clip(e, longest))
		}
	}
	return r, nil
}

// Answer returns the number and the text in a frame of kind Output or Ended.
func (f Frame) Answer() (number uint32, text []byte) { return f.number(), f.Content[numberSize:] }

func (f Frame) number() uint32 { return binary.BigEndian.Uint32(f.Content) }

// SendCommand asks the client to run a command of its user's own. The client answers with SendDone if the command has the
// terminal, and else with SendEnded.
func (c *Conn) SendCommand(r Request) error {
	content, err := r.encode()
	if err != nil {
		return err
	}
	return c.Send(Command, content)
}

// SendEnded reports that a command without the terminal has ended, with its output, of which it sends MaxOutput bytes, and a
// description of the failure, if any.
func (c *Conn) SendEnded(number uint32, output, failure string) error {
	output = output[:min(len(output), MaxOutput)]
	for len(output) > 0 {
		n := min(len(output), maxContent-numberSize)
		if err := c.Send(Output, append(binary.BigEndian.AppendUint32(nil, number), output[:n]...)); err != nil {
			return err
		}
		output = output[n:]
	}
	return c.Send(Ended, append(binary.BigEndian.AppendUint32(nil, number), words.Clip(failure, maxFailure)...))
}

// backgroundRequest is a command that runs at the client, without the terminal.
type backgroundRequest struct {
	output bytes.Buffer
	// ended receives why it failed, or an empty text.
	ended chan string
}

// Command runs a command of the user's own in the terminal. Otherwise it is like Edit.
func (f *Remote) Command(ctx context.Context, name string, env []string) error {
	content, err := Request{InTerminal, name, env}.encode()
	if err != nil {
		return err // before the terminal is lent
	}
	return f.lend(ctx, func() error { return f.Send(Command, content) })
}

// Background runs a command of the user's own at the client, without the terminal, and returns its output: the first MaxOutput
// bytes. Another goroutine must read from the terminal meanwhile. If ctx ends first, the command continues until the
// connection ends.
func (f *Remote) Background(ctx context.Context, name string, env []string) (string, error) {
	e := &backgroundRequest{ended: make(chan string, 1)}
	f.mu.Lock()
	f.newest++
	number := f.newest
	if f.running == nil {
		f.running = map[uint32]*backgroundRequest{}
	}
	f.running[number] = e
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.running, number)
	}()
	if err := f.SendCommand(Request{number, name, env}); err != nil {
		return "", fmt.Errorf("ask the terminal for a command: %w", err)
	}
	select {
	case failure := <-e.ended:
		if failure != "" {
			return e.output.String(), errors.New(failure)
		}
		return e.output.String(), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// answered takes in a frame of kind Output or Ended. A frame that answers no request is dropped.
func (f *Remote) answered(frame Frame) {
	number, text := frame.Answer()
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.running[number]
	if e == nil {
		return
	}
	if frame.Kind == Output {
		e.output.Write(text[:min(len(text), MaxOutput-e.output.Len())])
		return
	}
	delete(f.running, number)
	e.ended <- strings.ToValidUTF8(words.Clip(string(text), maxFailure), "\uFFFD")
}
