package screen

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// asks are the verbs that make the same request for each resource that they act on.
var asks = map[string]func(names []string) Request{
	"trigger": func(names []string) Request {
		return func(v store.View) (store.Action, error) { return intent.Trigger(v, names) }
	},
	"rebuild": func(names []string) Request {
		return func(v store.View) (store.Action, error) { return intent.Rebuild(v, names) }
	},
	"restart": func(names []string) Request {
		return func(v store.View) (store.Action, error) { return intent.Restart(v, names, false) }
	},
	"restart-pods": func(names []string) Request {
		return func(v store.View) (store.Action, error) { return intent.Restart(v, names, true) }
	},
	"adopt": func(names []string) Request {
		return func(v store.View) (store.Action, error) { return intent.Adopt(v, names) }
	},
	"restore": func(names []string) Request {
		return func(v store.View) (store.Action, error) { return intent.Restore(v, names) }
	},
	"accept": func(names []string) Request {
		return func(v store.View) (store.Action, error) { return intent.Accept(v, names) }
	},
	"trigger-mode": func(names []string) Request {
		return func(v store.View) (store.Action, error) { return intent.SetTriggerMode(v, names, model.TriggerAuto) }
	},
	"enable-or-disable": func(names []string) Request {
		return func(v store.View) (store.Action, error) { return changing(intent.SetEnabled(v, true, names)) }
	},
}

// refusal returns why a verb cannot be done now; nil if it can.
func (u *ui) refusal(v *verb) error {
	if u.stopping && v.asks() {
		return problem.New("the session is stopping", "")
	}
	if v.cannot == nil {
		return nil
	}
	return v.cannot(u)
}

// try asks the session whether it would accept a request, and returns why not.
func (u *ui) try(w Request) error {
	_, err := u.options.Ask(func(v store.View) (store.Action, error) {
		_, err := w(v)
		return nil, err
	})
	return err
}

func (u *ui) cannotPause() error {
	return u.try(func(v store.View) (store.Action, error) {
		if u.frame.Session().Paused { // and can be resumed
			return nil, nil
		}
		return changing(intent.Pause(v))
	})
}

func (u *ui) cannotPrune() error {
	return u.try(func(v store.View) (store.Action, error) { return intent.Prune(v) })
}

// able returns the targets that a verb can be used on, and the words that name the others. The error is why it can be used on
// none.
func (u *ui) able(verb string) (names []model.ManifestName, but string, err error) {
	targets := u.targets()
	if len(targets) == 0 {
		return nil, "", u.nothing()
	}
	if verb != "enable-or-disable" && verb != "trigger-mode" {
		targets = u.enabledOf(targets)
	}
	var others []model.ManifestName
	var first error
	err = u.try(func(v store.View) (store.Action, error) { // all in one snapshot
		for _, n := range targets {
			if _, why := asks[verb]([]string{string(n)})(v); why != nil {
				others, first = append(others, n), cmp.Or(first, why)
				continue
			}
			names = append(names, n)
		}
		return nil, nil
	})
	switch {
	case err != nil:
		return nil, "", err
	case len(names) == 0:
		return nil, "", first
	case len(others) > 0:
		but = ", not " + listed(others)
	}
	return names, but, nil
}

func refusedToAll(verb string) func(*ui) error {
	return func(u *ui) error {
		_, _, err := u.able(verb)
		return err
	}
}

// nothing is why a verb has no resource to act on.
func (u *ui) nothing() error {
	switch l := u.table.current(); {
	case len(u.frame.View.Rows) == 0:
		return problem.New("there are no resources yet", "they come with the evaluation of the Tiltfile")
	case u.top() != u.main:
		return problem.New("no resource is selected here", "")
	case l == nil && u.table.query != "":
		return problem.New("no resource matches "+u.table.query, u.keyOf("back", "shows all of them"))
	case l.heading():
		return problem.New("a group is selected", "choose one of its resources")
	}
	return problem.New("no resource is selected", "")
}

// noResource refuses where no single resource is selected.
func (u *ui) noResource() error {
	if u.target() == nil {
		return u.nothing()
	}
	return nil
}

// noLine refuses where nothing of the table is selected.
func (u *ui) noLine() error {
	if u.table.current() == nil {
		return u.nothing()
	}
	return nil
}

// noRows refuses where there are no resources at all.
func (u *ui) noRows() error {
	if len(u.frame.View.Rows) == 0 {
		return u.nothing()
	}
	return nil
}

func (u *ui) noMark() error {
	if u.table.current().single() {
		return problem.New("the Tiltfile is not marked together with resources", "act on it while it is selected")
	}
	return u.noLine()
}

// noShown refuses where the table shows no resource that can be marked.
func (u *ui) noShown() error {
	if !slices.ContainsFunc(u.table.rows, func(r view.Row) bool { return r.Name != model.TiltfileName }) {
		return u.nothing()
	}
	return nil
}

func (u *ui) noTests() error {
	if !slices.ContainsFunc(u.table.all, func(r view.Row) bool { return r.Test }) {
		return problem.New("the Tiltfile declares no tests", "declare one with test(), or with local_resource(…, kind='test')")
	}
	return nil
}

func (u *ui) noForwards() error {
	r := u.target()
	if r == nil {
		return u.nothing()
	}
	if c, _ := u.frame.Controls(r.Name); len(c.Forwards) > 0 && !c.Disabled {
		return nil // they can be changed
	}
	return u.try(func(v store.View) (store.Action, error) {
		return nil, intent.Forwardable(v, string(r.Name))
	})
}

func (u *ui) noButtons() error {
	if r := u.target(); r != nil {
		if c, _ := u.frame.Controls(r.Name); len(c.Buttons) > 0 {
			return nil
		}
	}
	if len(u.frame.Session().Buttons) > 0 {
		return nil
	}
	return problem.New("the Tiltfile declares no buttons here", "load('ext://uibutton', 'cmd_button') declares them")
}

func (u *ui) noShell() error {
	r := u.target()
	if r == nil {
		return u.nothing()
	}
	if _, err := u.frame.Shell(r.Name); err != nil {
		return err
	}
	if u.options.Programs.Shell == nil {
		return problem.New("a shell cannot be used here", "run: hone shell "+string(r.Name))
	}
	return nil
}

func (u *ui) noEndpoint() error {
	r := u.target()
	if r == nil {
		return u.nothing()
	}
	if len(r.Endpoints) == 0 {
		return problem.New(string(r.Name)+" has no endpoint", "port forwards (p) and links of the Tiltfile are endpoints")
	}
	return nil
}

// noGroup refuses to fold or unfold where that changes nothing.
func (u *ui) noGroup(fold bool) error {
	l := u.table.current()
	switch {
	case l == nil:
		return u.nothing()
	case u.table.order != view.ByGroup:
		return problem.New("in this order there are no groups", u.keyOf("sort", "changes the order"))
	case !u.table.groups():
		return problem.New("there are no groups", "labels=[…] in the Tiltfile makes them")
	case l.single():
		return problem.New("the Tiltfile is in no group", "")
	case l.heading():
		if u.table.folded[l.group] == fold {
			return problem.New(map[bool]string{true: "the group is folded already", false: "the group is not folded"}[fold], "")
		}
	case !fold:
		return problem.New(string(l.name())+" hides nothing", u.keyOf("details", "shows its details"))
	}
	return nil
}

func (u *ui) notCut() error {
	if !u.log.shape.cut {
		return problem.New("long lines are wrapped", u.keyOf("wrap", "cuts them"))
	}
	return nil
}

func (u *ui) noLogLine() error {
	if u.log.item() == nil {
		return u.noLines()
	}
	return nil
}

// nothingMore refuses to open a line that hides nothing.
func (u *ui) nothingMore() error {
	it := u.log.item()
	if it == nil {
		return u.noLines()
	}
	p := u.log
	more := len(p.wrap(*it, true).rows) - len(p.wrap(*it, false).rows)
	if !p.opened[it.First] && more == 0 {
		return problem.New("this line is shown whole: it has no fields and no repeats", "")
	}
	return nil
}

// noLog refuses where the log has no line, unless its lines are still being looked for.
func (u *ui) noLog() error {
	if l := u.log.list; l != nil && l.Empty() {
		return u.noLines()
	}
	return nil
}

// noLines is why a log is empty.
func (u *ui) noLines() error {
	p := u.log
	switch {
	case !p.terms.Empty():
		return problem.New("no line of this log passes the filter", u.keyOf("back", "clears it"))
	case p.level > 0:
		return problem.New("no line of this log has this level", u.keyOf("level", "changes the level"))
	case p.source != allSources:
		return problem.New("this log has no lines from there", u.keyOf("log-all", "shows the whole log"))
	}
	return problem.New("this log has no lines", "")
}

func (u *ui) noSearch() error {
	if u.log.found.Empty() {
		return problem.New("no search text", u.keyOf("find", "asks for one"))
	}
	return nil
}

func (u *ui) noMarkedLine() error {
	if len(u.log.marked) == 0 {
		return problem.New("no line is marked", u.keyOf("mark-line", "marks one"))
	}
	return nil
}

func (u *ui) noOtherPane() error {
	if u.screen.tiny() {
		return u.onePane()
	}
	return nil
}

// onePane refuses where the terminal has room for one pane only.
func (u *ui) onePane() error {
	var mend string
	switch {
	case u.screen.tiny():
		mend = "enlarge it"
	case u.main.narrow():
		mend = u.keyOf("switch", "goes to the other one")
	default:
		return nil
	}
	return problem.New("this terminal has room for one pane only", mend)
}

// noBorder refuses where no border can be moved.
func (u *ui) noBorder() error {
	if err := u.onePane(); err != nil {
		return err
	}
	if u.main.turns() {
		return problem.New("only one pane is shown", u.keyOf("zoom", "shows both"))
	}
	return nil
}

func (u *ui) leadsNowhere() error {
	if list, _ := u.lines(); list == nil || list.line() == nil {
		return problem.New("there is no line that leads anywhere", "")
	}
	return nil
}

func (u *ui) noCard() error {
	if u.card() == nil {
		return problem.New("this failure is over", "")
	}
	return nil
}

func (u *ui) noRun() error {
	if c := u.card(); c != nil {
		if _, ok := runOf(c.Span); !ok {
			return problem.New("this failure did not happen in a container", "")
		}
		return nil
	}
	return u.noCard()
}

func noTab(i int) func(*ui) error {
	return func(u *ui) error {
		if d := u.details(); d != nil && i >= len(d.content.Tabs) {
			return problem.New(fmt.Sprintf("there is no tab %d here", i+1), "")
		}
		return nil
	}
}

func (u *ui) noNotices() error {
	if len(u.frame.View.Notices) == 0 {
		return problem.New("there are no notices", "")
	}
	return nil
}

func (u *ui) alreadyPending() error {
	if _, open := u.top().(*pendingView); open {
		return problem.New("these are the changes that wait", u.keyOf("back", "goes back"))
	}
	return nil
}

func (u *ui) alreadyHelp() error {
	if r, open := u.top().(*reader); open && r.title == helpTitle {
		return problem.New("this is the help", u.keyOf("back", "goes back"))
	}
	return nil
}

func (u *ui) noSnapshot() error {
	if u.options.Snapshot == nil {
		return problem.New("a snapshot cannot be made here", "make one where the session runs: hone snapshot create")
	}
	return nil
}

// placeNames name the places where verbs work, and the verb that goes there. The first one that fits is named.
var placeNames = []struct {
	in       place
	name, by string
}{
	{inTable, "in the table", "back"}, {inLog, "in the log", "switch"}, {inCard, "on an error card", "next-error"},
	{inDetails, "in the details of a resource", "details"}, {inWhy, "where a state is explained", "why"}, {inPending, "in the pending changes", "pending"}, {inRevisions, "in the revisions", "revisions"},
	{inText, "in a text that is read", "help"}, {inPrompt, "where text is typed", ""},
}

// elsewhere says where a verb works that does not work at a place, with the key that goes there: "works in the log (Tab)".
func (u *ui) elsewhere(v verb, at place) string {
	for _, p := range placeNames {
		if v.in&p.in == 0 {
			continue
		}
		by := u.verb(p.by)
		if by != nil && !by.worksIn(at) { // its key works once this view is closed
			by = u.verb("back")
		}
		if !by.hasKey() {
			return "works " + p.name
		}
		return fmt.Sprintf("works %s (%s)", p.name, by.keys[0])
	}
	return "does not work here"
}

// stray says why a key does nothing where the user is.
func (u *ui) stray(k key) error {
	for _, v := range u.withheld {
		if slices.Contains(v.keys, k) {
			return withheld(u.options, v)
		}
	}
	for _, p := range placeNames {
		if v := u.matching(k, p.in); v != nil {
			return problem.New(fmt.Sprintf("%s: %s %s", k, v.name, u.elsewhere(*v, u.top().place())), "")
		}
	}
	return problem.New(fmt.Sprintf("no command has the key %s", k), u.keyOf("help", "lists all keys"))
}

// keyOf describes the key of a verb: "? lists all keys"; empty if it has none.
func (u *ui) keyOf(name, does string) string {
	if v := u.verb(name); v.hasKey() {
		return v.keys[0].String() + " " + does
	}
	return ""
}

// withheld says why a screen does not have a verb.
func withheld(o Options, v verb) error {
	switch {
	case v.name == "suspend":
		return problem.New("this screen has no shell to go back to", "")
	case o.Past:
		return problem.New(v.name+" is not possible: the session is over", "")
	case o.ReadOnly:
		return problem.New(v.name+" is not possible: this screen is read-only", "attach without --read-only")
	}
	return problem.New(v.name+" is not possible on this screen", "")
}

// nothing takes a request of a screen that is only asked for its verbs.
func nothing(Request) (func(context.Context) error, error) { return nil, nil }

// lacking returns the verbs that a screen lacks because it only shows, with the keys they would have.
func lacking(o Options, has []verb) []verb {
	full := o
	full.ReadOnly, full.Past, full.Ask = false, false, nothing
	full.Suspend = func(context.Context) error { return nil }
	return slices.DeleteFunc(verbsFor(full), func(v verb) bool {
		return slices.ContainsFunc(has, func(h verb) bool { return h.name == v.name })
	})
}
