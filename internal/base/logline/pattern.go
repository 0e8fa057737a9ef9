package logline

import "strings"

// hash is FNV-1a.
type hash uint64

const (
	hashStart hash = 14695981039346656037
	hashPrime hash = 1099511628211
)

func (h *hash) byte(c byte) { *h = (*h ^ hash(c)) * hashPrime }

func (h *hash) string(s string) {
	for i := range len(s) {
		h.byte(s[i])
	}
}

// hole stands for a part that varies.
const hole = 0

// Pattern returns a hash of the message that a line is an instance of: the line without the parts that vary from one instance to the
// next. These are times, numbers, durations and sizes, hexadecimal numbers, UUIDs, addresses, names with random parts, and
// quoted text. "GET /users/17 200 3ms" and "GET /users/18 200 5ms" agree. The words of a message stay, and with them the
// level, and so does the class of an HTTP status: 200 and 204 agree, 200 and 500 do not. Of a line with fields, these are the
// level, the message, the error, the status, the logger, the path, and the names of all fields.
func Pattern(text string) uint64 {
	t := strings.TrimSpace(plain(text, maxHead))
	h := hashStart
	if strings.HasPrefix(t, "{") && at(t, blanks(t, 1)) == '"' {
		h.json(t)
	} else if k, _, end := pair(t, 0); k == "" || end == len(t) || !h.logfmt(t) {
		h = hashStart
		h.text(t)
	}
	return uint64(h)
}

// json adds the members of an object without decoding it, which need not be whole.
func (h *hash) json(t string) {
	for i := 1; i < len(t); i++ {
		if t[i] != '"' {
			if t[i] == '{' || t[i] == '}' {
				h.byte(t[i])
			}
			continue
		}
		end := quoted(t, i)
		if end < 0 {
			return
		}
		name := t[i+1 : end]
		i = end
		j := blanks(t, end+1)
		if at(t, j) != ':' { // in a list
			continue
		}
		j = blanks(t, j+1)
		v := scalar(t, j)
		h.field(name, v)
		i = j - 1
		if at(t, j) == '"' {
			i = j + 1 + len(v)
		}
	}
}

// logfmt adds the fields of a line, and reports whether it has nothing else.
func (h *hash) logfmt(t string) bool {
	for i := 0; i < len(t); i = blanks(t, i) {
		k, v, end := pair(t, i)
		if end < 0 {
			return false
		}
		h.field(k, v)
		i = end
	}
	return true
}

func (h *hash) field(name, v string) {
	h.string(name)
	h.byte('=')
	switch {
	case holdsLevel.of(name):
		h.byte(byte(value(name, v)))
	case statusKey(name):
		h.status(v)
	default:
		switch name {
		case "msg", "message", "@m", "@message", "Message", "short_message", "@mt", "body", "event", "text",
			"err", "error", "exception", "reason", "path", "url", "uri", "route", "method", "logger", "component", "module", "target", "caller", "source", "name", "type":
			h.text(v)
		}
	}
	h.byte('\n')
}

// status adds the class of an HTTP status.
func (h *hash) status(s string) {
	if n := digits(s, 0); n == 3 && n == len(s) {
		h.byte(s[0])
		return
	}
	h.text(s)
}

func statusKey(key string) bool {
	switch key {
	case "status", "code", "statusCode", "StatusCode", "status_code", "http_status", "httpStatus", "response_code", "responseCode", "resp_status", "Status":
		return true
	}
	return false
}

// method returns the length of the HTTP method at i, or 0.
func method(t string, i int) int {
	n := 0
	for upper(at(t, i+n)) {
		n++
	}
	if n < 3 || n > 7 {
		return 0
	}
	switch t[i : i+n] {
	case "GET", "POST", "PUT", "HEAD", "PATCH", "DELETE", "OPTIONS", "CONNECT":
		return n
	}
	return 0
}

// request reports whether a text names an HTTP method, so that a number of three digits is likely a status.
func request(t string) bool {
	for i := 0; i < len(t); i++ {
		if !upper(t[i]) || alnum(at(t, i-1)) {
			continue
		}
		if n := method(t, i); n > 0 {
			if strings.IndexByte(" \t\"", at(t, i+n)) >= 0 {
				return true
			}
		}
	}
	return false
}

// text adds a text of prose.
func (h *hash) text(t string) {
	status := request(t) // is still to come
	gap, holed := false, false
	for i := 0; i < len(t); {
		c := t[i]
		if blank[c] {
			gap = true
			i++
			continue
		}
		if numberAt(t, i) {
			if length := timeAt(t, i); length > 0 {
				if gap {
					h.byte(' ')
				}
				h.byte(hole)
				gap, holed = false, true
				i += length
				continue
			}
		}
		if holed && gap {
			if n := unit(t[i:]); n > 0 { // "3 ms"
				i += n
				holed = false
				continue
			}
		}
		if gap {
			h.byte(' ')
			gap = false
		}
		holed = false
		switch {
		case quote[c]:
			end := quotation(t, i)
			if end < 0 {
				h.byte(c)
				i++
				break
			}
			h.byte(c)
			h.byte(hole)
			h.byte(c)
			i = end + 1
		case sign[c] && digit(at(t, i+1)):
			i++
		case chunkBytes[c]:
			end := i + chunkBytes.length(t[i:])
			if status && httpStatus(t, i, end) {
				h.byte(c)
				status = false
			} else {
				holed = h.chunk(t[i:end])
			}
			i = end
		case c == '=' && statusBefore(t, i):
			h.byte(c)
			if n := digits(t, i+1); n == 3 {
				h.byte(t[i+1])
				i += 3
				status = false
			}
			i++
		default:
			h.byte(c)
			i++
		}
	}
}

var (
	blank      = classOf(" \t\n\r")
	quote      = classOf("\"'`")
	sign       = classOf("-+")
	chunkBytes = classOf(small + capital + decimal + "._:-@").andBeyond()
	keyBefore  = classOf(small + capital + decimal + "_")
)

// httpStatus reports whether a chunk is the status of a request, rather than an id in its path.
func httpStatus(t string, i, end int) bool {
	if end-i != 3 || digits(t, i) != 3 {
		return false
	}
	return strings.IndexByte("12345", t[i]) >= 0 && strings.IndexByte("/=?", at(t, i-1)) < 0
}

func statusBefore(t string, i int) bool { return statusKey(t[i-keyBefore.before(t, i, 16) : i]) }

// quotation returns the end of quoted text that varies, or -1. An apostrophe in a word is none, nor is a request.
func quotation(t string, i int) int {
	if alnum(at(t, i-1)) {
		return -1
	}
	for j := i + 1; j < len(t) && j < i+1024; j++ {
		if t[j] == '\\' {
			j++
			continue
		}
		if t[j] == t[i] && !alnum(at(t, j+1)) {
			if n := method(t, i+1); n > 0 && at(t, i+1+n) == ' ' {
				return -1
			}
			return j
		}
	}
	return -1
}

// chunk adds a run of letters, digits and the punctuation of names, and reports whether it ended with a hole.
func (h *hash) chunk(s string) (holed bool) {
	trimmed := strings.TrimRight(s, ".:-")
	switch {
	case uuid(trimmed), address(trimmed), encoded(trimmed):
		h.byte(hole)
		h.string(s[len(trimmed):])
		return len(trimmed) == len(s)
	}
	for i := 0; i < len(s); {
		if !wordBytes[s[i]] {
			// Between two numbers, as in 10.0.0.1:80 and 1.2.3, punctuation belongs to them.
			if !holed || !digit(at(s, i+1)) {
				h.byte(s[i])
				holed = false
			}
			i++
			continue
		}
		end := i + wordBytes.length(s[i:])
		last := end == len(s) && at(s, i-1) == '-'
		holed = h.part(s[i:end], last, holed)
		i = end
	}
	return holed
}

// part adds one part of a chunk. Within a hole it does not begin another one.
func (h *hash) part(s string, last, inHole bool) (holed bool) {
	dig, turns := 0, 0
	for i := range len(s) {
		if digit(s[i]) {
			dig++
		}
		if i > 0 && digit(s[i]) != digit(s[i-1]) {
			turns++
		}
	}
	switch {
	case dig == 0 && !(last && random(s)):
		h.string(s)
		return false
	case dig == 0, digit(s[0]), len(s) >= 6 && hexadecimal.all(s), turns > 1, len(s) >= 8 && dig >= 3:
	default: // web1
		n := 0
		for !digit(s[n]) {
			n++
		}
		h.string(s[:n])
		inHole = false
	}
	if !inHole {
		h.byte(hole)
	}
	return true
}

// random reports whether the last part of a name looks like the suffix of a pod's name, which has no vowels.
func random(s string) bool { return len(s) == 5 && consonants.all(s) }

var consonants = classOf("bcdfghjklmnpqrstvwxz")

func uuid(s string) bool { return len(s) == 36 && like(s, 0, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") }

// address recognises addresses of IPv6 and of network cards, and times.
func address(s string) bool { return strings.Count(s, ":") > 1 && addressBytes.all(s) && anyDigit(s) }

var addressBytes = classOf(decimal + "abcdefABCDEF:.")

// encoded recognises data in base64 and the like.
func encoded(s string) bool { return len(s) > 24 && alphanumeric.all(s) && mixed(s) }

func anyDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// mixed reports whether capitals follow small letters often, as in encoded data.
func mixed(s string) bool {
	turns := 0
	for i := 1; i < len(s); i++ {
		if upper(s[i]) != upper(s[i-1]) {
			turns++
		}
	}
	return turns > len(s)/4
}

// unit returns the length of the unit at the start of a text, after a number and a space, or 0.
func unit(t string) int {
	n := unitBytes.length(t[:min(len(t), 9)])
	switch t[:n] {
	case "ns", "us", "µs", "μs", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "h", "hours", "hour", "B", "bytes", "byte", "kB", "KB",
		"MB", "GB", "KiB", "MiB", "GiB":
		return n
	}
	return 0
}

var unitBytes = classOf(small + capital).andBeyond()
