package screen

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/attention"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// messageTime is the time for which a message covers the footer, unless a key removes it.
const messageTime = 4 * time.Second

// wantedTime bounds the time between a look at an error in the log and its card, if the resource turns out to fail.
const wantedTime = 3 * time.Second

// ui is the state of the screen. Only tview's goroutine touches it.
type ui struct {
	theme   theme
	links   *links
	options Options
	verbs   []verb
	// withheld are the verbs that the screen lacks because it only shows.
	withheld []verb
	frame    Frame

	// layers are the views on the stack; the lowest is main.
	layers []layer
	main   *mainView
	table  *table
	log    *logPane

	shownCard cardKey // the card that was shown last
	excerpts  map[cardKey]*excerpt
	activity  *activity
	// wanted is the resource whose card is shown if it fails before wantedUntil; empty for none. wantedLog is set if its error is
	// shown in the log otherwise.
	wanted      model.ManifestName
	wantedUntil time.Time
	wantedLog   bool
	// seenErrors are the updates, by their first lines, whose new errors the user has seen.
	seenErrors map[model.ManifestName]uint64

	message string    // until the next key, or for a moment
	expires time.Time // of message
	// spoke has a value if the message is new to the pump; one slot.
	spoke chan struct{}
	// asked are earlier entries of each prompt, by label, newest last.
	asked map[string][]string

	// pressed is set while the button of the mouse is down. pull is a drag that is held beyond the edge of the log, and pulled has a
	// value when it continues; one slot.
	pressed bool
	pull    *gesture
	pulled  chan struct{}
	spots   hotspots

	kept Layout // that was remembered last

	stopping bool
	screen   *drawn

	presence presence
	watch    attention.Watch
	// announce sends the terminal news for a user who looks elsewhere; nil if the terminal takes no news.
	announce func(s attention.Said, project string)
	// leave ends the screen; sync redraws; clipboard takes text; suspend gives the terminal to a function, and abandon stops it from
	// taking the terminal back after that.
	leave     context.CancelCauseFunc
	done      <-chan struct{}
	jobs      *jobs
	sync      func()
	clipboard func([]byte)
	// sends is set if the terminal gets each text that clipboard takes.
	sends   bool
	suspend func(func()) bool
	abandon func()
}

func newUI(o Options, t theme, lists *loglist.Lister) *ui {
	u := &ui{theme: t, links: newLinks(o), options: o, verbs: verbsFor(o), table: newTable(t), log: newLogPane(t, o.Logs, lists), asked: map[string][]string{}, seenErrors: map[model.ManifestName]uint64{}, excerpts: map[cardKey]*excerpt{}, activity: newActivity(o.Logs), spoke: make(chan struct{}, 1), pulled: make(chan struct{}, 1)}
	u.withheld = lacking(o, u.verbs)
	u.main = &mainView{ui: u, table: u.table, log: u.log}
	u.layers = []layer{u.main}
	u.table.unseen = u.activity.unseen
	u.log.rules = highlights(o.Settings)
	u.screen = &drawn{}
	u.arrange(o.Layout)
	u.kept = u.layout()
	u.presence.act(o.Now())
	u.settle()
	return u
}

// ended reports whether the screen has ended.
func (u *ui) ended() bool {
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

// say shows a message for a moment.
func (u *ui) say(message string) {
	u.message, u.expires = message, u.options.Now().Add(messageTime)
	select {
	case u.spoke <- struct{}{}:
	default:
	}
}

// tell shows an error for a moment.
func (u *ui) tell(err error) { u.say(oneLineOf(err)) }

// oneLineOf is an error with its fix, in one line.
func oneLineOf(err error) string {
	return words.OneLine(strings.ReplaceAll(problem.Text(err), "\n", ";"))
}

// apply shows a new frame.
func (u *ui) apply(f Frame, now time.Time) {
	u.frame = f
	if now.After(u.expires) {
		u.message = ""
	}
	u.table.step = int(now.UnixMilli() / spinnerStep.Milliseconds() % 1000)
	u.log.wrapper.now, u.links.now = now, now
	u.activity.annotate(f.View.Rows)
	u.table.setRows(f.View.Rows, now)
	u.log.know(f.View.Rows)
	u.log.watch(f.View.Rows, now)
	u.attend(now)
	u.prefetch()
	u.bringCard(now)
	u.offer()
	if w, ok := u.top().(*pendingView); ok {
		w.follow()
	}
	u.settle()
}

// attend sends the terminal news for a user who looks elsewhere.
func (u *ui) attend(now time.Time) {
	if u.announce == nil {
		return
	}
	v := u.frame.View
	said := u.watch.Look(v, u.presence.away(now) && !u.stopping && !u.options.Past, now)
	said.Title, said.Message = u.theme.text(said.Title), u.theme.text(said.Message)
	u.announce(said, v.Header.Project)
}

// key handles a key. It always consumes the key, so that tview sees none.
func (u *ui) key(event *tcell.EventKey) *tcell.EventKey {
	defer u.guard()
	u.presence.act(u.options.Now())
	u.wanted = ""
	if t, ok := u.top().(typist); ok {
		if v := u.matching(keyOf(event), inPrompt); v != nil {
			u.dispatch(v)
			return nil
		}
		u.message = ""
		t.typed(event)
		u.settle()
		return nil
	}
	k := keyOf(event)
	v := u.matching(k, u.top().place())
	u.dispatch(v)
	if v == nil && k != (key{}) {
		u.tell(u.stray(k))
	}
	return nil
}

// paste handles pasted text. Only prompts take text: anywhere else, its letters would be keys.
func (u *ui) paste(text string) {
	defer u.guard()
	u.presence.act(u.options.Now())
	if t, ok := u.top().(typist); ok {
		t.pasted(text)
		u.settle()
	}
}

// settle makes the parts of the screen agree after something has changed: the log follows the selection.
func (u *ui) settle() {
	u.table.focused, u.log.focused = u.main.place() == inTable, u.main.place() == inLog
	u.log.show(u.subject())
	u.activity.see(u.selection().names)
	u.meet()
	u.log.settle()
	if said := u.log.takeMessage(); said != "" {
		u.say(said)
	}
	u.keepLayout()
}

// meet tells the other screens the selection of this one, and notes theirs.
func (u *ui) meet() {
	b := u.options.Beside
	if b.Others == nil {
		return
	}
	at := model.ManifestName("")
	if r := u.target(); r != nil {
		at = r.Name
	}
	b.Moved(at)
	u.table.others = b.Others()
}

// subject returns the resources whose log is shown.
func (u *ui) subject() subject {
	if u.main.scope == everyLog {
		return subject{}
	}
	return u.selection()
}

// selection returns the resources that are selected in the table. The log of all resources may pass too fast to be read: only the
// selected ones count as looked at.
func (u *ui) selection() subject {
	switch l := u.table.current(); {
	case l == nil:
	case l.row != nil:
		return subject{title: string(l.row.Name), names: []model.ManifestName{l.row.Name}}
	default:
		return subject{title: groupName(l.group), names: u.table.members(l.group)}
	}
	return subject{}
}

func (u *ui) move(by int) { u.top().mover().move(by) }

func (u *ui) edge(last bool) { u.top().mover().edge(last) }

func (u *ui) fold(hide bool) { u.table.fold(hide) }

func (u *ui) nextOrder() {
	u.table.nextOrder()
	u.say("resources " + u.table.order.String())
}

func (u *ui) setSource(s logSource) { u.log.source = s }

func (u *ui) cycleFields() {
	u.log.shape.fields = (u.log.shape.fields + 1) % fieldModes
	u.say("lines with fields: " + u.log.shape.fields.String())
}

func (u *ui) toggleCut() {
	u.log.shape.cut = !u.log.shape.cut
	u.say(map[bool]string{true: "long lines are cut", false: "long lines are wrapped"}[u.log.shape.cut])
}

func (u *ui) toggleRepeats() {
	u.log.shape.repeats = !u.log.shape.repeats
	u.say(map[bool]string{true: "lines that repeat are shown each", false: "lines that repeat are folded"}[u.log.shape.repeats])
}

func (u *ui) cycleTime() {
	u.log.shape.time = (u.log.shape.time + 1) % timeModes
	u.say("time of the lines: " + map[timeMode]string{timeClock: "clock", timeAgo: "ago", timeNone: "none"}[u.log.shape.time])
}

func (u *ui) toggleAll() { u.main.scope = selectedLog - u.main.scope }

func (u *ui) cycleLevel() {
	u.log.level = (u.log.level + 1) % len(levels)
	u.say("level of the log: " + []string{"all", "warnings and errors", "errors", "with details"}[u.log.level])
}

// openLine unfolds the line with the cursor, or folds it.
func (u *ui) openLine() { u.log.toggle() }

// target returns the resource that a key acts on: the one in the view on top, else the selected one; nil if there is none.
func (u *ui) target() *view.Row {
	var name model.ManifestName
	switch l := u.top().(type) {
	case *detailsView:
		name = l.name
	case *cardView:
		name = l.resource
	case *whyView:
		name = l.name
	case *pendingView:
		if line := l.list.line(); line != nil {
			name = line.Target.Resource
		}
	default:
		return u.selected()
	}
	return u.row(name)
}

// row returns the row of a resource; nil if there is none.
func (u *ui) row(name model.ManifestName) *view.Row {
	for i := range u.frame.View.Rows {
		if u.frame.View.Rows[i].Name == name {
			return &u.frame.View.Rows[i]
		}
	}
	return nil
}

// selected returns the selected resource; nil if none is.
func (u *ui) selected() *view.Row {
	if l := u.table.current(); l != nil {
		return l.row
	}
	return nil
}

// openEndpoint opens the endpoint of the resource in a browser; where there are several, the user chooses.
func (u *ui) openEndpoint() {
	r := u.target()
	if len(r.Endpoints) == 1 {
		u.open(r.Endpoints[0].URL)
		return
	}
	name := r.Name
	u.choose("endpoints of "+string(name), func() []choice {
		r := u.row(name)
		if r == nil {
			return nil
		}
		var choices []choice
		for _, e := range r.Endpoints {
			choices = append(choices, choice{text: cmp.Or(e.Name, e.URL), note: e.URL, do: func() { u.open(e.URL) }})
		}
		return choices
	})
}

// openWeb opens the web page in a browser. Its address is not shown, because anyone who has it gets in.
func (u *ui) openWeb() {
	resource := ""
	if r := u.target(); r != nil {
		resource = string(r.Name)
	}
	u.say("opening the web page")
	u.job(func(ctx context.Context) func() {
		address, err := u.options.Web(resource)
		if err == nil {
			err = u.options.Open(ctx, address)
		}
		return func() {
			if err != nil {
				u.say("cannot open the web page: " + problem.Text(err) + "; hone open --print prints its address")
			}
		}
	})
}

func (u *ui) open(url string) {
	u.say("opening " + url)
	u.job(func(ctx context.Context) func() {
		err := u.options.Open(ctx, url)
		return func() {
			if err != nil {
				u.say("cannot open " + url + ": " + err.Error())
			}
		}
	})
}

// openRow opens the details of the selected resource, or folds the selected group.
func (u *ui) openRow() {
	switch l := u.table.current(); {
	case l == nil:
	case l.row == nil:
		u.table.fold(!u.table.folded[l.group])
	default:
		u.openDetails(l.row.Name)
	}
}

// openNotices shows the notices whole.
func (u *ui) openNotices() {
	u.push(newReader(u, "notices", func(int) []view.Cell {
		var lines []view.Cell
		for _, n := range u.frame.View.Notices {
			lines = append(append(lines, n.Whole()...), nil)
		}
		if len(lines) == 0 {
			lines = append(lines, view.Cell{{Text: "there are no notices any more", Tone: view.Dim}})
		}
		return lines
	}))
}

// back closes the innermost open element.
func (u *ui) back() {
	if !u.close() {
		u.say(u.quitHint())
	}
}

func (u *ui) quitHint() string {
	if u.options.Past {
		return "q or Ctrl-C leaves"
	}
	if u.options.Leave != "" {
		return "q or Ctrl-C leaves this screen, the session keeps running"
	}
	return "Ctrl-C quits"
}

// backOrLeave closes the innermost open element, or leaves an attached screen if nothing is open.
func (u *ui) backOrLeave() {
	if !u.close() {
		u.quit()
	}
}

// close closes the innermost open element, and reports whether there was one.
func (u *ui) close() bool {
	switch {
	case u.pop():
	case u.log.close():
	case len(u.table.marked) > 0:
		clear(u.table.marked)
	case u.table.query != "":
		u.table.setQuery("")
	case u.main.close():
	default:
		return false
	}
	return true
}

// quit ends the session. The screen stays while the session stops; a second quit leaves it at once. On an attached screen,
// quit ends only the screen.
func (u *ui) quit() {
	if u.stopping {
		u.leave(errLeft)
		return
	}
	u.options.Quit()
	if u.options.leaves() {
		u.leave(errLeft)
		return
	}
	u.stopping = true
}

func (u *ui) redraw() { u.sync() }

// toShell leaves the terminal to the user's shell until the user returns.
func (u *ui) toShell() {
	u.outside(func(ctx context.Context) error {
		err := u.options.Suspend(ctx)
		if ctx.Err() != nil {
			u.abandon()
			return nil //nolint:nilerr // the session has ended; to take the terminal from the shell would stop this process
		}
		return err
	})
}

// obey carries out a request of job control.
func (u *ui) obey(c JobControl) {
	switch {
	case c == Rest && u.options.Suspend == nil:
		u.say("this screen cannot be suspended")
	case c == Rest:
		u.toShell()
	default:
		u.outside(func(context.Context) error { return nil }) // the terminal is set up again, and everything drawn
	}
}

func (u *ui) askFilter() {
	before := u.table.query
	u.ask("filter: ", before, func(s string) error { u.table.setQuery(s); return nil }, func(s string, ok bool) {
		if !ok {
			s = ""
		}
		u.table.setQuery(s)
	})
}

// testsQuery is the query that matches the tests.
const testsQuery = "is:test"

// showTests limits the table to the tests, or shows all resources again.
func (u *ui) showTests() {
	if u.table.query == testsQuery {
		u.table.setQuery("")
		return
	}
	u.table.setQuery(testsQuery)
}

func (u *ui) askLogFilter() {
	before := u.log.terms
	apply := func(s string) error {
		terms, err := logquery.Parse(s)
		if err == nil {
			u.log.terms = terms
		}
		return err
	}
	u.ask("filter log: ", before.Text, apply, func(s string, ok bool) {
		if !ok {
			s = ""
		}
		if err := apply(s); err != nil {
			u.say(err.Error())
		}
	})
}

func (u *ui) findAgain(back bool) {
	u.log.step(back)
}

func (u *ui) jumpUpdate(back bool) {
	if !u.log.jumpUpdate(back) {
		u.say(map[bool]string{true: "no earlier update in this log", false: "no later update in this log"}[back])
	}
}
