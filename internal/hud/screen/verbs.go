package screen

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// place is a part of the screen that receives keys. A verb may work in several places.
type place uint16

const (
	inTable place = 1 << iota
	inLog
	inDetails
	inText // help, notices, a text that is read
	inCard
	inWhy
	inPending
	inRevisions
	inPrompt
	inMain = inTable | inLog
	// inPages is a text that is neither table nor log.
	inPages = inDetails | inText | inCard | inWhy | inPending | inRevisions
	// inActing is every place in which keys act on a resource.
	inActing = inMain | inDetails | inCard | inWhy | inPending
	inViews  = inMain | inPages
)

// verb is something that the user can do. Whatever causes it (a key, the mouse) goes through ui.dispatch; help and footer are
// generated from the list of verbs.
type verb struct {
	// name identifies the verb.
	name string
	keys []key
	in   place
	help string
	// hint is the verb in the footer; empty leaves it out there.
	hint string
	do   func(u *ui)
	// cannot says why the verb cannot be done where the user is; nil if it can. A verb without it can always be done, or reports its
	// own refusal.
	cannot func(u *ui) error
}

// moves reports whether a verb only moves: the palette leaves it out.
func (v verb) moves() bool {
	return slices.Contains(moves, v.name) || strings.HasPrefix(v.name, "tab-")
}

// worksIn reports whether a verb can be used at a place; nil works nowhere.
func (v *verb) worksIn(at place) bool { return v != nil && v.in&at != 0 }

// hasKey reports whether a key carries out a verb; nil has none.
func (v *verb) hasKey() bool { return v != nil && len(v.keys) > 0 }

// asks reports whether a verb asks something of the session.
func (v *verb) asks() bool {
	return slices.ContainsFunc(requests, func(w verb) bool { return w.name == v.name })
}

var moves = []string{"up", "down", "page-up", "page-down", "first", "last", "left", "right", "previous-tab", "next-tab", "palette", "back"}

// shownIn are the verbs whose effect is seen in the log: they bring the log on screen if it is hidden.
var shownIn = []string{"filter-log", "find", "next", "previous", "level", "log-all", "log-build", "log-runtime", "follow", "previous-update", "next-update",
	"previous-run", "next-run", "wrap", "time", "json", "repeats", "copy-all", "save", "pager"}

// requests are the verbs that ask something of the session.
var requests = []verb{
	{"confirm", letters("y"), inPending, "confirm what waits for you: the plan is carried out", "confirm", (*ui).confirmPlan, (*ui).noPlan},
	{"trigger", letters("t"), inActing, "trigger an update of the resource", "trigger", (*ui).trigger, refusedToAll("trigger")},
	{"rebuild", letters("T"), inActing, "rebuild from scratch: new images without any cache, new pods", "", (*ui).rebuild, refusedToAll("rebuild")},
	{"restart", letters("r"), inActing, "restart the process where it is", "restart", (*ui).restart, refusedToAll("restart")},
	{"restart-pods", letters("R"), inActing, "replace the pods", "", (*ui).restartPods, refusedToAll("restart-pods")},
	{"enable-or-disable", letters("d"), inActing, "enable the resource, or disable it", "disable", (*ui).toggleEnabled, refusedToAll("enable-or-disable")},
	{"trigger-mode", letters("m"), inActing, "update the resource when files change, or on request only", "", (*ui).toggleMode, refusedToAll("trigger-mode")},
	{"buttons", letters("u"), inActing, "buttons of the resource and of the session", "", (*ui).chooseButton, (*ui).noButtons},
	{"port-forwards", letters("p"), inMain | inDetails | inWhy | inPending, "port forwards: open, add, change, remove", "", (*ui).chooseForward, (*ui).noForwards},
	{"pause", letters("Z"), inActing, "pause all updates, as for a change of the branch, or resume them", "pause all", (*ui).togglePause, (*ui).cannotPause},
	{"adopt", letters("Y"), inActing, "let the resource take over objects of others that it declares", "", (*ui).adopt, refusedToAll("adopt")},
	{"restore", letters("U"), inActing, "undo what others have changed in the cluster: apply what the Tiltfile says again", "", (*ui).restore, refusedToAll("restore")},
	{"accept", letters("K"), inActing, "keep what others have changed, until the Tiltfile's own values change", "", (*ui).accept, refusedToAll("accept")},
	{"prune", letters("X"), inActing, "delete what the Tiltfile no longer declares", "", (*ui).prune, (*ui).cannotPrune},
	{"shell", letters("S"), inActing, "a shell in the container, or in the folder of the resource", "", (*ui).openShell, (*ui).noShell},
	{"arguments", letters("A"), inActing, "change the arguments of the Tiltfile", "", (*ui).askArguments, nil},
}

const (
	// keysHint is the hint of the key that shows all keys, paletteHint of the key that lists all commands, and detachHint
	// of the key that leaves an attached screen.
	// The footer always has room for them.
	keysHint    = "keys"
	detachHint  = "detach"
	paletteHint = "commands"

	backHelp = "back: closes what is open, clears filter, find and selection"
)

// verbs lists every verb of a screen with the given options, in the order of priority for the footer. Attached screens have
// different keys for leaving, and screens of past sessions have no verbs that act on the session.
func verbs(o Options) []verb {
	quit := verb{"quit", named(tcell.KeyCtrlC), inViews, "quit", "quit", (*ui).quit, nil}
	back := []verb{{"back", append(named(tcell.KeyEscape), letters("q")...), inViews, backHelp, "", (*ui).back, nil}}
	if o.leaves() {
		quit.help, quit.hint = "leave this screen; the session keeps running", detachHint
		if o.Past {
			quit.help, quit.hint = "leave", "quit"
		}
		back = []verb{
			{"back", named(tcell.KeyEscape), inViews, backHelp, "", (*ui).back, nil},
			{"back-or-leave", letters("q"), inViews, "back, and from the table leave this screen", "", (*ui).backOrLeave, nil},
		}
	}
	actions := []verb{{"details", named(tcell.KeyEnter), inTable, "details of the resource; fold or unfold the group", "details", (*ui).openRow, (*ui).noLine}}
	if o.Ask != nil {
		actions = append(actions, requests...)
	}
	last := []verb{{"redraw", named(tcell.KeyCtrlL), inViews, "redraw the screen", "", (*ui).redraw, nil}}
	if o.Suspend != nil {
		last = append(last, verb{"suspend", named(tcell.KeyCtrlZ), inViews | inPrompt, "back to the shell; fg shows the screen again", "", (*ui).toShell, nil})
	}
	all := slices.Concat(actions, []verb{
		{"open-line", named(tcell.KeyEnter), inLog, "open the line: fields, repeats", "open", (*ui).openLine, (*ui).nothingMore},
		{"open-detail", named(tcell.KeyEnter), inDetails | inWhy | inPending | inRevisions, "go where the line leads", "open", (*ui).openDetail, (*ui).leadsNowhere},
		{"card-log", letters("l"), inCard, "the whole log of the failure", "full log", (*ui).cardLog, (*ui).noCard},
		{"card-previous", letters("p"), inCard, "the log of the run before", "previous run", (*ui).cardPrevious, (*ui).noRun},
		{"card-details", named(tcell.KeyEnter), inCard, "details of the resource", "details", (*ui).cardDetails, (*ui).noCard},
		{"next-error", letters("e"), inActing, "next error, as a card: what failed, why, what helps", "next error", func(u *ui) { u.nextError(1) }, nil},
		{"previous-error", letters("E"), inActing, "previous error", "", func(u *ui) { u.nextError(-1) }, nil},
		{"why", letters("w"), inActing, "why the resource is in its state; then: what a change of a file does", "why", (*ui).openWhy, (*ui).noResource},
		{"all", letters("a"), inMain, "log of all resources, or of the selected resource or group", "all/one", (*ui).toggleAll, nil},
		{"filter", letters("/"), inTable, "show only resources that match: letters, !letters, label:x, is:failing, is:test", "filter", (*ui).askFilter, nil},
		{"tests", letters("I"), inTable, "show only the tests, with their verdicts", "", (*ui).showTests, (*ui).noTests},
		{"filter-log", letters("/"), inLog, "show only lines that match: words, !word, /regex/, level:warn, source:build, container:x, pod:x, since:5m, field>=n", "filter", (*ui).askLogFilter, nil},
		{"find", letters("f"), inMain, "find in the log: text, or /regex/", "find", (*ui).askFind, nil},
		{"next", letters("n"), inMain, "next match", "", func(u *ui) { u.findAgain(false) }, (*ui).noSearch},
		{"previous", letters("N"), inMain, "previous match", "", func(u *ui) { u.findAgain(true) }, (*ui).noSearch},
		{"find-text", letters("f"), inPages, "find in the page: text, or /regex/", "find", (*ui).askFindInText, nil},
		{"next-text", letters("n"), inPages, "next match in the page", "", func(u *ui) { u.findInTextAgain(false) }, (*ui).noSearchInText},
		{"previous-text", letters("N"), inPages, "previous match in the page", "", func(u *ui) { u.findInTextAgain(true) }, (*ui).noSearchInText},
		{"copy-detail", letters("c"), inPages, "copy the line of a list, or the page", "copy", (*ui).copyDetail, (*ui).noDetail},
		{"copy-text", letters("C"), inPages, "copy the page", "", (*ui).copyText, nil},
		{"level", letters("L"), inMain, "level of the log: all, warnings, errors, with details", "level", (*ui).cycleLevel, nil},
		{"size", letters("x"), inMain, "size of the log: short, half, full", "log size", (*ui).cycleSize, nil},
		{"zoom", letters("z"), inMain, "zoom the pane that has the focus", "zoom", (*ui).zoom, nil},
		{"switch", named(tcell.KeyTab), inMain, "go to the log, or back to the table", "log", (*ui).switchFocus, (*ui).noOtherPane},
		{"mark", letters(" "), inTable, "mark the resource, or those of the group: keys then act on all that are marked", "", func(u *ui) { u.table.markCurrent() }, (*ui).noMark},
		{"mark-shown", letters("*"), inTable, "mark all resources that are shown", "", func(u *ui) { u.table.markShown() }, (*ui).noShown},
		{"browser", letters("b"), inActing, "open an endpoint in a browser", "browser", (*ui).openEndpoint, (*ui).noEndpoint},
		{"web", letters("O"), inActing, "open the web page, with the resource", "", (*ui).openWeb, nil},
		{"palette", letters(":"), inViews, "all commands by name", paletteHint, (*ui).palette, nil},
		{"jump", named(tcell.KeyCtrlP), inViews, "go to a resource", "", (*ui).jump, (*ui).noRows},
		{"pending", letters("P"), inActing, "changes that wait for an update", "", (*ui).openPending, (*ui).alreadyPending},
		{"revisions", letters("B"), inActing, "revisions of the project in the cluster: what was applied, and what has changed", "", (*ui).openRevisions, (*ui).noRevisions},
		{"snapshot", named(tcell.KeyCtrlS), inViews, "save a snapshot of the session to a file, for a colleague", "", (*ui).saveSnapshot, (*ui).noSnapshot},
		{"notices", letters("!"), inMain, "read the notices whole", "", (*ui).openNotices, (*ui).noNotices},
		{"help", letters("?"), inViews, "this help", keysHint, (*ui).openHelp, (*ui).alreadyHelp},
		quit,
		{"log-all", letters("1"), inMain, "whole log", "", func(u *ui) { u.setSource(allSources) }, nil},
		{"log-build", letters("2"), inMain, "build log", "", func(u *ui) { u.setSource(buildLog) }, nil},
		{"log-runtime", letters("3"), inMain, "runtime log", "", func(u *ui) { u.setSource(runtimeLog) }, nil},
		{"follow", letters("l"), inMain, "follow the newest line of the log", "", func(u *ui) { u.log.end() }, nil},
		{"previous-update", letters("["), inMain, "previous update in the log", "", func(u *ui) { u.jumpUpdate(true) }, (*ui).noLog},
		{"next-update", letters("]"), inMain, "next update in the log", "", func(u *ui) { u.jumpUpdate(false) }, (*ui).noLog},
		{"previous-run", letters("{"), inMain, "previous run of a container in the log", "", func(u *ui) { u.jumpRun(true) }, (*ui).noLog},
		{"next-run", letters("}"), inMain, "next run of a container in the log", "", func(u *ui) { u.jumpRun(false) }, (*ui).noLog},
		{"wrap", letters("W"), inMain, "wrap long lines, or cut them", "", (*ui).toggleCut, nil},
		{"time", letters("i"), inMain, "time of the lines: clock, ago, none", "", (*ui).cycleTime, nil},
		{"json", letters("J"), inMain, "lines of JSON: message and fields, in columns, as they are", "", (*ui).cycleFields, nil},
		{"repeats", letters("F"), inMain, "fold lines that repeat, or show each", "", (*ui).toggleRepeats, nil},
		{"mark-line", letters(" "), inLog, "mark the line", "", (*ui).markLine, (*ui).noLogLine},
		{"next-mark", letters("'"), inLog, "next marked line", "", (*ui).nextMark, (*ui).noMarkedLine},
		{"copy", letters("c"), inLog, "copy the line, or the selection", "copy", (*ui).copyLines, (*ui).noLogLine},
		{"copy-all", letters("C"), inMain, "copy all lines that are shown", "", (*ui).copyShown, (*ui).noLog},
		{"select", letters("v"), inLog, "begin or end a selection", "", (*ui).selectLines, (*ui).noLogLine},
		{"save", letters("s"), inMain, "save all lines that are shown to a file", "", (*ui).askSave, (*ui).noLog},
		{"pager", letters("|"), inMain, "show the log in the pager", "", (*ui).page, (*ui).noLog},
		{"editor", letters("o"), inActing, "open the file that the line names, or the definition of the resource, in the editor", "", (*ui).openPlace, nil},
		{"sort", letters(">"), inTable, "next order of the resources: by group, alerts first, by name, by last change", "", (*ui).nextOrder, nil},
		{"side", letters("V"), inMain, "the log beside the table, or below it", "", (*ui).turnSide, nil},
		{"larger", letters("+"), inMain, "more room for the pane that has the focus", "", func(u *ui) { u.resize(1) }, (*ui).noBorder},
		{"smaller", letters("-"), inMain, "less room for it", "", func(u *ui) { u.resize(-1) }, (*ui).noBorder},
		{"up", append(named(tcell.KeyUp), letters("k")...), inViews, "up", "", func(u *ui) { u.move(-1) }, nil},
		{"down", append(named(tcell.KeyDown), letters("j")...), inViews, "down", "", func(u *ui) { u.move(1) }, nil},
		{"page-up", named(tcell.KeyPgUp), inViews, "page up", "", func(u *ui) { u.top().mover().page(-1) }, nil},
		{"page-down", named(tcell.KeyPgDn), inViews, "page down", "", func(u *ui) { u.top().mover().page(1) }, nil},
		{"first", append(named(tcell.KeyHome), letters("g")...), inViews, "beginning", "", func(u *ui) { u.edge(false) }, nil},
		{"last", append(named(tcell.KeyEnd), letters("G")...), inViews, "end; in the log, follow the newest line", "", func(u *ui) { u.edge(true) }, nil},
		{"fold", named(tcell.KeyLeft), inTable, "fold the group", "", func(u *ui) { u.fold(true) }, func(u *ui) error { return u.noGroup(true) }},
		{"unfold", named(tcell.KeyRight), inTable, "unfold the group", "", func(u *ui) { u.fold(false) }, func(u *ui) error { return u.noGroup(false) }},
		{"left", named(tcell.KeyLeft), inLog, "left, where lines are cut", "", func(u *ui) { u.log.sideways(-1) }, (*ui).notCut},
		{"right", named(tcell.KeyRight), inLog, "right, where lines are cut", "", func(u *ui) { u.log.sideways(1) }, (*ui).notCut},
		{"tab-1", letters("1"), inDetails, "tab 1", "", func(u *ui) { u.chooseTab(0) }, noTab(0)},
		{"tab-2", letters("2"), inDetails, "tab 2", "", func(u *ui) { u.chooseTab(1) }, noTab(1)},
		{"tab-3", letters("3"), inDetails, "tab 3", "", func(u *ui) { u.chooseTab(2) }, noTab(2)},
		{"tab-4", letters("4"), inDetails, "tab 4", "", func(u *ui) { u.chooseTab(3) }, noTab(3)},
		{"tab-5", letters("5"), inDetails, "tab 5", "", func(u *ui) { u.chooseTab(4) }, noTab(4)},
		{"tab-6", letters("6"), inDetails, "tab 6", "", func(u *ui) { u.chooseTab(5) }, noTab(5)},
		{"previous-tab", named(tcell.KeyLeft), inDetails, "previous tab", "", func(u *ui) { u.turnTab(-1) }, nil},
		{"next-tab", append(named(tcell.KeyRight), named(tcell.KeyTab)...), inDetails, "next tab", "tabs", func(u *ui) { u.turnTab(1) }, nil},
	}, back, last)
	if o.Web == nil {
		all = slices.DeleteFunc(all, func(v verb) bool { return v.name == "web" })
	}
	if o.ReadOnly {
		all = slices.DeleteFunc(all, func(v verb) bool { return v.name == "save" || v.name == "snapshot" })
	}
	return all
}

// levels are the choices of key L.
var levels = []logstore.Level{logstore.LevelInfo, logstore.LevelWarn, logstore.LevelError, logstore.LevelDebug}

// matching returns the verb of a key at a place; nil if the key does nothing there.
func (u *ui) matching(k key, at place) *verb {
	if k == (key{}) {
		return nil
	}
	for i, v := range u.verbs {
		if v.worksIn(at) && slices.Contains(v.keys, k) {
			return &u.verbs[i]
		}
	}
	return nil
}

// dispatch carries out the user's request, whether by key, by mouse or by name, or says why it cannot be done.
func (u *ui) dispatch(v *verb) {
	u.message, u.wanted = "", ""
	if v != nil {
		if slices.Contains(shownIn, v.name) {
			u.main.bringLog()
		}
		if why := u.refusal(v); why != nil {
			u.tell(why)
		} else {
			v.do(u)
		}
	}
	u.settle()
}

// verb returns the verb with a name.
func (u *ui) verb(name string) *verb {
	for i := range u.verbs {
		if u.verbs[i].name == name {
			return &u.verbs[i]
		}
	}
	return nil
}
