package stream

import (
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// noticed records the notices that were already printed. Like the reading position, it outlives a restart.
type noticed struct {
	watch   string
	cluster string
	crashes map[string]int
	urls    map[string]string // by UID of the Service
}

// notice is a line that is not in the log: it is derived from the tables.
type notice struct {
	resource model.ManifestName
	level    logstore.Level
	text     string
}

// news returns the new notices: limits of file watching, a starting cluster, components of hone that failed and are being
// restarted, addresses of Services.
func (n *noticed) news(v store.View) []notice {
	var out []notice
	if w := state.Watches.In(v).Value(state.Only).Problem; w != n.watch {
		n.watch = w
		if w != "" {
			out = append(out, notice{level: logstore.LevelWarn, text: w})
		}
	}
	if c := state.TheCluster(v); c.Starting && c.Err != n.cluster {
		n.cluster = c.Err
		out = append(out, notice{level: logstore.LevelWarn, text: "Waiting for the cluster: " + c.Err})
	}
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
