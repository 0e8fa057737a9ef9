package logline

import (
	"strings"
)

// Level is how severe a line says that it is.
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

// word returns the level that a word names in any case, for places where a level is expected.
func word(w string) Level {
	var low [12]byte
	if len(w) == 0 || len(w) > len(low) {
		return Unknown
	}
	for i := range len(w) {
		c := w[i]
		if upper(c) {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	switch string(low[:len(w)]) {
	case "debug", "dbg", "dbug", "debg", "trace", "trc", "trce", "verbose", "vrb", "fine", "finer", "finest", "silly":
		return Debug
	case "info", "inf", "information", "notice", "log", "config":
		return Info
	case "warn", "warning", "wrn":
		return Warn
	case "error", "err", "eror", "erro", "fatal", "ftl", "fatl", "fata", "critical", "crit", "crt", "severe", "panic", "pnc", "pani", "dpanic", "alert",
		"emerg", "emergency", "fail":
		return Error
	}
	return Unknown
}

// value returns the level of a field that holds one: a word, a letter, or a number.
func value(key, v string) Level {
	if l := word(v); l != Unknown {
		return l
	}
	if len(v) == 1 && letter(v[0]) {
		return initial(v[0])
	}
	n := digits(v, 0)
	if n == 0 || n != len(v) || n > 4 {
		return Unknown
	}
	num := 0
	for i := range n {
		num = 10*num + int(v[i]-'0')
	}
	switch {
	case num < 8: // of syslog
		return [...]Level{Error, Error, Error, Error, Warn, Info, Info, Debug}[num]
	case num >= 100: // of Google's log
		return [...]Level{Debug, Info, Info, Warn, Error}[min((num-100)/100, 4)]
	case strings.EqualFold(key, "severity"):
		return Unknown
	case num >= 50: // of bunyan and pino
		return Error
	case num >= 40:
		return Warn
	case num >= 30:
		return Info
	case num >= 10:
		return Debug
	}
	return Unknown
}

// initial returns the level of an initial, as klog and others write it.
func initial(c byte) Level {
	switch c {
	case 'D', 'd', 'T', 't', 'V', 'v':
		return Debug
	case 'I', 'i', 'N', 'n':
		return Info
	case 'W', 'w':
		return Warn
	case 'E', 'e', 'F', 'f', 'C', 'c':
		return Error
	}
	return Unknown
}

// levelKey reports whether a field holds the level.
func levelKey(key string) bool {
	switch key {
	case "level", "lvl", "severity", "@l", "@level", "log.level", "levelname", "level_name", "loglevel", "log_level", "logLevel", "LogLevel", "Level",
		"Severity", "severityText", "SeverityText", "severity_text", "LEVEL", "SEVERITY":
		return true
	}
	return false
}

// head is what the beginning of a line says.
type head struct {
	level Level
	// known is set for a line in a format of a logger: lines that are indented below it belong to it.
	known bool
}

// recognise reads the beginning of a line that does not begin with a space.
func recognise(t string) head {
	if t == "" {
		return head{}
	}
	if t[0] == '{' {
		if l, ok := jsonLevel(t); ok {
			return head{l, true}
		}
		return head{}
	}
	if l := special(t); l != Unknown {
		return head{l, true}
	}
	return prefixed(t)
}

// special recognises formats that begin with the level in their own way, and lines of runtimes.
func special(t string) Level {
	switch t[0] {
	case 'I', 'W', 'E', 'F', 'D':
		if digits(t, 1) == 4 && at(t, 5) == ' ' && clockAt(t, 6) > 0 { // klog
			return initial(t[0])
		}
		if strings.HasPrefix(t[1:], ", [") { // Ruby's Logger
			return initial(t[0])
		}
		if strings.HasPrefix(t, "Exception in thread ") || strings.HasPrefix(t, "Fatal error: ") {
			return Error
		}
	case 'n':
		if rest, ok := strings.CutPrefix(t, "npm "); ok {
			for _, p := range []string{"ERR!", "error ", "error\t"} {
				if strings.HasPrefix(rest, p) {
					return Error
				}
			}
			if strings.HasPrefix(rest, "WARN ") || strings.HasPrefix(rest, "warn ") {
				return Warn
			}
		}
	case '(':
		if strings.HasPrefix(t, "(node:") {
			switch {
			case strings.Contains(t, ") UnhandledPromiseRejection"), strings.Contains(t, "Error: "):
				return Error
			case strings.Contains(t, "Warning: "):
				return Warn
			}
		}
	case 'P':
		for _, p := range []struct {
			prefix string
			level  Level
		}{{"PHP Fatal error:", Error}, {"PHP Parse error:", Error}, {"PHP Warning:", Warn}, {"PHP Notice:", Info}, {"PHP Deprecated:", Warn}} {
			if strings.HasPrefix(t, p.prefix) {
				return p.level
			}
		}
	case 'U':
		if strings.HasPrefix(t, "UnhandledPromiseRejection") || strings.HasPrefix(t, "Unhandled exception") || strings.HasPrefix(t, "Uncaught ") {
			return Error
		}
	case '[':
		if strings.HasPrefix(t, "[UnhandledPromiseRejection") {
			return Error
		}
	case 'f':
		if strings.HasPrefix(t, "fatal error: ") {
			return Error
		}
	case 'm':
		if strings.HasPrefix(t, "make: *** ") || strings.HasPrefix(t, "make[") && strings.Contains(t[:min(len(t), 16)], "]: *** ") {
			return Error
		}
	case 'S':
		if strings.HasPrefix(t, "Segmentation fault") {
			return Error
		}
	case 't':
		if strings.HasPrefix(t, "terminate called ") {
			return Error
		}
	case 'e':
		if strings.HasPrefix(t, "error Command failed") { // yarn
			return Error
		}
	case '*':
		if strings.HasPrefix(t, "** (") && strings.Contains(t[:min(len(t), 80)], "Error)") { // Elixir
			return Error
		}
	}
	return Unknown
}

const (
	headTokens = 14  // may precede the level
	headBytes  = 240 // may precede the level
)

// prefixed recognises a level after the usual beginnings of a log line: times, numbers, names in brackets, separators. A word
// of prose ends the search, so that the word "error" in a sentence does not count.
func prefixed(t string) head {
	var h head
	stamped, separated := false, false
	for i, n := 0, 0; i < len(t) && i < headBytes && n < headTokens; n++ {
		switch c := t[i]; {
		case c == ' ' || c == '\t':
			i++
			n--
			continue
		case c == '[' || c == '(' || c == '<':
			end := closing(t, i)
			if end < 0 {
				return h
			}
			inner := t[i+1 : end]
			if l, isTime := bracket(inner, c); l != Unknown {
				return head{l, true}
			} else if isTime {
				stamped, h.known = true, true
			}
			i = end + 1
			if at(t, i) == ':' {
				i++
			}
			separated = true
			continue
		case separator(t, i) > 0:
			i += separator(t, i)
			separated = true
			continue
		}
		if length := timeAt(t, i); length > 0 {
			i += length
			stamped, h.known = true, true
			if c := at(t, i); c == ':' || c == ',' || c == ']' {
				i++
			}
			continue
		}
		end := i
		for end < len(t) && t[end] != ' ' && t[end] != '\t' && t[end] != '|' && t[end] != '=' && t[end] != '[' && end-i < 128 {
			end++
		}
		tok := t[i:end]
		if tok == "" {
			return h
		}
		if at(t, end) == '=' && key(tok) {
			if l, ok := logfmtLevel(t[i:]); ok {
				return head{l, h.known || l != Unknown}
			}
			return h
		}
		if l := leveled(t, tok, end, stamped, separated); l != Unknown {
			return head{l, true}
		}
		switch {
		case (n == 0 || stamped) && located(tok):
			// file.go:12: and file.ts(4,7):
		case stamped && (number(tok) || zoneName(tok) || strings.IndexByte(tok, '@') > 0 || followedBySeparator(t, end)):
		case n < 3 && weekday(strings.TrimSuffix(tok, ",")) || len(tok) == 3 && month(tok, 0) && digit(at(t, end+1)):
			// Fri Nov 20 12:41:03 2026
		case n > 0 && n < 5 && number(strings.TrimSuffix(tok, ",")) && (clockSoon(t, end) || timeBefore(t, i)):
		case tok[0] == '#' && digits(tok, 1) == len(tok)-1 && len(tok) > 1: // a step of BuildKit
		case n == 1 && t[0] == '#' && number(tok):
		case n == 0 && number(tok) && (len(tok) >= 9 || strings.IndexByte(tok, ':') > 0): // seconds since 1970, 1:M of Redis
		case n == 0 && followedBySeparator(t, end) && strings.HasPrefix(strings.TrimLeft(t[end:], " \t"), "|"): // docker compose: "web-1  | "
		default:
			if stamped && (strings.HasPrefix(t[i:], "http: panic serving ") || strings.HasPrefix(t[i:], "panic: ")) {
				return head{Error, true}
			}
			return h
		}
		separated = false
		i = end
	}
	return h
}

// leveled returns the level that a token names: ERROR, Error:, ERROR:root:message, error[E0425]:, ERRO[0000].
func leveled(t, tok string, end int, stamped, separated bool) Level {
	n := 0
	for n < len(tok) && letter(tok[n]) {
		n++
	}
	if n < 3 {
		return Unknown
	}
	w, next := tok[:n], at(tok, n)
	l := word(w)
	if l == Unknown {
		return Unknown
	}
	capital := w == strings.ToUpper(w)
	if n == len(tok) {
		next = at(t, end)
	}
	switch {
	case next == ':':
		// "log: x" and "config: x" name a topic at the start of a line, and a level after a time.
		if l == Info && !stamped && w != "info" && w != "INFO" && w != "Info" && w != "NOTICE" && w != "Notice" {
			return Unknown
		}
		if !capital && n+1 < len(tok) && tok[n+1] != '[' { // "error:foo" is a name
			return Unknown
		}
		return l
	case next == '[': // error[E0425]: of rustc, ERRO[0000] of logrus
		if capital || strings.HasPrefix(t[end:], "[E") {
			return l
		}
		return Unknown
	case capital && (next == 0 || next == ' ' || next == '\t' || next == '|'):
		if w == "LOG" || w == "CONFIG" || w == "FINE" {
			if stamped || separated {
				return l
			}
			return Unknown
		}
		return l
	case capital && next == '/' && stamped: // ERROR/MainProcess
		return l
	case next == '\t' && stamped, next == '|' && (stamped || separated): // zap: between tabs
		return l
	case next == ' ' && stamped && followedBySeparator(t, end):
		return l
	case w == "error" && next == ' ' && !separated && code(t, end+1): // error TS2304:
		return l
	case w == "warning" && next == ' ' && code(t, end+1):
		return l
	}
	return Unknown
}

// code reports whether a compiler's code follows, as "TS2304:".
func code(t string, i int) bool {
	n := 0
	for upper(at(t, i+n)) {
		n++
	}
	d := digits(t, i+n)
	return n > 0 && n < 6 && d > 2 && at(t, i+n+d) == ':'
}

// closing returns the index of the bracket that closes the one at i, not far away, or -1.
func closing(t string, i int) int {
	want, depth := t[i]+2, 0 // "[]" and "<>"
	if t[i] == '(' {
		want = ')'
	}
	for j := i; j < len(t) && j < i+120; j++ {
		switch t[j] {
		case t[i]:
			depth++
		case want:
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return -1
}

// bracket reads the text between brackets: "error", "2026-11-20 12:41:03 ERROR my::mod", "E 12:41:03 web:12", "3" in <>.
func bracket(s string, open byte) (l Level, isTime bool) {
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
	if i := strings.IndexByte(s, ':'); i > 0 && lower(s[0]) && s[i+1:] == strings.ToLower(s[i+1:]) { // core:error
		if l := word(s[i+1:]); l != Unknown {
			return l, false
		}
	}
	if open == '[' && len(s) > 2 && s[1] == ' ' && digit(s[2]) && upper(s[0]) {
		return initial(s[0]), true
	}
	isTime = timeAt(s, 0) > 0
	for len(s) > 0 { // words in capitals
		n := 0
		for n < len(s) && s[n] != ' ' && s[n] != '/' && s[n] != ':' && s[n] != ',' {
			n++
		}
		if w := s[:n]; len(w) > 2 && w == strings.ToUpper(w) {
			if l := word(w); l != Unknown && w != "LOG" {
				return l, isTime
			}
		}
		s = s[min(len(s), n+1):]
	}
	return Unknown, isTime
}

// separator returns the length of a separator at i: "-", "--", "---", "|", "*", "✘" and the like, alone between spaces.
func separator(t string, i int) int {
	if t[i] == '|' {
		return 1
	}
	n := 0
	for i+n < len(t) && (t[i+n] == '-' || t[i+n] == '*' || t[i+n] == '>' || t[i+n] >= 0x80) && n < 16 {
		n++
	}
	if n > 0 && (i+n == len(t) || t[i+n] == ' ' || t[i+n] == '\t' || t[i+n] == '[') {
		return n
	}
	return 0
}

func followedBySeparator(t string, i int) bool {
	for at(t, i) == ' ' || at(t, i) == '\t' {
		i++
	}
	return i < len(t) && separator(t, i) > 0
}

// number reports whether a token is a number, or two joined as in "7#7:" or "1:M".
func number(tok string) bool {
	if !digit(at(tok, 0)) {
		return false
	}
	letters := 0
	for i := range len(tok) {
		switch c := tok[i]; {
		case digit(c) || c == '.' || c == ':' || c == '#' || c == ',' || c == '*':
		case letter(c):
			letters++
		default:
			return false
		}
	}
	return letters <= 1
}

// zoneName reports whether a token may be a time zone, or AM and PM.
func zoneName(tok string) bool {
	if len(tok) < 2 || len(tok) > 5 {
		return false
	}
	for i := range len(tok) {
		if !upper(tok[i]) && tok[i] != ':' {
			return false
		}
	}
	return true
}

func clockSoon(t string, i int) bool {
	for at(t, i) == ' ' {
		i++
	}
	if n := digits(t, i); n == 4 && at(t, i+n) == ' ' { // the year
		i += n + 1
	}
	return clockAt(t, i) > 0
}

func timeBefore(t string, i int) bool { return i > 3 && at(t, i-1) == ' ' && digit(at(t, i-2)) }

// located reports whether a token is a place in a file, before a compiler's message.
func located(tok string) bool {
	if len(tok) < 4 || tok[len(tok)-1] != ':' {
		return false
	}
	i := strings.IndexAny(tok, ":(")
	return i > 0 && strings.IndexByte(tok[:i], '.') > 0 && digit(at(tok, i+1))
}

// key reports whether a token may be the key of a logfmt field.
func key(s string) bool {
	if s == "" || !letter(s[0]) && s[0] != '@' && s[0] != '_' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; !alnum(c) && c != '_' && c != '.' && c != '-' && c != '/' && c != '@' {
			return false
		}
	}
	return true
}

// logfmtLevel finds the level of a line that begins with a field. ok is false if the line is no logfmt up to there.
func logfmtLevel(t string) (l Level, ok bool) {
	pairs := 0
	for i := 0; i < len(t); {
		if t[i] == ' ' || t[i] == '\t' || t[i] == ',' {
			i++
			continue
		}
		k, v, next := pair(t, i)
		if next < 0 {
			return Unknown, pairs > 1
		}
		pairs++
		if levelKey(k) {
			if l := value(k, v); l != Unknown {
				return l, true
			}
		}
		i = next
	}
	return Unknown, true
}

// pair reads a logfmt field at i: its key, its value (without quotes, with its escapes) and its end, which is -1 if there is
// no field.
func pair(t string, i int) (k, v string, end int) {
	j := i
	for j < len(t) && t[j] != '=' && t[j] != ' ' && t[j] != '"' && j-i < 100 {
		j++
	}
	if at(t, j) != '=' || !key(t[i:j]) {
		return "", "", -1
	}
	k, j = t[i:j], j+1
	if at(t, j) == '"' {
		end := quoted(t, j)
		if end < 0 {
			return k, t[j+1:], len(t)
		}
		return k, t[j+1 : end], end + 1
	}
	end = j
	for end < len(t) && t[end] != ' ' && t[end] != '\t' {
		end++
	}
	return k, t[j:end], end
}

// quoted returns the index of the quote that ends the string whose quote is at i, or -1.
func quoted(t string, i int) int {
	for j := i + 1; j < len(t); j++ {
		switch t[j] {
		case '\\':
			j++
		case t[i]:
			return j
		}
	}
	return -1
}

// jsonLevel finds the level of a JSON object, without decoding it. ok is false if the text does not begin like an object
// with members.
func jsonLevel(t string) (l Level, ok bool) {
	depth, in := 0, ""
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := quoted(t, i)
			if end < 0 {
				return Unknown, ok
			}
			name := t[i+1 : end]
			i = end
			j := blanks(t, end+1)
			if at(t, j) != ':' || depth > 2 {
				continue
			}
			ok = true
			j = blanks(t, j+1)
			if at(t, j) == '{' && depth == 1 {
				in = name
			}
			if depth == 1 && levelKey(name) || depth == 2 && in == "log" && name == "level" {
				if l := value(name, scalar(t, j)); l != Unknown {
					return l, true
				}
			}
			i = j - 1
		}
	}
	return Unknown, ok
}

// scalar returns the text of the JSON string or number at i.
func scalar(t string, i int) string {
	if at(t, i) == '"' {
		if end := quoted(t, i); end > 0 {
			return t[i+1 : end]
		}
		return ""
	}
	return t[min(i, len(t)):min(len(t), i+digits(t, i))]
}

func blanks(t string, i int) int {
	for at(t, i) == ' ' || at(t, i) == '\t' {
		i++
	}
	return i
}
