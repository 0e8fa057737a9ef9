package logline

import "strings"

// candidate is a word that may be the level of a line.
type candidate struct {
	*beginning
	word  string
	level Level
	// capital is set for a word in capitals, and whole if the word is the whole token.
	capital, whole bool
	// end is the end of the token, an index into the line, and more the token after the word.
	end  int
	more string
}

// leveled returns the level that a token names: ERROR, Error:, ERROR:root:message, error[E0425]:, ERRO[0000].
func (b *beginning) leveled(tok token) Level {
	n := 0
	for n < len(tok.text) && letter(tok.text[n]) {
		n++
	}
	if n < 3 {
		return Unknown
	}
	w := tok.text[:n]
	c := candidate{beginning: b, word: w, level: word(w), whole: n == len(tok.text), end: tok.end, more: tok.text[n:]}
	if c.level == Unknown {
		return Unknown
	}
	c.capital = w == strings.ToUpper(w)
	if !c.names() {
		return Unknown
	}
	return c.level
}

// plainly are names of the level info that are nothing else. The others name a topic at the start of a line: "log: x", "config: x".
var plainly = wordsOf(map[bool]string{true: "info Info INFO Notice NOTICE"})

// prose are levels in capitals that are also words of headings.
var prose = wordsOf(map[bool]string{true: "LOG CONFIG FINE"})

// names reports whether the word is the level of the line, by the character after it.
func (c *candidate) names() bool {
	switch c.next() {
	case ':':
		return c.beforeColon()
	case '[': // error[E0425]: of rustc, ERRO[0000] of logrus
		return c.capital || strings.HasPrefix(c.t[c.end:], "[E")
	case '/': // ERROR/MainProcess
		return c.capital && c.stamped
	case 0:
		return c.capital && c.certain()
	case '\t': // zap: between tabs
		return c.stamped || c.capital && c.certain()
	case '|':
		return c.marked() || c.capital && c.certain()
	case ' ':
		return c.beforeSpace()
	}
	return false
}

// next is the character after the word.
func (c *candidate) next() byte {
	if c.whole {
		return at(c.t, c.end)
	}
	return c.more[0]
}

// marked reports whether a time or a separator stands before the word.
func (c *candidate) marked() bool { return c.stamped || c.separated }

// certain reports whether a word in capitals is no heading.
func (c *candidate) certain() bool { return c.marked() || !prose.of(c.word) }

func (c *candidate) beforeColon() bool {
	if c.topic() && !c.stamped {
		return false
	}
	return c.capital || len(c.more) < 2 || c.more[1] == '[' // "error:foo" is a name
}

func (c *candidate) topic() bool { return c.level == Info && !plainly.of(c.word) }

func (c *candidate) beforeSpace() bool {
	switch {
	case c.capital:
		return c.certain()
	case c.stamped && followedBySeparator(c.t, c.end):
		return true
	case c.word == "warning", c.word == "error" && !c.separated: // error TS2304:
		return code(c.t, c.end+1)
	}
	return false
}

// code reports whether a compiler's code follows, as "TS2304:".
func code(t string, i int) bool {
	n := 0
	for upper(at(t, i+n)) {
		n++
	}
	if n == 0 || n > 5 {
		return false
	}
	d := digits(t, i+n)
	return d > 2 && at(t, i+n+d) == ':'
}

// bracketed reads the text between brackets: "error", "2026-11-20 12:41:03 ERROR my::mod", "E 12:41:03 web:12", "3" in <>.
func bracketed(s string, open byte) (l Level, isTime bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return Unknown, false
	}
	if open == '<' {
		if len(s) == 1 && digit(s[0]) {
			return value("severity", s), false
		}
		return Unknown, false
	}
	if l := word(s); l != Unknown {
		return l, false
	}
	if l := afterTopic(s); l != Unknown {
		return l, false
	}
	if open == '[' && initialled(s) {
		return initials[s[0]], true
	}
	return capitals(s), timeAt(s, 0) > 0
}

// afterTopic returns the level in small letters after a topic: "core:error".
func afterTopic(s string) Level {
	topic, w, _ := strings.Cut(s, ":")
	if lower(at(topic, 0)) && w == strings.ToLower(w) {
		return word(w)
	}
	return Unknown
}

// initialled reports whether an initial stands before a time: "E 12:41:03".
func initialled(s string) bool { return upper(s[0]) && at(s, 1) == ' ' && digit(at(s, 2)) }

// capitals returns the first level in capitals.
func capitals(s string) Level {
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" /:,", r) }) {
		if len(w) < 3 || w != strings.ToUpper(w) || w == "LOG" {
			continue
		}
		if l := word(w); l != Unknown {
			return l
		}
	}
	return Unknown
}
