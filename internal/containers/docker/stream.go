package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// message is one object of the answer streams of build and push.
type message struct {
	Stream   string `json:"stream"`
	Status   string `json:"status"`
	ID       string `json:"id"`
	Progress *struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	} `json:"progressDetail"`
	Error       string `json:"error"`
	ErrorDetail *struct {
		Message string `json:"message"`
	} `json:"errorDetail"`
	Aux json.RawMessage `json:"aux"`
}

// streamError is an error that the engine reports inside a stream.
type streamError struct{ text string }

func (e *streamError) Error() string { return e.text }

var _ error = (*streamError)(nil)

// readStream calls each for every message of r until its end. An error that the stream reports is a *streamError.
func readStream(r io.Reader, each func(message) error) error {
	dec := json.NewDecoder(r)
	for {
		var m message
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &Passing{fmt.Errorf("read the engine's answer: %w", err)}
		}
		if m.ErrorDetail != nil && m.ErrorDetail.Message != "" {
			return &streamError{m.ErrorDetail.Message}
		}
		if m.Error != "" {
			return &streamError{m.Error}
		}
		if err := each(m); err != nil {
			return err
		}
	}
}
