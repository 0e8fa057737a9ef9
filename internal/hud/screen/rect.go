package screen

// rect is a part of the terminal.
type rect struct{ x, y, w, h int }

func (r rect) empty() bool { return r.w <= 0 || r.h <= 0 }

func (r rect) has(x, y int) bool { return between(x, r.x, r.x+r.w) && between(y, r.y, r.y+r.h) }

// rowAt returns the index of the row at a place of the terminal, in a list of n rows that begins in r with the given one; -1 if
// there is none.
func (r rect) rowAt(x, y, first, n int) int {
	if i := first + y - r.y; r.has(x, y) && between(i, 0, n) {
		return i
	}
	return -1
}

// between reports whether n is at least from and less than to.
func between(n, from, to int) bool { return from <= n && n < to }

// top returns the first n lines of r and the rest.
func (r rect) top(n int) (top, rest rect) {
	n = max(0, min(n, r.h))
	return rect{r.x, r.y, r.w, n}, rect{r.x, r.y + n, r.w, r.h - n}
}

// left returns the first n columns of r and the rest.
func (r rect) left(n int) (left, rest rect) {
	n = max(0, min(n, r.w))
	return rect{r.x, r.y, n, r.h}, rect{r.x + n, r.y, r.w - n, r.h}
}

// bottom returns the last n lines of r and the rest.
func (r rect) bottom(n int) (bottom, rest rect) {
	n = max(0, min(n, r.h))
	return rect{r.x, r.y + r.h - n, r.w, n}, rect{r.x, r.y, r.w, r.h - n}
}
