package screen

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// messageTime is how long a message covers the footer, unless a key removes it.
const messageTime = 4 * time.Second

// ui is the state of the screen. Only tview's goroutine touches it.
type ui struct {
	theme   theme
	options Options
	keys    []binding
	frame   Frame

	table *table
	log   *logPane
	pager *pager

	paging  bool // the pager covers table and log
	inLog   bool // keys go to the log
	one     bool // the log shows only the selected resource
	size    logSize
	tiny    bool // the terminal is too small for more than the log
	turns   bool // table and log take turns
	prompt  *prompt
	message string    // until the next key, or for a moment
	expires time.Time // of message

	stopping bool
	// leave ends the screen; job passes a job to the pump; search passes a request to the searcher; sync redraws.
	leave  context.CancelCauseFunc
	done   <-chan struct{}
	job    func(func(context.Context) string)
	search func(request)
	sync   func()
}

func newUI(o Options, t theme) *ui {
	return &ui{theme: t, options: o, keys: keymap(o), table: newTable(t), log: newLogPane(t, o.Logs), pager: newPager(t)}
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
}

// apply shows a new frame.
func (u *ui) apply(f Frame, now time.Time) {
	u.frame = f
	if now.After(u.expires) {
		u.message = ""
	}
	u.table.step = int(now.UnixMilli() / spinnerStep.Milliseconds() % 1000)
	u.table.setRows(f.View.Rows)
	u.showLog()
}

// where returns the focus, which determines the active keys.
func (u *ui) where() focus {
	switch {
	case u.paging:
		return inPager
	case u.inLog || u.size == fullLog || u.tiny:
		return inLog
	}
	return inTable
}

// key handles a key. It always consumes the key, so that tview sees none.
func (u *ui) key(event *tcell.EventKey) *tcell.EventKey {
	defer u.guard()
	u.message = ""
	if u.prompt != nil {
		if p := u.prompt; !p.key(event) && u.prompt == p {
			u.prompt = nil
		}
		return nil
	}
	where := u.where()
	for _, b := range u.keys {
		if b.matches(event, where) {
			b.do(u)
			break
		}
	}
	u.table.focused, u.log.focused = u.where() == inTable, u.where() == inLog
	return nil
}

// showLog shows the log of the selected resource.
func (u *ui) showLog() {
	name := model.ManifestName("")
	if u.one {
		name = u.table.selected
	}
	u.log.choose(name, u.log.source)
}

func (u *ui) move(by int) {
	u.table.move(by)
	u.showLog()
}

func (u *ui) edge(last bool) {
	u.table.edge(last)
	u.showLog()
}

func (u *ui) fold(hide bool) {
	u.table.fold(hide)
	u.showLog()
}

func (u *ui) setSource(s logSource) { u.log.choose(u.log.resource, s) }

func (u *ui) toggleAll() {
	u.one = !u.one
	u.showLog()
}

func (u *ui) cycleSize() { u.size = (u.size + 1) % logSizes }

func (u *ui) switchFocus() {
	if u.size == fullLog {
		u.size, u.inLog = halfLog, true
	}
	u.inLog = !u.inLog
}

func (u *ui) nextError() {
	if !u.table.nextError() {
		u.say("nothing is failing")
		return
	}
	u.one = true
	u.showLog()
}

func (u *ui) trigger() {
	r := u.table.current()
	if r == nil {
		return
	}
	if err := u.options.Trigger(r.Name); err != nil {
		u.say(words.OneLine(strings.ReplaceAll(problem.Text(err), "\n", ";")))
		return
	}
	u.say(fmt.Sprintf("%s will be updated", r.Name))
}

func (u *ui) openEndpoint() {
	r := u.table.current()
	if r == nil || len(r.Endpoints) == 0 {
		u.say("no endpoint to open")
		return
	}
	url := r.Endpoints[0].URL
	u.say("opening " + url)
	u.job(func(ctx context.Context) string {
		if err := u.options.Open(ctx, url); err != nil {
			return "cannot open " + url + ": " + err.Error()
		}
		return ""
	})
}

func (u *ui) openDetails() {
	r := u.table.current()
	if r == nil {
		return
	}
	name := r.Name
	u.paging = true
	u.pager.show(string(name), func(int) []view.Cell {
		if u.frame.Details == nil {
			return nil
		}
		lines := u.frame.Details(name)
		if lines == nil {
			lines = []view.Cell{{{Text: "this resource no longer exists", Tone: view.Dim}}}
		}
		return lines
	})
}

func (u *ui) openHelp() {
	u.paging = true
	u.pager.show("keys", func(int) []view.Cell {
		var lines []view.Cell
		for _, part := range []struct {
			in    focus
			title string
		}{{inTable, "IN THE TABLE"}, {inLog, "IN THE LOG"}, {inPager, "IN DETAILS AND HELP"}} {
			lines = append(lines, view.Cell{{Text: part.title, Tone: view.Strong}})
			for _, b := range u.keys {
				if b.in&part.in != 0 {
					lines = append(lines, view.Cell{{Text: fmt.Sprintf("  %-8s ", b.label()), Tone: view.Accent}, {Text: b.verb}})
				}
			}
			lines = append(lines, nil)
		}
		return append(lines, view.Cell{{Text: "hone " + u.options.Version, Tone: view.Dim}})
	})
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
	case u.paging:
		u.paging = false
	case u.log.found != "":
		u.log.found = ""
	case u.table.query != "":
		u.table.setQuery("")
		u.showLog()
	case !u.log.follow:
		u.log.end()
	case u.where() == inLog && !u.tiny:
		u.inLog, u.size = false, halfLog
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

func (u *ui) askFilter() {
	before := u.table.query
	set := func(s string) {
		u.table.setQuery(s)
		u.showLog()
	}
	u.prompt = &prompt{label: "filter: ", text: before, changed: set, done: func(_ string, ok bool) {
		if !ok {
			set("")
		}
	}}
}

func (u *ui) askFind() {
	u.prompt = &prompt{label: "find in log: ", changed: func(string) {}, done: func(s string, ok bool) {
		u.log.found = strings.ToLower(s)
		if ok && s != "" {
			u.log.end()
			u.findAgain(true)
		}
	}}
}

// findAgain searches for the next or the previous line that contains the search text.
func (u *ui) findAgain(back bool) {
	if u.log.found == "" {
		u.say("no search text: press f to enter it")
		return
	}
	f := u.log.filter()
	f.Match = matcher(u.log.found)
	from := uint64(1) << 63
	if at := u.log.marked; at != 0 && !u.log.follow {
		from = at
	}
	u.say("searching…")
	u.search(request{filter: f, from: from, back: back, found: u.log.found})
}

// showFound shows the answer to a search.
func (u *ui) showFound(a answer) {
	switch {
	case a.found != u.log.found:
	case a.seq == 0:
		u.say(fmt.Sprintf("%q: no more matches", a.found))
	default:
		u.message = ""
		u.log.marked = a.seq
		u.log.reveal(a.seq)
	}
}

// matcher returns a test for lines that contain a text, regardless of letter case.
func matcher(lower string) func([]byte) bool {
	return func(line []byte) bool { return strings.Contains(strings.ToLower(string(line)), lower) }
}

// Logs is the part of the log store that the screen reads.
type Logs interface {
	Tail(f logstore.Filter, n int) []logstore.Line
	ReadBefore(f logstore.Filter, seq uint64, n int) []logstore.Line
	ReadAfter(f logstore.Filter, seq uint64, n int) []logstore.Line
	Search(ctx context.Context, f logstore.Filter, seq uint64, n int, back bool) ([]logstore.Line, error)
	Count(f logstore.Filter) int
	Dropped(f logstore.Filter) uint64
	Subscribe() (changed <-chan struct{}, cancel func())
}

var _ Logs = (*logstore.Store)(nil)
