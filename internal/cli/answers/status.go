package answers

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Finding is a thing to know about a session: a notice, a failure, or a resource that is not simply well.
type Finding struct {
	// Kind is notice, failure, or the status of a resource: waiting, updating, warning or unknown.
	Kind     string `json:"kind"`
	Resource string `json:"resource,omitempty"`
	// Cluster is the cluster of the resource, in a session that works on several.
	Cluster string `json:"cluster,omitempty"`
	// Text describes it in one line; empty for a failure.
	Text string `json:"text,omitempty"`
	// Failure explains a failure.
	Failure *Failure `json:"failure,omitempty"`
}

// String returns the finding as a command prints it.
func (f Finding) String() string {
	switch {
	case f.Failure != nil:
		return f.Failure.String()
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
type Status struct {
	// Session is the name of the session, Project and Cluster are the names of its folder and its place in the cluster.
	Session  string `json:"session"`
	Tiltfile string `json:"tiltfile"`
	Cluster  string `json:"cluster,omitempty"`
	// Clusters are the clusters of a session that works on several, its own first.
	Clusters []api.Cluster `json:"clusters,omitempty"`
	// OK, Updating, Waiting, Failed, Unknown and Idle count the resources.
	OK       int `json:"ok"`
	Updating int `json:"updating"`
	Waiting  int `json:"waiting"`
	Failed   int `json:"failed"`
	Unknown  int `json:"unknown"`
	Idle     int `json:"idle"`
	// Findings are notices, then failures, causes first, then the resources that are not simply well, in the order of the screen.
	Findings []Finding `json:"findings"`
}

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

// Status answers how the session is.
func (s *Session) Status(ctx context.Context) Status {
	v := view.Build(s.view, s.at, 0)
	c := v.Header.Counts
	out := Status{Session: cmp.Or(s.Client.Session.Name, filepath.Base(filepath.Dir(s.Shown.Tiltfile))), Tiltfile: text.Clean(s.Shown.Tiltfile), Cluster: text.Clean(v.Header.Target),
		OK: c.Well, Updating: c.Updating, Waiting: c.Waiting, Failed: c.Failed, Unknown: c.Unknown, Idle: c.Idle, Findings: []Finding{}, Clusters: cleanClusters(s.Shown.Clusters)}
	for _, n := range v.Notices {
		out.Findings = append(out.Findings, Finding{Kind: "notice", Text: text.Clean(words.OneLine(n.Span().Text))})
	}
	explained := map[model.ManifestName]bool{}
	for _, card := range v.Cards {
		f := s.failure(ctx, card).brief()
		out.Findings = append(out.Findings, Finding{Kind: "failure", Resource: f.Resource, Cluster: f.Cluster, Failure: &f})
		for _, r := range v.Rows {
			explained[r.Name] = explained[r.Name] || card.Explains(r.Name)
		}
	}
	for _, r := range v.Rows {
		if _, tell := signs[string(r.Status)]; tell && !explained[r.Name] {
			out.Findings = append(out.Findings, Finding{Kind: string(r.Status), Resource: string(r.Name), Cluster: s.clusterOf(r.Name), Text: text.Clean(words.OneLine(r.Important().String()))})
		}
	}
	return out
}

// clusterOf returns the name of the cluster of a resource, in a session that works on several.
func (s *Session) clusterOf(name model.ManifestName) string {
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
