package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/pkg/model"
)

func number(n int) string { return strconv.Itoa(n) }

// Matches reports whether a row matches the user's query: all of its words must match. A word matches part of the name,
// possibly with letters left out; "!word" excludes; "label:word" and "is:failing" match the group and the status, "is:test" tests.
func (r Row) Matches(query string) bool {
	for _, word := range strings.Fields(strings.ToLower(query)) {
		word, exclude := strings.CutPrefix(word, "!")
		if word != "" && r.matchesWord(word, exclude) == exclude {
			return false
		}
	}
	return true
}

// Rank sorts rows that match a query so that those whose names fit its words best come first, and reports whether the query
// has such words.
func Rank(rows []Row, query string) bool {
	var wanted []string
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.HasPrefix(word, "!") && !keyed(word) {
			wanted = append(wanted, word)
		}
	}
	if len(wanted) == 0 {
		return false
	}
	scores := make(map[model.ManifestName]int, len(rows))
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = string(r.Name)
	}
	for _, word := range wanted {
		for _, m := range text.Rank(word, names) {
			scores[rows[m.Index].Name] += m.Score
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return scores[b.Name] - scores[a.Name] })
	return true
}

// keyed reports whether a word asks for something else than a name.
func keyed(word string) bool {
	return slices.ContainsFunc([]string{"label:", "cluster:", "is:"}, func(key string) bool { return strings.HasPrefix(word, key) })
}

// matchesWord uses fuzzy matching only for words that include: a word that excludes must be literally part of the name.
func (r Row) matchesWord(word string, exclude bool) bool {
	if label, ok := strings.CutPrefix(word, "label:"); ok {
		return strings.Contains(strings.ToLower(r.Group), label)
	}
	if cluster, ok := strings.CutPrefix(word, "cluster:"); ok {
		return strings.Contains(strings.ToLower(r.Cluster), cluster)
	}
	if is, ok := strings.CutPrefix(word, "is:"); ok {
		if is == "test" {
			return r.Test
		}
		return is != "" && strings.HasPrefix(statusName(r), is)
	}
	name := strings.ToLower(string(r.Name))
	if exclude {
		return strings.Contains(name, word)
	}
	return subsequence(name, word)
}

func statusName(r Row) string {
	if r.Err() != "" {
		return "failing"
	}
	return string(r.Status)
}

// subsequence reports whether name contains the letters of word in that order.
func subsequence(name, word string) bool {
	for _, c := range word {
		i := strings.IndexRune(name, c)
		if i < 0 {
			return false
		}
		name = name[i+len(string(c)):]
	}
	return true
}
