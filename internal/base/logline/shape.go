package logline

import "strings"

// shape describes lines by their text. Parts that are empty match every line.
type shape struct {
	prefix, suffix string
	// has is anywhere in the line, or in its first within bytes.
	has    string
	within int
}

func (s *shape) matches(t string) bool {
	return strings.HasPrefix(t, s.prefix) && strings.HasSuffix(t, s.suffix) && s.inside(t)
}

func (s *shape) inside(t string) bool {
	if s.within > 0 {
		t = t[:min(len(t), s.within)]
	}
	return strings.Contains(t, s.has)
}

// rule gives lines of a shape a meaning.
type rule[M any] struct {
	shape
	means M
}

// rules are looked up by the first byte of a line, so that most lines are compared with none of them.
type rules[M any] [256][]rule[M]

// ruled makes rules of a list. Where several match, the first one counts. Each shape has a prefix.
func ruled[M any](list []rule[M]) *rules[M] {
	var all rules[M]
	for _, r := range list {
		all[r.prefix[0]] = append(all[r.prefix[0]], r)
	}
	return &all
}

// of returns the meaning of a line, or the zero value if no rule matches.
func (all *rules[M]) of(t string) (means M) {
	if t == "" {
		return means
	}
	list := all[t[0]]
	for i := range list {
		if list[i].matches(t) {
			return list[i].means
		}
	}
	return means
}

// vocabulary are words with a meaning, by their first byte.
type vocabulary[M comparable] [256][]entry[M]

type entry[M any] struct {
	word  string
	means M
}

// wordsOf makes a vocabulary of lists of words, one for each meaning.
func wordsOf[M comparable](lists map[M]string) *vocabulary[M] {
	var all vocabulary[M]
	for means, list := range lists {
		for w := range strings.FieldsSeq(list) {
			all[w[0]] = append(all[w[0]], entry[M]{w, means})
		}
	}
	return &all
}

// of returns the meaning of a word, or the zero value if it has none.
func (all *vocabulary[M]) of(w string) (means M) {
	if w == "" {
		return means
	}
	for _, e := range all[w[0]] {
		if e.word == w {
			return e.means
		}
	}
	return means
}

// hasAny reports whether t contains one of the words.
func hasAny(t string, words []string) bool {
	for _, w := range words {
		if strings.Contains(t, w) {
			return true
		}
	}
	return false
}

// beginsWithAny reports whether t begins with one of the words.
func beginsWithAny(t string, words []string) bool {
	for _, w := range words {
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	return false
}
