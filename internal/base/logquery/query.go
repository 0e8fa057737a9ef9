package logquery

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// Query is a parsed query. The zero value selects every line. A query is immutable.
type Query struct {
	// Text is the query as it was typed.
	Text  string
	terms []term
}

// term is one word of a query.
type term struct {
	not bool
	// test decides about a line whose text has no escape sequences. It is nil for a term of time.
	test func(logstore.LineRef) bool
	// mark finds the parts of a line to highlight; nil if there are none.
	mark func(line string) [][]int
	// level is the least level that the term selects, if leveled is set.
	level   logstore.Level
	leveled bool
	// since and age are of a term of time: one of both is set.
	since time.Time
	age   time.Duration
}

func (t term) timed() bool { return t.test == nil }

// start returns the time from which on a term of time selects lines.
func (t term) start(now time.Time) time.Time {
	if t.age > 0 {
		return now.Add(-t.age)
	}
	return t.since
}

// Empty reports whether the query selects every line.
func (q Query) Empty() bool { return len(q.terms) == 0 }

// Leveled reports whether the query has a word about the level of lines.
func (q Query) Leveled() bool {
	return slices.ContainsFunc(q.terms, func(t term) bool { return t.leveled })
}

// And returns the query of the lines that both queries select.
func (q Query) And(o Query) Query {
	return Query{Text: strings.TrimSpace(q.Text + " " + o.Text), terms: append(slices.Clone(q.terms), o.terms...)}
}

// Marks returns the byte ranges of a line without escape sequences that the query matches, for highlighting.
func (q Query) Marks(line string) [][]int {
	var all [][]int
	for _, one := range q.terms {
		if one.mark != nil && !one.not {
			all = append(all, one.mark(line)...)
		}
	}
	slices.SortFunc(all, func(a, b []int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	return all
}

// Window returns how long lines stay selected; zero if the query does not limit it.
func (q Query) Window() time.Duration {
	var least time.Duration
	for _, one := range q.terms {
		limits := one.timed() && !one.not && one.age > 0
		if limits && (least == 0 || one.age < least) {
			least = one.age
		}
	}
	return least
}

// Delay returns how old lines must be to be selected; zero if the query does not say.
func (q Query) Delay() time.Duration {
	var most time.Duration
	for _, one := range q.terms {
		if one.timed() && one.not {
			most = max(most, one.age)
		}
	}
	return most
}

// Fixed returns the query with times in place of ages, as of now.
func (q Query) Fixed(now time.Time) Query {
	q.terms = slices.Clone(q.terms)
	for i := range q.terms {
		if t := &q.terms[i]; t.timed() {
			t.since, t.age = t.start(now), 0
		}
	}
	return q
}

// Narrow adds the query to a filter of the log store, at the time that relative times refer to. The filter lets lines through that are
// younger than Delay: its caller waits with them.
func (q Query) Narrow(f *logstore.Filter, now time.Time) {
	var checks []term
	for _, one := range q.terms {
		switch {
		case one.timed() && one.not && one.age > 0:
		case one.timed() && one.not:
			checks = append(checks, term{test: func(line logstore.LineRef) bool { return line.Time.Before(one.since) }})
		case one.timed():
			if at := one.start(now); at.After(f.Since) {
				f.Since = at
			}
		case one.level > 0 && !one.not:
			f.MinLevel = max(f.MinLevel, one.level)
		default:
			checks = append(checks, one)
		}
	}
	if len(checks) == 0 {
		return
	}
	before := f.Match
	f.Match = func(line logstore.LineRef) bool {
		if before != nil && !before(line) {
			return false
		}
		line.Text = seen(line.Text)
		for _, t := range checks {
			if t.test(line) == t.not {
				return false
			}
		}
		return true
	}
}
