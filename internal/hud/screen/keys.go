package screen

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
)

// focus is where keys go. A binding may work in several places.
type focus uint8

const (
	inTable focus = 1 << iota
	inLog
	inPager
	inMain = inTable | inLog
	always = inMain | inPager
)

// binding is a key and its action. The list of bindings is the only definition of keys: the help and the footer are generated
// from it.
type binding struct {
	keys []key
	in   focus
	verb string
	// hint is the verb in the footer; empty leaves it out there.
	hint string
	do   func(u *ui)
}

const (
	// keysHint is the hint of the key that shows all keys, and detachHint the hint of the key that leaves an attached screen.
	// The footer always has room for them.
	keysHint   = "keys"
	detachHint = "detach"

	backVerb = "back: closes help and details, clears filter and search"
)

// key is a letter, or a named key.
type key struct {
	letter rune
	named  tcell.Key
}

func letters(s string) []key {
	var keys []key
	for _, r := range s {
		keys = append(keys, key{letter: r})
	}
	return keys
}

func named(keys ...tcell.Key) []key {
	var out []key
	for _, k := range keys {
		out = append(out, key{named: k})
	}
	return out
}

// String returns the key as labelled on a keyboard.
func (k key) String() string {
	if k.letter != 0 {
		return string(k.letter)
	}
	switch k.named {
	case tcell.KeyUp:
		return "↑"
	case tcell.KeyDown:
		return "↓"
	case tcell.KeyLeft:
		return "←"
	case tcell.KeyRight:
		return "→"
	case tcell.KeyEscape:
		return "Esc"
	case tcell.KeyCtrlC:
		return "Ctrl-C"
	case tcell.KeyCtrlL:
		return "Ctrl-L"
	}
	return tcell.KeyNames[k.named]
}

func (b binding) label() string {
	names := make([]string, len(b.keys))
	for i, k := range b.keys {
		names[i] = k.String()
	}
	return strings.Join(names, " ")
}

func (b binding) matches(event *tcell.EventKey, where focus) bool {
	return b.in&where != 0 && slices.ContainsFunc(b.keys, func(k key) bool {
		if event.Key() == tcell.KeyRune {
			return k.letter == event.Rune() && k.letter != 0 && event.Modifiers()&(tcell.ModAlt|tcell.ModCtrl) == 0
		}
		return k.letter == 0 && k.named == event.Key()
	})
}

// keymap lists every key of a screen with the given options, in the order of priority for the footer. Attached screens have
// different keys for leaving, and screens of past sessions have no keys that act on the session.
func keymap(o Options) []binding {
	quit := binding{named(tcell.KeyCtrlC), always, "quit", "quit", (*ui).quit}
	back := []binding{{append(named(tcell.KeyEscape), letters("q")...), always, backVerb, "", (*ui).back}}
	if o.leaves() {
		quit.verb, quit.hint = "leave this screen; the session keeps running", detachHint
		if o.Past {
			quit.verb, quit.hint = "leave", "quit"
		}
		back = []binding{
			{named(tcell.KeyEscape), always, backVerb, "", (*ui).back},
			{letters("q"), always, "back, and from the table leave this screen", "", (*ui).backOrLeave},
		}
	}
	first := []binding{{named(tcell.KeyEnter), inMain, "details of the resource", "details", (*ui).openDetails}}
	if !o.Past {
		first = append(first, binding{letters("t"), inMain, "trigger an update of the resource", "trigger", (*ui).trigger})
	}
	return slices.Concat(first, []binding{
		{letters("e"), inMain, "next error", "next error", (*ui).nextError},
		{letters("a"), inMain, "log of all resources, or of this one", "all/one", (*ui).toggleAll},
		{letters("x"), inMain, "size of the log: short, half, full", "log size", (*ui).cycleSize},
		{named(tcell.KeyTab), inMain, "go to the log, or back to the table", "log", (*ui).switchFocus},
		{letters("/"), inMain, "show only resources that match: letters, !letters, label:x, is:failing", "filter", (*ui).askFilter},
		{letters("f"), inMain, "find in the log", "find", (*ui).askFind},
		{letters("b"), inMain, "open the first endpoint in a browser", "browser", (*ui).openEndpoint},
		{letters("?"), always, "this help", keysHint, (*ui).openHelp},
		quit,
		{letters("1"), inMain, "whole log", "", func(u *ui) { u.setSource(allSources) }},
		{letters("2"), inMain, "build log", "", func(u *ui) { u.setSource(buildLog) }},
		{letters("3"), inMain, "runtime log", "", func(u *ui) { u.setSource(runtimeLog) }},
		{letters("l"), inMain, "follow the newest line of the log", "", func(u *ui) { u.log.end() }},
		{letters("n"), inMain, "next match", "", func(u *ui) { u.findAgain(false) }},
		{letters("N"), inMain, "previous match", "", func(u *ui) { u.findAgain(true) }},
		{append(named(tcell.KeyUp), letters("k")...), inTable, "row up", "", func(u *ui) { u.move(-1) }},
		{append(named(tcell.KeyDown), letters("j")...), inTable, "row down", "", func(u *ui) { u.move(1) }},
		{named(tcell.KeyPgUp), inTable, "page up", "", func(u *ui) { u.move(-u.table.page()) }},
		{named(tcell.KeyPgDn), inTable, "page down", "", func(u *ui) { u.move(u.table.page()) }},
		{append(named(tcell.KeyHome), letters("g")...), inTable, "first row", "", func(u *ui) { u.edge(false) }},
		{append(named(tcell.KeyEnd), letters("G")...), inTable, "last row", "", func(u *ui) { u.edge(true) }},
		{named(tcell.KeyLeft), inTable, "fold the group", "", func(u *ui) { u.fold(true) }},
		{named(tcell.KeyRight), inTable, "unfold all groups", "", func(u *ui) { u.fold(false) }},
		{append(named(tcell.KeyUp), letters("k")...), inLog, "older line; following pauses", "", func(u *ui) { u.log.scroll(-1) }},
		{append(named(tcell.KeyDown), letters("j")...), inLog, "newer line", "", func(u *ui) { u.log.scroll(1) }},
		{named(tcell.KeyPgUp), inLog, "older page", "", func(u *ui) { u.log.scroll(-max(1, u.log.height()-1)) }},
		{named(tcell.KeyPgDn), inLog, "newer page", "", func(u *ui) { u.log.scroll(max(1, u.log.height()-1)) }},
		{append(named(tcell.KeyHome), letters("g")...), inLog, "oldest line", "", func(u *ui) { u.log.begin() }},
		{append(named(tcell.KeyEnd), letters("G")...), inLog, "newest line, and follow", "", func(u *ui) { u.log.end() }},
		{append(named(tcell.KeyUp), letters("k")...), inPager, "up", "", func(u *ui) { u.pager.scroll(-1) }},
		{append(named(tcell.KeyDown), letters("j")...), inPager, "down", "", func(u *ui) { u.pager.scroll(1) }},
		{named(tcell.KeyPgUp), inPager, "page up", "", func(u *ui) { u.pager.scroll(-u.pager.page()) }},
		{named(tcell.KeyPgDn), inPager, "page down", "", func(u *ui) { u.pager.scroll(u.pager.page()) }},
		{append(named(tcell.KeyHome), letters("g")...), inPager, "beginning", "", func(u *ui) { u.pager.scroll(-1 << 20) }},
		{append(named(tcell.KeyEnd), letters("G")...), inPager, "end", "", func(u *ui) { u.pager.scroll(1 << 20) }},
	}, back, []binding{{named(tcell.KeyCtrlL), always, "redraw the screen", "", (*ui).redraw}})
}
