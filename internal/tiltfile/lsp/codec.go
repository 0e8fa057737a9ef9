package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The limits of a message, so that a stream that is not LSP does not exhaust the memory.
const (
	mostHeaderLines = 32
	longestHeader   = 4 << 10
	longestMessage  = 64 << 20
)

// errFraming is the error of a stream whose message boundaries are lost.
var errFraming = errors.New("this is not the language server protocol")

// codec reads and writes framed messages: a header with the length, an empty line, and as many bytes of JSON.
type codec struct {
	r *bufio.Reader
	w io.Writer
}

func newCodec(r io.Reader, w io.Writer) *codec {
	return &codec{bufio.NewReaderSize(r, longestHeader), w}
}

// read returns the next message's body; io.EOF if the stream ends between two messages.
func (c *codec) read() ([]byte, error) {
	length := -1
	for i := 0; ; i++ {
		line, err := c.header()
		switch {
		case errors.Is(err, io.EOF) && i == 0 && line == "":
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case i == mostHeaderLines:
			return nil, fmt.Errorf("%w: the header has more than %d lines", errFraming, mostHeaderLines)
		case line == "" && length < 0:
			return nil, fmt.Errorf("%w: the header has no Content-Length", errFraming)
		case line == "":
			body := make([]byte, length)
			if _, err := io.ReadFull(c.r, body); err != nil {
				return nil, fmt.Errorf("read a message: %w", io.ErrUnexpectedEOF)
			}
			return body, nil
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%w: %.40q is not a header", errFraming, line)
		}
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > longestMessage {
			return nil, fmt.Errorf("%w: %.40q is not a valid length", errFraming, value)
		}
	}
}

// header returns a line of a header without its line break.
func (c *codec) header() (string, error) {
	line, err := c.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = fmt.Errorf("%w: a line of the header is longer than %d bytes", errFraming, longestHeader)
	}
	return strings.TrimRight(string(line), "\r\n"), err
}

// write sends a message.
func (c *codec) write(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if _, err := fmt.Fprintf(c.w, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		return fmt.Errorf("send a message: %w", err)
	}
	return nil
}
