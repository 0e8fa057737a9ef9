package logline

import (
	"strings"
	"testing"
)

// TestOutputIn finds the output of the last command in logs of updates.
func TestOutputIn(t *testing.T) {
	for log, want := range map[string]string{
		"": "",
		"1 File Changed: [a]|Running cmd: sh a|one|two|Build Failed: exit code 1":              "one|two",
		"1 File Changed: [a]|Running cmd: grep -q x a|Build Failed: exit code 1":               "",
		"Running cmd: a|one|Build Failed: exit code 1|2 Files Changed: [a b]|Running cmd: b|x": "x",
		"STEP 1/2 — Building|  [1/2] FROM x|STEP 2/2 — Deploying|no":                           "no",
		"no announcement|Build Failed: x|more":                                                 "no announcement",
		"Running cmd: a|Build Failed: exit code 1|exit code 1 it is":                           "",
	} {
		var lines []string
		if log != "" {
			lines = strings.Split(log, "|")
		}
		from, to := OutputIn(len(lines), func(i int) string { return lines[i] })
		if got := strings.Join(lines[from:to], "|"); got != want {
			t.Errorf("%s: %q, want %q", log, got, want)
		}
	}
}
