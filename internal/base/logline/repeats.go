package logline

import "strings"

// Repeats reports whether line b says the same as line a, so that the two may be folded into one. It is stricter than an equal
// Pattern: only times, durations and counters may differ, each at the same place. A duration is a number with a unit of
// time, or the value of a key such as "took" or "latency_ms"; a counter is a number next to a word such as "attempt" or
// "retry". Every other number, such as an id, a status or a size, must be equal.
func Repeats(a, b string) bool {
	if len(a) > maxHead || len(b) > maxHead {
		return a == b
	}
	a, b = strings.TrimSpace(Plain(a)), strings.TrimSpace(Plain(b))
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if numberAt(a, i) && numberAt(b, j) {
			n, m := timeAt(a, i), timeAt(b, j)
			if n == 0 && m == 0 {
				n, m = varying(a, i), varying(b, j)
			}
			if (n > 0) != (m > 0) {
				return false
			}
			if n > 0 {
				i, j = i+n, j+m
				continue
			}
		}
		if i == 1 && j == 1 && sameKlog(a, b) { // they differ in the date
			i, j = 5, 5
			continue
		}
		if a[i] != b[j] {
			if a[i] == ' ' && at(a, i-1) == ' ' { // numbers that are aligned
				i++
				continue
			}
			if b[j] == ' ' && at(b, j-1) == ' ' {
				j++
				continue
			}
			return false
		}
		i, j = i+1, j+1
	}
	return i == len(a) && j == len(b)
}

// sameKlog reports whether two lines are of klog, at the same level.
func sameKlog(a, b string) bool {
	if a[0] != b[0] || !letter(a[0]) {
		return false
	}
	return klogged(a) && klogged(b)
}

// varying returns the length of the duration or counter at i, or 0.
func varying(t string, i int) int {
	n := digits(t, i)
	if at(t, i+n) == '.' && digit(at(t, i+n+1)) {
		n += 1 + digits(t, i+n+1)
	}
	if d := duration(t, i); d > 0 {
		return d
	}
	if c := at(t, i+n); letter(c) || c >= 0x80 {
		return 0
	}
	if u := i + n; at(t, u) == ' ' {
		switch t[u+1 : u+1+unit(t[u+1:])] {
		case "ns", "us", "µs", "μs", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "h", "hour", "hours":
			return n
		}
	}
	if at(t, i-1) == '/' && digit(at(t, i-2)) { // the total in 4/10
		return 0
	}
	switch w := before(t, i); w {
	case "attempt", "attempts", "retry", "retries", "retrying", "try", "tries", "count", "counter", "tick", "iteration", "iter", "loop", "round", "seq", "sequence",
		"took", "elapsed", "duration", "latency", "uptime", "time", "ts", "timestamp", "responsetime", "response_time":
		return n
	default:
		for _, end := range []string{"_ms", "_us", "_ns", "_s", "_secs", "_seconds", "_duration", "_latency", "_elapsed"} {
			if strings.HasSuffix(w, end) {
				return n
			}
		}
	}
	return 0
}

// duration returns the length of a duration as Go writes it, "1m2.5s", or 0.
func duration(t string, i int) int {
	j := i
	for {
		n := digits(t, j)
		if n == 0 {
			break
		}
		if at(t, j+n) == '.' && digit(at(t, j+n+1)) {
			n += 1 + digits(t, j+n+1)
		}
		u := 0
		for _, name := range []string{"ns", "us", "µs", "μs", "ms", "s", "m", "h"} {
			if strings.HasPrefix(t[j+n:], name) {
				u = len(name)
				break
			}
		}
		if u == 0 {
			return 0
		}
		j += n + u
	}
	if j == i || alnum(at(t, j)) {
		return 0
	}
	return j - i
}

// before returns the word before a number, in small letters: "attempt" in "attempt 4", "Attempt=4", `"attempt":4`, "attempt #4".
func before(t string, i int) string {
	j := i - between.before(t, i, 6)
	start := j - identifier.before(t, j, 32)
	if start == j || j == i {
		return ""
	}
	return strings.ToLower(t[start:j])
}

// between are the characters between a word and its number.
var between = classOf(` =:"#([`)
