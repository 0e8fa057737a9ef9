package logline

import "strings"

// timeAt returns the length of the time or date that begins at i, or 0. It knows "2026-11-20", "2026/11/20 12:41:03.123",
// "2026-11-20T12:41:03,123Z", "20/Nov/2026:12:41:03 +0000", "12:41:03.123" and "12:41PM".
func timeAt(s string, i int) int {
	if !digit(at(s, i)) {
		return 0
	}
	if like(s, i, "0000-00-00") || like(s, i, "0000/00/00") {
		return clockAfter(s, i+10, "T :_") - i
	}
	if like(s, i, "00/") && month(s, i+3) && like(s, i+6, "/0000") {
		return clockAfter(s, i+11, ":") - i
	}
	if clock := clockAt(s, i); clock > 0 {
		return zone(s, i+clock) - i
	}
	return 0
}

// clockAfter returns the end of the time of day that follows a date ending at i, behind one of some characters, or i if none follows.
func clockAfter(s string, i int, characters string) int {
	if strings.IndexByte(characters, at(s, i)) >= 0 {
		if clock := clockAt(s, i+1); clock > 0 {
			return zone(s, i+1+clock)
		}
	}
	return i
}

// afterClock are characters that no time of day has behind it.
var afterClock = classOf(small + "ABCDEFGHIJKLMNOPQRSTUVWXY" + ":")

// clockAt returns the length of a time of day at i, or 0.
func clockAt(s string, i int) int {
	end := i
	switch {
	case like(s, i, "0:00"):
		end += 4
	case like(s, i, "00:00"):
		end += 5
	default:
		return 0
	}
	if at(s, end) == ':' {
		if !like(s, end, ":00") {
			return 0
		}
		end += 3
	}
	if n := digits(s, end+1); n > 0 && strings.IndexByte(".,", s[end]) >= 0 {
		end += 1 + n
	}
	if half := s[end:]; strings.HasPrefix(half, "AM") || strings.HasPrefix(half, "PM") {
		end += 2
	}
	if afterClock[at(s, end)] {
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
	switch {
	case like(s, j+1, "0000"):
		return j + 5
	case like(s, j+1, "00:00"):
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
