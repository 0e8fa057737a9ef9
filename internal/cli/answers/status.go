package answers

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/api/page"
	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Finding is a thing to know about a session: a notice, a failure, or a resource that is not simply well.
type Finding api.StatusFinding

// String returns the finding as a command prints it.
func (f Finding) String() string {
	switch {
	case f.Failure != nil:
		return (*Failure)(f.Failure).String()
	case f.Resource == "":
		return "! " + f.Text
	}
	where := ""
	if f.Cluster != "" {
		where = " in " + f.Cluster
	}
	return fmt.Sprintf("%s %s%s: %s", signs[f.Kind], f.Resource, where, cmp.Or(f.Text, f.Kind))
}

// signs are the signs of the screen, by the kind of a finding.
var signs = map[string]string{string(view.Waiting): "◌", string(view.Updating): "●", string(view.Warning): "▲", string(view.Unknown): "?"}

// Status is the answer to how a session is.
type Status api.Status

// Head returns the status without its findings, in one line.
func (s Status) Head() string {
	parts := []string{fmt.Sprintf("%d ok", s.OK)}
	for _, p := range []struct {
		n    int
		word string
	}{{s.Failed, "failed"}, {s.Updating, "updating"}, {s.Waiting, "waiting"}, {s.Unknown, "unknown"}, {s.Idle, "idle"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	where := ""
	if in := s.where(); in != "" {
		where = ", in " + in
	}
	return fmt.Sprintf("%s: %s (%s%s)", s.Session, strings.Join(parts, ", "), s.Tiltfile, where)
}

// where names the clusters, and says which of those that resources need does not answer.
func (s Status) where() string {
	if len(s.Clusters) == 0 {
		return s.Cluster
	}
	var out []string
	for _, c := range s.Clusters {
		name := c.Name
		if c.Namespace != "" {
			name += "/" + c.Namespace
		}
		switch {
		case c.Connected, !c.Needed:
		case c.Starting:
			name += " (starting)"
		case c.Error != "":
			name += " (does not answer)"
		}
		out = append(out, name)
	}
	return words.All(out)
}

// Broken reports whether something fails.
func (s Status) Broken() bool { return s.Failed > 0 }

// AskStatus asks a session how it is.
func AskStatus(ctx context.Context, c *client.Client) (Status, error) {
	of, err := c.Status(ctx)
	if err != nil {
		return Status{}, err
	}
	of.Session = cmp.Or(c.Session.Name, of.Session)
	of.Tiltfile, of.Cluster, of.Clusters = text.Clean(of.Tiltfile), text.Clean(of.Cluster), cleanClusters(of.Clusters)
	for i := range of.Findings {
		f := &of.Findings[i]
		f.Cluster, f.Text = text.Clean(f.Cluster), text.Clean(f.Text)
	}
	return Status(of), nil
}

// Here answers questions about the session of this process.
type Here struct {
	// Logs are the logs of the session.
	Logs view.LogReader
}

var _ server.Answers = Here{}

// Status implements server.Answers.
func (h Here) Status(v store.View, at time.Time) api.Status {
	return (&moment{v, at, true}).status(h.Logs)
}

// Why implements server.Answers.
func (h Here) Why(v store.View, at time.Time, resource string) (api.Why, error) {
	return (&moment{v, at, true}).why(h.Logs, model.ManifestName(resource))
}

// status answers how the session is.
func (s *moment) status(logs view.LogReader) api.Status {
	v := view.Build(s.view, s.at, 0)
	c, tiltfile := v.Header.Counts, state.TheSession(s.view).Tiltfile
	out := api.Status{Session: filepath.Base(filepath.Dir(tiltfile)), Tiltfile: tiltfile, Cluster: v.Header.Target,
		OK: c.Well, Updating: c.Updating, Waiting: c.Waiting, Failed: c.Failed, Unknown: c.Unknown, Idle: c.Idle, Findings: []api.StatusFinding{}, Clusters: page.Clusters(s.view)}
	for _, n := range v.Notices {
		out.Findings = append(out.Findings, api.StatusFinding{Kind: "notice", Text: words.OneLine(n.Span().Text)})
	}
	explained := map[model.ManifestName]bool{}
	for _, card := range v.Cards {
		f := api.Explanation(s.failure(logs, card).brief())
		out.Findings = append(out.Findings, api.StatusFinding{Kind: "failure", Resource: f.Resource, Cluster: f.Cluster, Failure: &f})
		for _, r := range v.Rows {
			explained[r.Name] = explained[r.Name] || card.Explains(r.Name)
		}
	}
	for _, r := range v.Rows {
		if _, tell := signs[string(r.Status)]; tell && !explained[r.Name] {
			out.Findings = append(out.Findings, api.StatusFinding{Kind: string(r.Status), Resource: string(r.Name), Cluster: s.clusterOf(r.Name), Text: words.OneLine(r.Important().String())})
		}
	}
	return out
}

// clusterOf returns the name of the cluster of a resource, in a session that works on several.
func (s *moment) clusterOf(name model.ManifestName) string {
	m := state.Resources.In(s.view).Value(string(name)).Manifest
	if !m.IsK8s() || len(state.DeclaredClusters(s.view)) == 0 {
		return ""
	}
	return text.Clean(state.ClusterTitle(s.view, m.Cluster()))
}

// cleanClusters cleans the texts of clusters.
func cleanClusters(list []api.Cluster) (out []api.Cluster) {
	for _, c := range list {
		c.Name, c.Context, c.Namespace, c.Error = text.Clean(c.Name), text.Clean(c.Context), text.Clean(c.Namespace), text.Clean(words.OneLine(c.Error))
		out = append(out, c)
	}
	return out
}
