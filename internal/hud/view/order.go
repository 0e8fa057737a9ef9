package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/model"
)

// Order is the sort order of the table.
type Order uint8

// The orders. Rows that an order does not distinguish stay as Build returns them.
const (
	ByGroup     Order = iota // (Tiltfile), then group after group, by cluster and label, those without one last
	AlertsFirst              // failing, unknown, waiting, updating, with warnings, well, idle
	ByName                   // (Tiltfile), then by name
	ByChange                 // the newest update first, those without one last
	orders
)

// Orders returns all orders.
func Orders() []Order {
	var all []Order
	for o := range orders {
		all = append(all, o)
	}
	return all
}

// Next returns the order after o, the first one after the last.
func (o Order) Next() Order { return (o + 1) % orders }

// String names the order: "by group".
func (o Order) String() string {
	return [...]string{ByGroup: "by group", AlertsFirst: "alerts first", ByName: "by name", ByChange: "by last change"}[o]
}

// Arrange returns the rows of a view in an order. It does not change rows, and returns them as they are if they have that order: the rows
// of a built view are in order by group.
func Arrange(rows []Row, o Order) []Row {
	compare := map[Order]func(a, b *Row) int{
		ByGroup:     func(a, b *Row) int { return cmp.Or(tiltfileFirst(a, b), compareHeadings(a, b)) },
		AlertsFirst: func(a, b *Row) int { return cmp.Compare(urgency(a), urgency(b)) },
		ByName:      func(a, b *Row) int { return cmp.Or(tiltfileFirst(a, b), Compare(string(a.Name), string(b.Name))) },
		ByChange:    func(a, b *Row) int { return b.Changed.Compare(a.Changed) },
	}[o]
	if inOrder(rows, compare) {
		return rows
	}
	order := make([]*Row, len(rows)) // a row is large, and sorting moves it often
	for i := range rows {
		order[i] = &rows[i]
	}
	slices.SortStableFunc(order, compare)
	out := make([]Row, len(rows))
	for i, r := range order {
		out[i] = *r
	}
	return out
}

func inOrder(rows []Row, compare func(a, b *Row) int) bool {
	for i := 1; i < len(rows); i++ {
		if compare(&rows[i-1], &rows[i]) > 0 {
			return false
		}
	}
	return true
}

func tiltfileFirst(a, b *Row) int {
	return cmp.Compare(truth(b.Name == model.TiltfileName), truth(a.Name == model.TiltfileName))
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// urgency is the rank of a row in the order AlertsFirst.
func urgency(r *Row) int {
	if r.Err() != "" {
		return 0
	}
	return slices.Index([]Status{Failed, Unknown, Waiting, Updating, Warning, Well, Idle}, r.Status)
}

// compareGroups compares the names of groups; no group comes last.
func compareGroups(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(len(b), len(a))
	}
	return Compare(a, b)
}

// Compare compares names as people do: numbers in them by value, so that group2 comes before group10.
func Compare(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if m, n := digits(x), digits(y); m > 0 && n > 0 {
			p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[m:], y[n:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// digits returns the number of digits that s begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// Group sums up the rows of a group, for its heading.
type Group struct {
	// Name is the Row.Heading of its rows.
	Name string
	// Members is the number of rows. Failing are those with an error, whatever their status; a row counts once in the other
	// numbers.
	Members, Failing, Unknown, Waiting, Updating, Warnings int
	// Passed is the number of tests that are ok, and Cached the number of those that did not have to run for it.
	Passed, Cached int
}

// Verdicts sums up the tests that are ok: "14 ok, 11 of them cached"; empty for a group without such tests.
func (g Group) Verdicts() string {
	if g.Passed == 0 {
		return ""
	}
	return words.Passed(g.Passed, g.Cached)
}

// Sum sums up rows as one group without a name.
func Sum(rows []Row) (g Group) {
	for _, r := range rows {
		g.add(r)
	}
	return g
}

// Groups returns the groups of rows in the order of the table by group, without (Tiltfile), which belongs to none.
func Groups(rows []Row) []Group {
	at, firsts := map[string]*Group{}, []Row{}
	for _, r := range rows {
		if r.Name == model.TiltfileName {
			continue
		}
		name := r.Heading()
		if at[name] == nil {
			at[name] = &Group{Name: name}
			firsts = append(firsts, r)
		}
		at[name].add(r)
	}
	slices.SortFunc(firsts, func(a, b Row) int { return compareHeadings(&a, &b) })
	var out []Group
	for _, r := range firsts {
		out = append(out, *at[r.Heading()])
	}
	return out
}

func (g *Group) add(r Row) {
	g.Members++
	if r.Test && r.Status == Well {
		g.Passed++
		if r.Cached {
			g.Cached++
		}
	}
	switch {
	case r.Err() != "" || r.Status == Failed:
		g.Failing++
	case r.Status == Unknown:
		g.Unknown++
	case r.Status == Waiting:
		g.Waiting++
	case r.Status == Updating:
		g.Updating++
	case r.Status == Warning:
		g.Warnings++
	}
}

// Tone returns the tone of the group's heading, after its worst member.
func (g Group) Tone() Tone {
	switch {
	case g.Failing > 0:
		return Bad
	case g.Unknown+g.Waiting+g.Warnings > 0:
		return Warn
	case g.Updating > 0:
		return Accent
	}
	return Dim
}
