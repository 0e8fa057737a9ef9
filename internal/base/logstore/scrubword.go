package logstore

import (
	"regexp"
	"strings"
)

// A password may be an ordinary word, or equal a name, as in many projects for development. Paths, names and source lines contain the
// same text, and without it an error cannot be understood; its presence there does not reveal that it is a password.
//
// An ordinary word is hidden where it stands alone: not as a part of a path or a name, and not in a line of a source file that an error
// shows. A name of the project also stands alone in most messages, so it is hidden only where a value stands.

var (
	ordinaryWord = regexp.MustCompile(`^[A-Za-z][a-z]{4,15}$`)
	// sourceLine is the beginning of a line in which an error shows a source file: its number.
	sourceLine = regexp.MustCompile(`^ *[0-9]+ \| `)
	// assignment is the end of a line before a value. Its groups are the key and the blanks before the value.
	assignment = regexp.MustCompile(`([\w.-]*)\\?["']? *[=:]( *)\\?["']?$`)
	// valueEnd is the rest of a line after a value.
	valueEnd = regexp.MustCompile(`^\\?["']? *([,;})\]\r\n]|$)`)
	// lastWord is the last word of a key: "name" of "metadata.name", "HOST" of "DB_HOST", "Name" of "serviceName".
	lastWord = regexp.MustCompile(`([A-Z]+|[A-Z]?[a-z]+)$`)
)

// namedThings are the last words of the keys whose values are names.
var namedThings = words("name namespace resource service image workload deployment pod container app chart release host object project " +
	"file path folder dir repo volume")

func words(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w], out[w+"s"] = true, true
	}
	return out
}

// assignmentWindow is the length in bytes of the text before a value in which its key is looked for.
const assignmentWindow = 64

// staying returns where a value is not hidden; nil if it is hidden everywhere.
func staying(value string, named bool) func(text string, from, to int) bool {
	switch {
	case named:
		return func(text string, from, to int) bool { return inName(text, from, to) || !assigned(text, from, to) }
	case ordinaryWord.MatchString(value):
		return inName
	}
	return nil
}

// assigned reports whether text[from:to] is the value of a key, other than the key of a name: directly after "=" or ":", or after a blank
// and at the end of the line or of a list's element.
func assigned(text string, from, to int) bool {
	m := assignment.FindStringSubmatch(text[max(0, from-assignmentWindow):from])
	if m == nil || namedThings[strings.ToLower(lastWord.FindString(m[1]))] {
		return false
	}
	return m[2] == "" || valueEnd.MatchString(text[to:])
}

// inName reports whether text[from:to] is a part of a path or a longer name, or in a line of a source file.
func inName(text string, from, to int) bool {
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
	return continues.MatchString(text)
}

// separators stand between the parts of paths and names.
const separators = "/-_."

// continues matches a text that begins with the next part of a path or name.
var continues = regexp.MustCompile(`^(/|[-_.][0-9A-Za-z])`)
