// Package answers answers questions about a running session, in the words of its screen: how it is, why a resource is as it is, where the
// newest save runs, and which lines of the logs tell more. Commands print the answers, and the tools of hone mcp send them.
//
// The session itself answers how it is, and why a resource is as it is, with the functions of its screen. For the other questions, the
// package asks the session's API for the state and for lines of the log, and applies these functions to them: the whole state is long.
//
// Texts of others are cleaned: they hold no escape sequences. Secrets are gone, since the API sends none.
package answers

import (
	"context"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Session is a running session at one moment.
type Session struct {
	Client *client.Client
	// Shown is the state as the API shows it.
	Shown api.View

	moment
}

// moment is a state at a time, in the words of the screen.
type moment struct {
	view store.View
	at   time.Time
	// files is set if the session's files are on this machine, so that places in them can be found.
	files bool
}

// Of reads the state of a session.
func Of(ctx context.Context, c *client.Client) (*Session, error) {
	in, err := c.Dump(ctx, client.DumpState)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	kept, err := snapshot.Read(in, "the state of "+c.Where())
	if err != nil {
		return nil, err
	}
	v, err := snapshot.Restore(kept)
	if err != nil {
		return nil, err
	}
	return &Session{Client: c, Shown: kept.View, moment: moment{v, kept.CreatedAt, c.Session.Socket != ""}}, nil
}

// resource returns a resource that a user has named.
func (s *Session) resource(name string) (api.Resource, error) {
	all := []string{string(model.TiltfileName)}
	for _, r := range s.Shown.Resources {
		if r.Name == name {
			return r, nil
		}
		all = append(all, r.Name)
	}
	if name == string(model.TiltfileName) {
		return api.Resource{Name: name}, nil
	}
	return api.Resource{}, problem.New(s.Client.Where()+": no resource is called "+text.Clean(name), suggest.Mend(name, all, "there are: "+strings.Join(all, ", ")))
}

func names(list []model.ManifestName) []string {
	var out []string
	for _, n := range list {
		out = append(out, string(n))
	}
	return out
}
