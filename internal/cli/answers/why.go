package answers

import (
	"context"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Reason is a part of the answer to why a resource is as it is.
type Reason api.Reason

// String returns the reason as a command prints it.
func (r Reason) String() string {
	if r.Failure != nil {
		return (*Failure)(r.Failure).String()
	}
	return r.Text
}

// mostName is the most bytes of a name that are asked for: the head of a request has a limit, and no resource has such a name.
const mostName = 1 << 10

// AskWhy asks a session why a resource is as it is.
func AskWhy(ctx context.Context, c *client.Client, name string) (out []Reason, err error) {
	why, err := c.Why(ctx, words.Clip(name, mostName))
	for _, r := range why.Reasons {
		r.Text = text.Clean(r.Text)
		out = append(out, Reason(r))
	}
	return out, err
}

// why answers why a resource is as it is: the things that it waits for, down to the resource at the root of the wait, and the failures that
// concern it.
func (s *moment) why(logs view.LogReader, name model.ManifestName) (api.Why, error) {
	if name != model.TiltfileName && state.Resources.In(s.view).Ref(string(name)) == nil {
		all := []string{string(model.TiltfileName)}
		for _, t := range intent.Switchable(s.view) {
			all = append(all, t.Name)
		}
		return api.Why{}, intent.NoResource(s.view, string(name), all)
	}
	out := api.Why{Reasons: []api.Reason{}}
	for _, l := range view.Why(s.view, name, s.at) {
		out.Reasons = append(out.Reasons, api.Reason{Text: strings.TrimRight(text.Clean(l.Cell.String()), " ")})
	}
	for _, card := range view.Build(s.view, s.at, 0).Cards {
		if card.Concerns(name) {
			f := api.Explanation(s.failure(logs, card))
			out.Reasons = append(out.Reasons, api.Reason{Failure: &f})
		}
	}
	return out, nil
}
