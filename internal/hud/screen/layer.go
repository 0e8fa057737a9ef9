package screen

import "github.com/gdamore/tcell/v2"

// layer is a view on the stack of views. The lowest is the main view; keys go to the highest.
type layer interface {
	// place receives the keys while the layer is the highest, and names the verbs that work there.
	place() place
	// draw draws the layer. Layers that do not cover the whole area show the layers below them.
	draw(c canvas, area rect)
	// covers reports whether nothing below the layer is visible.
	covers() bool
	// mover returns the thing that the keys for movement move.
	mover() mover
}

// mover is a list in which the user moves.
type mover interface {
	// move moves by a number of items or rows; negative numbers move up.
	move(by int)
	// edge moves to the beginning or to the end.
	edge(last bool)
	// page moves by a number of pages.
	page(pages int)
}

// typist is a layer that takes all keys, because the user types text into it.
type typist interface {
	layer
	// typed takes a key.
	typed(event *tcell.EventKey)
	pasted(text string)
	// line draws the line that replaces the footer.
	line(c canvas, area rect)
}

// pointed is a layer that the mouse works in.
type pointed interface {
	// point returns the effect of a gesture of the mouse; nil if it has none.
	point(g gesture) *verb
}

// top returns the highest layer.
func (u *ui) top() layer { return u.layers[len(u.layers)-1] }

// push opens a layer above the others.
func (u *ui) push(l layer) { u.layers = append(u.layers, l) }

// pop closes the highest layer, and reports whether there is one above the main view.
func (u *ui) pop() bool {
	n := len(u.layers) - 1
	if n == 0 {
		return false
	}
	u.layers = u.layers[:n:n]
	return true
}

// remove closes a layer wherever it is on the stack.
func (u *ui) remove(l layer) {
	for i := len(u.layers) - 1; i > 0; i-- {
		if u.layers[i] == l {
			u.layers = append(u.layers[:i:i], u.layers[i+1:]...)
			return
		}
	}
}
