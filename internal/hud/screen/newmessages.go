package screen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// mostKnown bounds the resources whose messages are learned at the same time.
	mostKnown = 16
	// spansTime is the time after which the updates of a resource are looked up again for its lines.
	spansTime = time.Second / 4
)

// newMessages finds the messages of the shown resources that were never seen before their last updates.
type newMessages struct {
	logs  Logs
	lists *loglist.Lister
	known map[model.ManifestName]*known
}

// known are the messages of a resource. since is the first line of its last update. It is zero until the second update: before
// that, every message would be new.
type known struct {
	patterns *loglist.Patterns // nil until there was a second update
	since    uint64
	saved    []string // the files that caused the update, as far as its log names them
	looked   time.Time
	used     time.Time
}

// of returns the known messages of a resource whose lines are shown.
func (n *newMessages) of(name model.ManifestName, now time.Time) *known {
	if k := n.known[name]; k != nil && now.Sub(k.looked) < spansTime {
		k.used = now
		return k
	}
	return n.look(name, now)
}

// look looks up the updates of a resource, and returns its known messages.
func (n *newMessages) look(name model.ManifestName, now time.Time) *known {
	k := n.known[name]
	if k == nil {
		n.makeRoom(now)
		k = &known{}
		n.known[name] = k
	}
	k.used, k.looked = now, now
	updates, last := 0, logstore.SpanInfo{}
	for _, s := range n.logs.Spans(name) {
		if isUpdate(s.Name, name) {
			updates++
			last = s
		}
	}
	if k.since != last.First {
		k.since, k.saved = last.First, n.saved(name, last)
	}
	if updates < 2 {
		k.since = 0
	} else if k.patterns == nil {
		k.patterns = n.lists.Patterns(name)
	}
	return k
}

// savedLines is the number of lines at the beginning of an update's log in which the files are looked for.
const savedLines = 3

// saved returns the files that caused an update, which its log names first (see state.FilesChangedText).
func (n *newMessages) saved(name model.ManifestName, span logstore.SpanInfo) []string {
	for _, l := range n.logs.ReadAfter(logstore.Filter{Resources: []model.ManifestName{name}}, span.First-1, savedLines) {
		if _, files, ok := strings.Cut(l.Text, " Changed: ["); ok && l.Span == span.Name {
			return strings.Fields(strings.TrimRight(files, "]"))
		}
	}
	return nil
}

// makeRoom makes room for another resource.
func (n *newMessages) makeRoom(now time.Time) {
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
func (n *newMessages) isNew(line logstore.Line, now time.Time) bool {
	if line.Source != logstore.SourceRuntime || line.Resource == "" {
		return false
	}
	k := n.of(line.Resource, now)
	return k.since > 0 && line.Seq >= k.since && k.patterns.New(line, k.since)
}

const (
	// watchedRows is the number of resources that are checked for new errors, whatever the log shows: the ones that were updated
	// last, within watchedTime.
	watchedRows = 4
	watchedTime = 10 * time.Minute
)

// watch learns the messages of the resources that were updated last. The frame at the beginning of an update must do it: the next
// frame may come a second later.
func (n *newMessages) watch(rows []view.Row, now time.Time) {
	var newest [watchedRows]*view.Row // this runs in every frame: a thousand rows are not sorted for it
	for i := range rows {
		r := &rows[i]
		if now.Sub(r.Changed) > watchedTime {
			continue
		}
		for k := range newest {
			if newest[k] == nil || r.Changed.After(newest[k].Changed) {
				r, newest[k] = newest[k], r
			}
			if r == nil {
				break
			}
		}
	}
	for _, r := range newest {
		if r != nil {
			n.look(r.Name, now)
		}
	}
}

// newFailure describes in one line the failure that the newest save has brought, unless the user has seen its card; nil if there
// is none.
func (u *ui) newFailure(width int) view.Cell {
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
		if k, line := u.unseenError(r.Name); k != nil {
			return u.strip(width, string(r.Name), text.Clean(line.Text), view.Files(k.saved))
		}
	}
	return nil
}

// stripBelow is newFailure where the view does not show it above the log: below the details, and below a table without a log.
func (u *ui) stripBelow(area rect) view.Cell {
	if u.screen.tiny() || area.h <= 2*leastPane {
		return nil
	}
	switch u.top().(type) {
	case *mainView:
		if _, log := u.main.share(area); log.h > leastPane+1 {
			return nil
		}
	case *cardView, typist: // a card is the error, and a prompt is about to be over
		return nil
	}
	return u.newFailure(area.w)
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
		if k, _ := u.unseenError(r.Name); k != nil && r.Err() == "" {
			return r.Name, true
		}
	}
	return "", false
}

// unseenError returns the first error that the last update of a resource has brought, if the user has not seen it; k is nil
// if there is none.
func (u *ui) unseenError(name model.ManifestName) (k *known, line logstore.Line) {
	k = u.log.known[name]
	if k == nil || k.since == 0 {
		return nil, line
	}
	line, n := k.patterns.NewError(k.since)
	if n == 0 || k.since == u.seenErrors[name] {
		return nil, line
	}
	return k, line
}

// showNewError shows the first error that the last update of a resource has brought, which newError has found. If it was the
// beginning of a failure, the card follows.
func (u *ui) showNewError(name model.ManifestName) {
	k := u.log.known[name]
	line, _ := k.patterns.NewError(k.since)
	u.seenErrors[name] = k.since
	u.table.show(name)
	u.main.scope = selectedLog
	u.log.source, u.log.level, u.log.terms = allSources, 0, logquery.Query{}
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
	marked := slices.Sorted(maps.Keys(p.marked))
	next, _ := slices.BinarySearch(marked, p.cursor+1)
	p.reveal(marked[next%len(marked)])
}
