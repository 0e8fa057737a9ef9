package hint

import (
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/suggest"
)

// DidYouMean returns " (did you mean X?)" for the candidate closest to name, or nothing when none is close.
func DidYouMean(name string, candidates []string) string {
	if n := suggest.Nearest(name, candidates); n != "" {
		return fmt.Sprintf(" (did you mean %s?)", n)
	}
	return ""
}

// Quoted lists names for a message, at most as many as fit a screen.
func Quoted(names []string) string {
	const most = 20
	out := make([]string, 0, len(names))
	for i, n := range names {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		out = append(out, fmt.Sprintf("%q", n))
	}
	return strings.Join(out, ", ")
}
