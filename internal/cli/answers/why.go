package answers

import (
	"context"
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Reason is a part of the answer to why a resource is as it is.
type Reason struct {
	// Text is a line: what the resource does, waits for, or lacks. Lines about the resources that it waits for are indented.
	Text string `json:"text,omitempty"`
	// Failure explains a failure of the resource, or of one that it waits for.
	Failure *api.Explanation `json:"failure,omitempty"`
}

// String returns the reason as a command prints it.
func (r Reason) String() string {
	if r.Failure != nil {
		return (*Failure)(r.Failure).String()
	}
	return r.Text
}

// Why answers why a resource is as it is: the things that it waits for, down to the resource at the root of the wait, and the failures that
// concern it.
func (s *Session) Why(ctx context.Context, name string) ([]Reason, error) {
	if _, err := s.resource(name); err != nil {
		return nil, err
	}
	var out []Reason
	for _, l := range view.Why(s.view, model.ManifestName(name), s.at) {
		out = append(out, Reason{Text: strings.TrimRight(text.Clean(l.Cell.String()), " ")})
	}
	for _, card := range view.Build(s.view, s.at, 0).Cards {
		if card.Concerns(model.ManifestName(name)) {
			f := api.Explanation(s.failure(reader{ctx, s}, card))
			out = append(out, Reason{Failure: &f})
		}
	}
	return out, nil
}
