package waterfall

import (
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/pkg/api"
)

// API returns the waterfall as programs get it.
func (w Waterfall) API() api.Waterfall {
	span := func(s Span) api.WaterfallSpan {
		return api.WaterfallSpan{Kind: s.Kind, Text: describe(s), On: s.On, Failed: s.Failed,
			FromMs: events.Ms(s.Start.Sub(w.Start)), ToMs: events.Ms(s.End.Sub(w.Start))}
	}
	out := api.Waterfall{Start: w.Start, Missed: w.Missed, Rows: []api.WaterfallRow{}, Critical: []api.WaterfallSpan{}}
	if len(w.Rows) > 0 {
		out.TookMs = events.Ms(w.End.Sub(w.Start))
	}
	critical := map[string]bool{}
	for _, p := range w.Critical {
		critical[p.Resource] = true
		s := span(p.Span)
		s.Resource = p.Resource
		out.Critical = append(out.Critical, s)
	}
	for _, r := range w.Rows {
		row := api.WaterfallRow{Resource: r.Resource, Critical: critical[r.Resource]}
		for _, s := range r.Spans {
			row.Spans = append(row.Spans, span(s))
		}
		for _, s := range r.Layers {
			row.Layers = append(row.Layers, span(s))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
