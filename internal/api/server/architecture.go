package server

import (
	"net/http"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// architecture handles GET /api/architecture.
func (s *Subscriber) architecture(src *source, w http.ResponseWriter, r *http.Request) {
	if s.options.Graph == nil {
		fail(w, http.StatusNotFound, "this session does not know its own parts")
		return
	}
	var out api.Architecture
	if s.work(r.Context(), func() { out = architectureOf(s.options.Graph(), src.View(), src) }) {
		respond(w, out)
	}
}

// architectureOf joins the contracts with the statistics of the store.
func architectureOf(g store.Graph, v store.View, n numbers) api.Architecture {
	var out api.Architecture
	stats := map[string]store.SubscriberStats{}
	for _, s := range n.Subscribers() {
		stats[s.Name] = s
	}
	for _, s := range g.Subscribers {
		is := stats[s.Name]
		out.Parts = append(out.Parts, api.Part{Name: s.Name, Doc: s.Doc, Stage: s.Stage, Externals: s.Externals,
			State: string(state.Subscribers.In(v).Value(s.Name).State), WakeUps: is.Wakes, Reads: is.Reads, Writes: is.Writes, Busy: inMilliseconds(is.Busy),
			Crashes: is.Crashes, LastError: is.LastError})
	}
	for _, t := range g.Tables {
		table := api.StateTable{Name: t.Name, Doc: t.Doc}
		for range v.Rows(t.Name) {
			table.Entries++
		}
		out.Tables = append(out.Tables, table)
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, api.PartEdge(e))
	}
	l := n.Loop()
	out.Loop = api.LoopNumbers{Batches: l.Batches, Actions: l.Actions, Queued: l.Queued, Busy: inMilliseconds(l.Busy), Last: inMilliseconds(l.Last), Slowest: inMilliseconds(l.Slowest)}
	if l.Batches > 0 {
		out.Loop.Average = inMilliseconds(l.Busy / time.Duration(l.Batches))
	}
	for i, count := range l.Within {
		b := api.BatchBucket{Batches: count}
		if i < len(store.BatchBounds) {
			b.UpTo = inMilliseconds(store.BatchBounds[i])
		}
		out.Loop.Took = append(out.Loop.Took, b)
	}
	return out
}

func inMilliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
