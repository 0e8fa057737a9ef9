package logline

import "strings"

// timeAt returns the length of the time or date that begins at i, or 0. It knows "2026-11-20", "2026/11/20 12:41:03.123",
// "2026-11-20T12:41:03,123Z", "20/Nov/2026:12:41:03 +0000", "12:41:03.123" and "12:41PM".
func timeAt(s string, i int) int {
	switch n := digits(s, i); {
	case n == 4 && (at(s, i+4) == '-' || at(s, i+4) == '/') && digits(s, i+5) == 2 && at(s, i+7) == s[i+4] && digits(s, i+8) == 2:
		end := i + 10
		if c := at(s, end); c == 'T' || c == ' ' || c == ':' || c == '_' {
			if clock := clockAt(s, end+1); clock > 0 {
				end = zone(s, end+1+clock)
			}
		}
		return end - i
	case n == 2 && at(s, i+2) == '/' && month(s, i+3) && at(s, i+6) == '/' && digits(s, i+7) == 4:
		end := i + 11
		if clock := clockAt(s, end+1); at(s, end) == ':' && clock > 0 {
			end = zone(s, end+1+clock)
		}
		return end - i
	case n == 1 || n == 2:
		if clock := clockAt(s, i); clock > 0 {
			return zone(s, i+clock) - i
		}
	}
	return 0
}

// clockAt returns the length of a time of day at i, or 0.
func clockAt(s string, i int) int {
	n := digits(s, i)
	if n < 1 || n > 2 || at(s, i+n) != ':' || digits(s, i+n+1) != 2 {
		return 0
	}
	end := i + n + 3
	if at(s, end) == ':' {
		if digits(s, end+1) != 2 {
			return 0
		}
		end += 3
	}
	if c := at(s, end); (c == '.' || c == ',') && digit(at(s, end+1)) {
		end += 1 + digits(s, end+1)
	}
	if c := at(s, end); (c == 'A' || c == 'P') && at(s, end+1) == 'M' {
		end += 2
	}
	if c := at(s, end); c == ':' || letter(c) && c != 'Z' {
		return 0
	}
	return end - i
}

// zone returns the end of the time zone at i, after a clock: "Z", "+01:00", " +0000", or i itself.
func zone(s string, i int) int {
	if at(s, i) == 'Z' && !alnum(at(s, i+1)) {
		return i + 1
	}
	j := i
	if at(s, j) == ' ' {
		j++
	}
	if c := at(s, j); c != '+' && c != '-' {
		return i
	}
	switch n := digits(s, j+1); {
	case n == 4:
		return j + 5
	case n == 2 && at(s, j+3) == ':' && digits(s, j+4) == 2:
		return j + 6
	}
	return i
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

func month(s string, i int) bool {
	return i+3 <= len(s) && strings.Index(months, s[i:i+3])%3 == 0
}

func weekday(s string) bool {
	return len(s) == 3 && strings.Index("MonTueWedThuFriSatSun", s)%3 == 0
}
