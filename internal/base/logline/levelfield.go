package logline

// keyBytes bounds the key of a logfmt field.
const keyBytes = 100

const (
	small   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	decimal = "0123456789"
)

// keyStart and keyPart are the characters of the key of a logfmt field.
var (
	keyStart = classOf(small + capital + "@_")
	keyPart  = classOf(small + capital + decimal + "_.-/@")
)

// key reports whether a token may be the key of a logfmt field.
func key(s string) bool { return s != "" && keyStart[s[0]] && keyPart.all(s[1:]) }

// logfmtLevel finds the level of a line that begins with a field. ok is false if the line is no logfmt up to there.
func logfmtLevel(t string) (l Level, ok bool) {
	pairs := 0
	for i := 0; i < len(t); {
		if space(t[i]) || t[i] == ',' {
			i++
			continue
		}
		k, v, next := pair(t, i)
		if next < 0 {
			return Unknown, pairs > 1
		}
		pairs++
		if holdsLevel.of(k) {
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
	j := i + keyPart.length(t[i:min(len(t), i+keyBytes)])
	k = t[i:j]
	if at(t, j) != '=' || !key(k) {
		return "", "", -1
	}
	j++
	if at(t, j) == '"' {
		end := quoted(t, j)
		if end < 0 {
			return k, t[j+1:], len(t)
		}
		return k, t[j+1 : end], end + 1
	}
	end = j
	for end < len(t) && !space(t[end]) {
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
	depth, in := 0, "" // in is the member of the outermost object that holds an object
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
			if levelMember(name, in, depth) {
				if l := value(name, scalar(t, j)); l != Unknown {
					return l, true
				}
			}
			i = j - 1
		}
	}
	return Unknown, ok
}

// levelMember reports whether a member of a JSON object holds the level: at depth 1, or as "level" in the member "log".
func levelMember(name, in string, depth int) bool {
	switch depth {
	case 1:
		return holdsLevel.of(name)
	case 2:
		return in == "log" && name == "level"
	}
	return false
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

// blanks returns the index of the first character at or after i that is no blank.
func blanks(t string, i int) int {
	for space(at(t, i)) {
		i++
	}
	return i
}
