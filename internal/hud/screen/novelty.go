package screen

import (
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// mostKnown bounds of how many resources the messages are learned at the same time.
	mostKnown = 16
	// spansTime is how long the updates of a resource are used before they are looked up again.
	spansTime = time.Second / 4
)

// novelty tells which messages of the shown resources were never seen before their last updates.
type novelty struct {
	logs  Logs
	lists *loglist.Lister
	known map[model.ManifestName]*known
}

// known are the messages of a resource. since is the first line of its last update; zero as long as it has only had its first
// one, which makes everything new.
type known struct {
	patterns *loglist.Patterns // nil until there was a second update
	since    uint64
	looked   time.Time
	used     time.Time
}

// of returns what is known about a resource.
func (n *novelty) of(name model.ManifestName, now time.Time) *known {
	k := n.known[name]
	if k == nil {
		n.makeRoom(now)
		k = &known{}
		n.known[name] = k
	}
	k.used = now
	if now.Sub(k.looked) < spansTime && !k.looked.IsZero() {
		return k
	}
	k.looked = now
	updates := 0
	for _, s := range n.logs.Spans(name) {
		if isUpdate(s.Name, name) {
			updates++
			k.since = s.First
		}
	}
	if updates < 2 {
		k.since = 0
	} else if k.patterns == nil {
		k.patterns = n.lists.Patterns(name)
	}
	return k
}

// makeRoom makes room for another resource.
func (n *novelty) makeRoom(now time.Time) {
	for len(n.known) >= mostKnown {
		var oldest model.ManifestName
		used := now.Add(time.Hour)
		for name, k := range n.known {
			if k.used.Before(used) {
				oldest, used = name, k.used
			}
		}
		if k := n.known[oldest]; k.patterns != nil {
			k.patterns.Close()
		}
		delete(n.known, oldest)
	}
}

// isNew reports whether the message of a line was never seen before the last update of its resource.
func (n *novelty) isNew(line logstore.Line, now time.Time) bool {
	if line.Source != logstore.SourceRuntime || line.Resource == "" {
		return false
	}
	k := n.of(line.Resource, now)
	return k.since > 0 && line.Seq >= k.since && k.patterns.New(line, k.since)
}

const (
	// watchedRows is of how many resources new errors are looked for, whatever the log shows: those that were updated last,
	// within watchedTime.
	watchedRows = 4
	watchedTime = 10 * time.Minute
)

// watch learns the messages of the resources that were updated last.
func (n *novelty) watch(rows []view.Row, now time.Time) {
	for i, r := range view.Arrange(rows, view.ByChange) {
		if i >= watchedRows || now.Sub(r.Changed) > watchedTime {
			return
		}
		n.of(r.Name, now)
	}
}

// brought describes in one line the failure that the newest save has brought, unless the user has seen its card; nil if there
// is none.
func (u *ui) brought(width int) view.Cell {
	for i := range u.frame.View.Cards {
		c := &u.frame.View.Cards[i]
		if len(c.Saved) == 0 || u.shownCard == (cardKey{c.Resource, c.Aspect}) {
			continue
		}
		what := c.Title
		if lines := u.excerpt(c); len(lines) > 0 {
			what = lines[0]
		} else if len(c.Cause) > 0 {
			what = c.Cause[0]
		}
		return u.strip(width, string(c.Resource), what, view.Files(c.Saved))
	}
	for _, r := range u.frame.View.Rows {
		k := u.log.known[r.Name]
		if k == nil || k.since == 0 || k.since == u.seenErrors[r.Name] {
			continue
		}
		if line, n := k.patterns.NewError(k.since); n > 0 {
			return u.strip(width, string(r.Name), text.Clean(line.Text), "")
		}
	}
	return nil
}

func (u *ui) strip(width int, name, what, files string) view.Cell {
	head := view.Cell{{Text: " ✖ ", Tone: view.Bad}, {Text: text.CutMiddle(name, 24) + "  ", Tone: view.Strong}}
	tail := "  e shows it "
	if files != "" {
		tail = fmt.Sprintf("  after a save of %s%s", files, tail)
	}
	end := view.Cell{{Text: tail, Tone: view.Dim}}
	room := width - head.Width() - end.Width()
	if room < 20 {
		return append(head, view.Span{Text: text.Cut(what, width-head.Width()), Tone: view.Bad})
	}
	return append(append(head, view.Span{Text: text.Cut(what, room), Tone: view.Bad}), end...)
}

// newError returns the first resource whose last update has brought an error that the user has not seen, unless the resource is
// failing: its card shows why.
func (u *ui) newError() (name model.ManifestName, found bool) {
	for _, r := range u.frame.View.Rows {
		k := u.log.known[r.Name]
		if k == nil || k.since == 0 || k.since == u.seenErrors[r.Name] || r.Err() != "" {
			continue
		}
		if _, n := k.patterns.NewError(k.since); n > 0 {
			return r.Name, true
		}
	}
	return "", false
}

// showNewError shows the first error that the last update of a resource has brought, which newError has found. If it was the
// beginning of a failure, the card follows.
func (u *ui) showNewError(name model.ManifestName) {
	k := u.log.known[name]
	line, _ := k.patterns.NewError(k.since)
	u.seenErrors[name] = k.since
	u.table.show(name)
	u.main.scope = selectedLog
	u.log.source, u.log.level, u.log.terms = allSources, 0, loglist.Terms{}
	u.settle()
	u.log.reveal(line.Seq)
	u.wanted, u.wantedUntil, u.wantedLog = name, u.options.Now().Add(wantedTime), false
}

// markLine marks the line with the cursor, or takes its mark away.
func (u *ui) markLine() {
	if it := u.log.item(); it != nil {
		if u.log.marked[it.First] {
			delete(u.log.marked, it.First)
		} else {
			u.log.marked[it.First] = true
		}
	}
}

// nextMark goes to the next marked line, and from the last one to the first.
func (u *ui) nextMark() {
	p := u.log
	var next, first uint64
	for seq := range p.marked {
		if seq > p.cursor && (next == 0 || seq < next) {
			next = seq
		}
		if first == 0 || seq < first {
			first = seq
		}
	}
	if next == 0 {
		next = first
	}
	if next == 0 {
		u.say("no line is marked: Space marks one")
		return
	}
	p.reveal(next)
}
