package screen

import (
	"strings"

	"github.com/gdamore/tcell/v2"
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

// keyOf returns the key of an event.
func keyOf(event *tcell.EventKey) key {
	if event.Key() == tcell.KeyRune {
		if event.Modifiers()&(tcell.ModAlt|tcell.ModCtrl) != 0 {
			return key{}
		}
		return key{letter: event.Rune()}
	}
	return key{named: event.Key()}
}

// String returns the key as labelled on a keyboard.
func (k key) String() string {
	if k.letter != 0 {
		if k.letter == ' ' {
			return "Space"
		}
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

func (v verb) label() string {
	names := make([]string, len(v.keys))
	for i, k := range v.keys {
		names[i] = k.String()
	}
	return strings.Join(names, " ")
}
