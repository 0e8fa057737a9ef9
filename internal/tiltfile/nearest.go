package tiltfile

import (
	"fmt"

	"github.com/hone-dev/hone/internal/base/suggest"
)

// didYouMean returns " (did you mean X?)" for the candidate closest to name, or nothing when none is close.
func didYouMean(name string, candidates []string) string {
	if n := suggest.Nearest(name, candidates); n != "" {
		return fmt.Sprintf(" (did you mean %s?)", n)
	}
	return ""
}
