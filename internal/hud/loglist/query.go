package loglist

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// Query selects lines of a log. The zero value selects all.
type Query struct {
	// Resources are the resources to list; nil means all, and lines that belong to none.
	Resources []model.ManifestName
	// Sources are the sources to list; nil means all.
	Sources []logstore.Source
	// MinLevel omits lines of a lower level.
	MinLevel logstore.Level
	// Typed is the query that the user typed.
	Typed logquery.Query
}

// Equal reports whether two queries select the same lines.
func (q Query) Equal(o Query) bool {
	return slices.Equal(q.Resources, o.Resources) && (q.Resources == nil) == (o.Resources == nil) &&
		slices.Equal(q.Sources, o.Sources) && q.MinLevel == o.MinLevel && q.Typed.Text == o.Typed.Text
}

// And returns the query with a further one.
func (q Query) And(typed logquery.Query) Query {
	q.Typed = q.Typed.And(typed)
	return q
}

// filter returns the filter of the store for the query, at a time that relative times refer to.
func (q Query) filter(now time.Time) logstore.Filter {
	f := logstore.Filter{Resources: q.Resources, Sources: q.Sources, MinLevel: q.MinLevel}
	q.Typed.Narrow(&f, now)
	return f
}

// broad reports whether the store itself counts the lines that a filter selects and finds any of them at once: it leaves out
// so few that skipping them costs nothing.
func broad(f logstore.Filter) bool {
	chooses := f.Match != nil || f.Span != "" || !f.Since.IsZero()
	return !chooses && f.Sources == nil && f.MinLevel <= logstore.LevelInfo
}
