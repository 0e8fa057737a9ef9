package view

import (
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// Cluster is a cluster of a session that works on several. Foreign text in it is cleaned.
type Cluster struct {
	// Name is the name of the Tiltfile, or the context. Namespace is for objects that name none; it may be empty.
	Name, Namespace string
	State           ClusterState
}

// ClusterState says whether a cluster answers.
type ClusterState uint8

// The states of a cluster. ClusterUnasked has not been asked yet, or nothing is deployed to it. ClusterStarting does not answer yet and
// reports that it may soon.
const (
	ClusterAnswers ClusterState = iota
	ClusterUnasked
	ClusterStarting
	ClusterAway
)

// clusterStates are the words for the states that are not simply well.
var clusterStates = map[ClusterState]Span{ClusterStarting: {"is starting", Warn}, ClusterAway: {"does not answer", Bad}, ClusterUnasked: {"", Dim}}

// clusters returns the clusters of a session that works on several.
func (b *builder) clusters() (out []Cluster) {
	for _, c := range state.SeveralClusters(b.v) {
		shown := Cluster{Name: text.Clean(c.Title), Namespace: text.Clean(state.NamespaceOn(b.v, c.On, c.Namespace))}
		switch needed := state.NeedsCluster(b.v, c.On); {
		case c.Connected:
		case !needed, c.Err == "":
			shown.State = ClusterUnasked
		case c.Starting:
			shown.State = ClusterStarting
		default:
			shown.State = ClusterAway
		}
		out = append(out, shown)
	}
	return out
}

// Where returns the place that the session works on, in at most width columns if it can: with several clusters, first their namespaces give
// way, then the names of those that answer.
func (h Header) Where(width int) Cell {
	if len(h.Clusters) == 0 {
		return plain(h.Target)
	}
	var whole, named, troubled Cell
	for _, c := range h.Clusters {
		place := c.Name
		if c.Namespace != "" {
			place += "/" + c.Namespace
		}
		whole, named = c.after(whole, place), c.after(named, c.Name)
		if clusterStates[c.State].Text != "" {
			troubled = c.after(troubled, c.Name)
		}
	}
	count := plain(words.Count(len(h.Clusters), "cluster"))
	if len(troubled) > 0 {
		troubled = append(append(count[:1:1], Span{": ", Dim}), troubled...)
	} else {
		troubled = count
	}
	for _, c := range []Cell{whole, named, troubled} {
		if c.Width() <= width {
			return c
		}
	}
	return troubled
}

// after adds a cluster to a list, under a name.
func (c Cluster) after(list Cell, name string) Cell {
	if len(list) > 0 {
		list = append(list, Span{", ", Dim})
	}
	said := clusterStates[c.State]
	list = append(list, Span{name, said.Tone})
	if said.Text != "" {
		list = append(list, Span{" " + said.Text, said.Tone})
	}
	return list
}

// clusterOf returns the name of the cluster of a resource, in a session that works on several.
func (b *builder) clusterOf(m model.Manifest) string {
	if !m.IsK8s() || len(state.DeclaredClusters(b.v)) == 0 {
		return ""
	}
	return text.Clean(state.ClusterTitle(b.v, m.Cluster()))
}

// clusterCell describes the cluster of a resource: its name, its context, and whether it answers.
func (b *builder) clusterCell(m model.Manifest) Cell {
	name, c := b.clusterOf(m), state.ClusterOf(b.v, m)
	cell := plain(name)
	if context := text.Clean(c.Context); context != "" && context != name {
		cell = append(cell, Span{"  context " + context, Dim})
	}
	if !c.Connected {
		word := ClusterAway
		if c.Starting {
			word = ClusterStarting
		}
		said := clusterStates[word]
		cell = append(cell, Span{"  " + said.Text, said.Tone})
	}
	return cell
}

// headingGap separates the cluster from the label in the heading of a group.
const headingGap = " · "

// Heading returns the name of the group that the row belongs to: its cluster and its label. It is empty for a row without both.
func (r Row) Heading() string {
	if r.Cluster == "" || r.Group == "" {
		return r.Cluster + r.Group
	}
	return strings.Join([]string{r.Cluster, r.Group}, headingGap)
}

// compareHeadings compares rows by the order of their groups: by cluster, then by label, those without one last.
func compareHeadings(a, b *Row) int {
	if c := compareGroups(a.Cluster, b.Cluster); c != 0 {
		return c
	}
	return compareGroups(a.Group, b.Group)
}
