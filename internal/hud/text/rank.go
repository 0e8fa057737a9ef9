package text

import (
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"
)

// Match is a text that contains the typed text, possibly with letters between.
type Match struct {
	// Index is the place of the text in the list.
	Index int
	Score int
}

// The scores of a text that contains the typed text in one piece; letters here and there score a few dozens.
const (
	whole  = 30_000
	prefix = 20_000
	part   = 10_000
)

// Rank returns the texts that match the typed text, the best first: texts that equal it, begin with it, contain it, and then
// texts that contain its letters in their order. Case is ignored.
func Rank(typed string, texts []string) []Match {
	typed = strings.ToLower(typed)
	lower := make([]string, len(texts))
	for i, s := range texts {
		lower[i] = strings.ToLower(s)
	}
	var out []Match
	for _, m := range fuzzy.FindNoSort(typed, lower) {
		s := lower[m.Index]
		switch {
		case s == typed:
			m.Score += whole
		case strings.HasPrefix(s, typed):
			m.Score += prefix
		case strings.Contains(s, typed):
			m.Score += part
		}
		out = append(out, Match{m.Index, m.Score})
	}
	slices.SortStableFunc(out, func(a, b Match) int { return b.Score - a.Score })
	return out
}
