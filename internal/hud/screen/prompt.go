package screen

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// prompt is a line that the user types; it replaces the footer.
type prompt struct {
	label string
	text  string
	// changed is called after every key, and done once at the end. ok is false if the user cancelled the prompt.
	changed func(string)
	done    func(text string, ok bool)
}

// key handles a key and reports whether the prompt stays open.
func (p *prompt) key(event *tcell.EventKey) bool {
	switch event.Key() {
	case tcell.KeyEnter:
		p.done(p.text, true)
		return false
	case tcell.KeyEscape, tcell.KeyCtrlC:
		p.done("", false)
		return false
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		if p.text == "" {
			p.done("", false)
			return false
		}
		p.text = withoutLast(p.text)
	case tcell.KeyCtrlU:
		p.text = ""
	case tcell.KeyRune:
		p.text += string(event.Rune())
	default:
		return true
	}
	p.changed(p.text)
	return true
}

// withoutLast returns s without its last grapheme.
func withoutLast(s string) string {
	end, state, rest := 0, -1, s
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if rest != "" {
			end += len(cluster)
		}
	}
	return s[:end]
}
