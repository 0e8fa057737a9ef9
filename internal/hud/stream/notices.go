package stream

import (
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// noticed records the notices that were already printed. Like the reading position, it outlives a restart.
type noticed struct {
	watch string
	// clusters names the clusters of a session that works on several, and starting is why a cluster is waited for, by its context as in
	// model.K8sTarget.
	clusters string
	starting map[string]string
	crashes  map[string]int
	urls     map[string]string // by UID of the Service
}

func newNoticed() noticed {
	return noticed{starting: map[string]string{}, crashes: map[string]int{}, urls: map[string]string{}}
}

// notice is a line that is not in the log: it is derived from the tables.
type notice struct {
	resource model.ManifestName
	level    logstore.Level
	text     string
}

// news returns the new notices: limits of file watching, the clusters if there are several, those that are starting, components of hone that
// failed and are being restarted, addresses of Services.
func (n *noticed) news(v store.View) []notice {
	var out []notice
	if w := state.Watches.In(v).Value(state.Only).Problem; w != n.watch {
		n.watch = w
		if w != "" {
			out = append(out, notice{level: logstore.LevelWarn, text: w})
		}
	}
	out = append(out, n.clusterNews(v)...)
	for e := range state.Subscribers.In(v).Refs() {
		if e.Value.Crashes > n.crashes[e.ID] && e.Value.Err != "" {
			n.crashes[e.ID] = e.Value.Crashes
			out = append(out, notice{level: logstore.LevelError, text: fmt.Sprintf("hone's %s failed and is being restarted: %s", e.ID, e.Value.Err)})
		}
	}
	for e := range state.Services.In(v).Refs() {
		if url := e.Value.URL; url != "" && n.urls[e.ID] != url {
			n.urls[e.ID] = url
			out = append(out, notice{e.Value.Resource, logstore.LevelInfo, fmt.Sprintf("Service %s is at %s", e.Value.Name, url)})
		}
	}
	return out
}

// clusterNews names the clusters of a session that works on several, once, and those that are starting.
func (n *noticed) clusterNews(v store.View) (out []notice) {
	var places []string
	for _, c := range state.SeveralClusters(v) {
		place := c.Title
		if namespace := state.NamespaceOn(v, c.On, c.Namespace); namespace != "" {
			place += "/" + namespace
		}
		places = append(places, place)
	}
	if all := words.All(places); all != n.clusters {
		n.clusters = all
		if all != "" {
			out = append(out, notice{level: logstore.LevelInfo, text: "This session works on the clusters " + all})
		}
	}
	for _, on := range append([]string{""}, state.DeclaredClusters(v)...) {
		c, what := state.ClusterOn(v, on), "the cluster"
		if on != "" {
			what = "cluster " + state.ClusterTitle(v, on)
		}
		if c.Starting && c.Err != n.starting[on] {
			n.starting[on] = c.Err
			out = append(out, notice{level: logstore.LevelWarn, text: "Waiting for " + what + ": " + c.Err})
		}
	}
	return out
}

// notice adds a notice, unless its resource or level is filtered out.
func (s *Subscriber) notice(n notice) {
	o := s.options
	chosen := n.resource == "" || o.Resources == nil || slices.Contains(o.Resources, n.resource)
	if !chosen || n.level < o.MinLevel {
		return
	}
	s.printer.head(&s.pending, n.resource)
	s.printer.foreign(&s.pending, text.CleanTabs(n.text), n.level)
	s.pending.WriteByte('\n')
}
