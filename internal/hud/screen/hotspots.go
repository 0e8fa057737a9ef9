package screen

// hotspots are the places of the terminal where a click does the same as a key: the hints in the footer, the parts of the log's
// title, the counts in the header. Each drawing finds them again.
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

// at returns the verb of a place; empty if it has none. The newest drawing lies above the rest.
func (s hotspots) at(x, y int) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].area.has(x, y) {
			return s[i].verb
		}
	}
	return ""
}

// hotspot returns the effect of a click at a place, whichever view is open; nil if the view decides.
func (u *ui) hotspot(x, y int) *verb {
	v := u.verb(u.spots.at(x, y))
	if !v.worksIn(u.top().place()) {
		return nil
	}
	return v
}
