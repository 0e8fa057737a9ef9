package logstore

import (
	"regexp"
	"strings"
)

// A password may be an ordinary word, as in many projects for development. Paths, names and source lines contain the same word,
// and without it an error cannot be understood; its presence there does not reveal that it is a password. So a word is hidden only
// where it stands alone, as a value does: not as a part of a path or a name, and not in a line of a source file that an error
// shows.

var (
	ordinaryWord = regexp.MustCompile(`^[A-Za-z][a-z]{4,15}$`)
	// sourceLine is the beginning of a line in which an error shows a source file: its number.
	sourceLine = regexp.MustCompile(`^ *[0-9]+ \| `)
)

func isWord(value string) bool { return ordinaryWord.MatchString(value) }

// shown reports whether the word text[from:to] stays.
func shown(text string, from, to int) bool {
	before, after := text[:from], text[to:]
	return joinsBefore(before) || joinsAfter(after) || sourceLine.MatchString(text[strings.LastIndexByte(before, '\n')+1:])
}

// joinsBefore reports whether the end of a text belongs to the same path or name as the word after it, and joinsAfter whether the
// beginning of a text belongs to the same one as the word before it.
func joinsBefore(text string) bool {
	return text != "" && strings.IndexByte(separators, text[len(text)-1]) >= 0
}

// joinsAfter is described at joinsBefore. A full stop may also be the end of a sentence, and a dash belong to the sentence.
func joinsAfter(text string) bool {
	return strings.HasPrefix(text, "/") || len(text) > 1 && strings.IndexByte(separators, text[0]) >= 0 && nameByte(text[1])
}

// separators stand between the parts of paths and names.
const separators = "/-_."

func nameByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
