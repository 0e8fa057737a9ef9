package text

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width returns the number of columns that s takes. It does not interpret escape sequences or control characters.
func Width(s string) int {
	if ascii(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Cut returns s in at most width columns, with an ellipsis at its end if it was cut.
func Cut(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	return head(s, width-1) + "…"
}

// CutMiddle returns s in at most width columns, with an ellipsis in its middle if it was cut, so that names that differ only
// at their ends stay distinct.
func CutMiddle(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	front := width / 2
	return head(s, front) + "…" + tail(s, width-1-front)
}

// PadRight fills s with spaces up to width columns.
func PadRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}

// PadLeft fills s with spaces at its front up to width columns.
func PadLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-Width(s))) + s
}

// head returns the longest start of s that fits into width columns.
func head(s string, width int) string {
	end, state, rest := 0, -1, s
	for rest != "" {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if w > width {
			break
		}
		width -= w
		end += len(cluster)
	}
	return s[:end]
}

// tail returns the longest end of s that fits into width columns.
func tail(s string, width int) string {
	surplus := Width(s) - width
	state, rest := -1, s
	for rest != "" && surplus > 0 {
		var w int
		_, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		surplus -= w
	}
	return rest
}

// Hash returns a number from 0 to n-1 that depends only on s and n, for choosing a colour.
func Hash(s string, n int) int {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return int(h>>8) % n
}
