package logline

import "strings"

// How a line gets its level. Reader.Line (reader.go) decides whether a line begins an entry; a trace that begins is an error. For
// any other entry, recognise (beginning.go) finds the level of its first line:
//
//	{"level":"warn"}        jsonLevel      (levelfield.go)
//	level=warn msg=…        logfmtLevel    (levelfield.go)
//	E1120 12:41:03 …        special        (runtimes.go): klog, and lines of runtimes
//	12:41:03 [WARN] …       prefixed, bracketed, leveled: token by token   (beginning.go, levelword.go)
//
// This file holds the tables in which they look a level up: names (word), first letters (initials), and numbers. value is for fields
// that hold a level in any of these forms. The functions are pure; the only state is the Reader's, one for each stream.

// Level is the severity that a line states.
type Level uint8

// The levels, rising. A line without a level is Unknown.
const (
	Unknown Level = iota
	Debug
	Info
	Warn
	Error
)

// String returns the level's name in lower case.
func (l Level) String() string {
	return [...]string{"unknown", "debug", "info", "warn", "error"}[min(l, Error)]
}

// words are the names that loggers give to the levels, in small letters.
var words = wordsOf(map[Level]string{
	Debug: "debug dbg dbug debg trace trc trce verbose vrb fine finer finest silly",
	Info:  "info inf information notice log config",
	Warn:  "warn warning wrn",
	Error: "error err eror erro fatal ftl fatl fata critical crit crt severe panic pnc pani dpanic alert emerg emergency fail",
})

// longestWord is the length of the longest name of a level.
const longestWord = len("information")

// word returns the level that a word names in any case, for places where a level is expected.
func word(w string) Level {
	var low [longestWord]byte
	if len(w) > len(low) {
		return Unknown
	}
	for i := range len(w) {
		c := w[i]
		if upper(c) {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	return words.of(string(low[:len(w)]))
}

// initials are the first letters of levels, as klog and others write them.
var initials = [256]Level{
	'D': Debug, 'd': Debug, 'T': Debug, 't': Debug, 'V': Debug, 'v': Debug,
	'I': Info, 'i': Info, 'N': Info, 'n': Info,
	'W': Warn, 'w': Warn,
	'E': Error, 'e': Error, 'F': Error, 'f': Error, 'C': Error, 'c': Error,
}

// numbers are the scales of levels that are numbers. The first row counts whose least is not above the number.
var numbers = []struct {
	least int
	level Level
	scale string
}{
	{500, Error, google}, {400, Warn, google}, {200, Info, google}, {100, Debug, google},
	{50, Error, pino}, {40, Warn, pino}, {30, Info, pino}, {10, Debug, pino},
	{8, Unknown, pino},
	{7, Debug, syslog}, {5, Info, syslog}, {4, Warn, syslog}, {0, Error, syslog},
}

// The scales. Bunyan's is pino's. A field "severity" has no number of theirs.
const (
	google = "Google's log"
	pino   = "pino"
	syslog = "syslog"
)

// value returns the level of a field that holds one: a word, a letter, or a number.
func value(key, v string) Level {
	if l := word(v); l != Unknown {
		return l
	}
	if len(v) == 1 && letter(v[0]) {
		return initials[v[0]]
	}
	number, ok := shortNumber(v)
	if !ok {
		return Unknown
	}
	for _, row := range numbers {
		if number < row.least {
			continue
		}
		if row.scale == pino && strings.EqualFold(key, "severity") {
			return Unknown
		}
		return row.level
	}
	return Unknown
}

// shortNumber returns the number that v consists of, if it has at most four digits.
func shortNumber(v string) (number int, ok bool) {
	n := digits(v, 0)
	if n == 0 || n > 4 {
		return 0, false
	}
	for i := range n {
		number = 10*number + int(v[i]-'0')
	}
	return number, n == len(v)
}

// holdsLevel are the names of fields that hold the level.
var holdsLevel = wordsOf(map[bool]string{true: strings.Join(levelKeys, " ")})
