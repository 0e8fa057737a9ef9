package screen

// hotspots are the places of the terminal where a click does what a key does as well: the hints in the footer, the parts of the log's
// title, what the header counts. Each drawing finds them again.
type hotspots []hotspot

type hotspot struct {
	area rect
	verb string
}

// spot makes a drawn text do something when it is clicked.
func (c canvas) spot(x, y, width int, verb string) {
	if c.spots != nil && verb != "" && width > 0 {
		*c.spots = append(*c.spots, hotspot{rect{x, y, width, 1}, verb})
	}
}

// at returns the verb of a place; empty if it has none. What was drawn last lies above the rest.
func (s hotspots) at(x, y int) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].area.has(x, y) {
			return s[i].verb
		}
	}
	return ""
}

// hotspot returns what a click at a place does, whichever view is open; nil if that is up to the view.
func (u *ui) hotspot(x, y int) *verb {
	v := u.verb(u.spots.at(x, y))
	if v == nil || v.in&u.top().place() == 0 {
		return nil
	}
	return v
}
