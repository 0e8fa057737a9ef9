// Package words turns numbers and foreign text into words for messages: "3 files", "1.2 MB", the first line of an error.
package words

import (
	"fmt"
	"strings"
)

// Count is a number of things, whose plural ends in s: "1 file", "3 files".
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Passed is a number of tests that are ok, and how many of these have an earlier verdict: "14 ok, 11 of them cached".
func Passed(ok, cached int) string {
	if cached == 0 {
		return fmt.Sprintf("%d ok", ok)
	}
	return fmt.Sprintf("%d ok, %d of them cached", ok, cached)
}

// Size is a number of bytes: "512 B", "3.4 MB".
func Size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, i := float64(n)/unit, 0
	for value >= unit && i < 3 {
		value /= unit
		i++
	}
	return fmt.Sprintf("%.1f %cB", value, "kMGT"[i])
}

// FirstLine is the first line of s that is not blank, without the space around it.
func FirstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// OneLine is all of s on one line, with one space between words.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Clip keeps at most the given number of bytes of s. It cuts between two characters, and marks the cut with "…".
func Clip(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// ClipChars shortens s to at most the given number of characters. If it cuts, the last one is "…".
func ClipChars(s string, most int) string {
	if chars := []rune(s); len(chars) > most {
		return string(chars[:most-1]) + "…"
	}
	return s
}

// Unquoted returns a text without the single or double quotes around it, if it has any.
func Unquoted(s string) string {
	for _, quote := range []string{`'`, `"`} {
		if inner, ok := strings.CutPrefix(s, quote); ok && strings.HasSuffix(inner, quote) {
			return strings.TrimSuffix(inner, quote)
		}
	}
	return s
}
