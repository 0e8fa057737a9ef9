package logquery

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
)

func TestSelects(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	line := func(text string) logstore.Line {
		return logstore.Line{Text: text, Level: logstore.LevelInfo, Source: logstore.SourceRuntime, Time: now.Add(-time.Minute)}
	}
	warning, build, old := line("disk is full"), line("disk"), line("disk")
	warning.Level = logstore.LevelWarn
	build.Source = logstore.SourceBuild
	fromPod := line("hello")
	fromPod.Pod, fromPod.Container = "web-7c9d-x2v1", "main"
	old.Time = now.Add(-time.Hour)
	prefixed := line("hello")
	prefixed.Prefix = "[side] "
	for _, tt := range []struct {
		typed string
		line  logstore.Line
		want  bool
	}{
		{"", line("anything"), true},
		{"time", line("TIMEOUT of the request"), true},
		{"time request", line("TIMEOUT of the request"), true},
		{"time response", line("TIMEOUT of the request"), false},
		{"!healthz", line("GET /healthz"), false},
		{"!healthz", line("GET /orders"), true},
		{"!", line("anything"), true},
		{`"of the"`, line("TIMEOUT of the request"), true},
		{`"the of"`, line("TIMEOUT of the request"), false},
		{`/timeout|refused/`, line("connection Refused"), true},
		{`/time out/`, line("time out"), true},
		{`/a\/b/`, line("a/b"), true},
		{`!/^GET/`, line("GET /"), false},
		{"/healthz", line("GET /healthz"), true},
		{"/", line("a/b"), true},
		{"red plain", line("\x1b[31mred\x1b[0m plain"), true},
		{"31m", line("\x1b[31mred\x1b[0m plain"), false},
		{"b", line("a\rb"), true},
		{"grün", line("GRÜN"), true},
		{"level:warn", warning, true},
		{"level:w", warning, true},
		{"level:error", warning, false},
		{"!level:warn", warning, false},
		{"!level:warn", line("x"), true},
		{"level:", line("x"), true},
		{"source:build", build, true},
		{"source:build", line("x"), false},
		{"!source:build", build, false},
		{"since:5m", line("x"), true},
		{"since:5m", old, false},
		{"!since:5m", old, true},
		{"since:1d", old, true},
		{"since:90", line("x"), true},
		{"pod:x2v1", fromPod, true},
		{"pod:x2v1", line("x2v1"), false},
		{"!pod:x2v1", fromPod, false},
		{"pod:X2 container:Main hello", fromPod, true},
		{"container:side", fromPod, false},
		{"container:", fromPod, true},
		{"side", prefixed, false},
		{"since:2026-11-23T11:30:00Z", line("x"), true},
		{"since:2026-11-23T11:30:00Z", old, false},
		{"!since:2026-11-23T11:30:00Z", old, true},
		{"!since:2026-11-23T11:30:00Z", line("x"), false},
		{"12:40", line("at 12:40:01"), true},
		{"http://x", line("see HTTP://X/y"), true},
		{"status>=500", line(`{"status":503,"msg":"x"}`), true},
		{"status>=500", line(`{"status":404,"msg":"x"}`), false},
		{"status>=500", line(`msg=x status=500`), true},
		{"status>=500", line(`status 503`), false},
		{"!status>=500", line(`{"status":404}`), true},
		{"user=17", line(`{"user":17}`), true},
		{"user=17", line(`user=171`), true}, // it contains that text
		{"user=17", line(`{"user":171}`), false},
		{"method!=GET", line(`{"method":"POST"}`), true},
		{"took>100ms", line(`level=info took=1.5s`), true},
		{"took>100ms", line(`level=info took=15ms`), false},
		{"status>=500", line(`0f3c GET / status=503 took=3ms`), true},
		{"status>=500", line(`0f3c GET / xstatus=503`), false},
		{"status=503", line(`status="503" x=1`), true},
		{"request.id=abc", line(`{"request":{"id":"abc"}}`), true},
	} {
		q, err := Parse(tt.typed)
		if err != nil {
			t.Errorf("%q: %v", tt.typed, err)
			continue
		}
		if got := selects(q, tt.line, now); got != tt.want {
			t.Errorf("%q on %q: %v instead of %v", tt.typed, tt.line.Text, got, tt.want)
		}
	}
}

// selects tests one line as the log store does.
func selects(q Query, l logstore.Line, now time.Time) bool {
	var f logstore.Filter
	q.Narrow(&f, now)
	if l.Level < f.MinLevel || l.Time.Before(f.Since) {
		return false
	}
	return f.Match == nil || f.Match(logstore.LineRef{Seq: l.Seq, Time: l.Time, Resource: l.Resource, Span: l.Span, Source: l.Source,
		Level: l.Level, Prefix: l.Prefix, Pod: l.Pod, Container: l.Container, Text: []byte(l.Text)})
}

func TestBadWordsAreNamed(t *testing.T) {
	for typed, want := range map[string]string{
		"/(/":         "/(/: missing closing )",
		"level:loud":  `no level is called "loud"`,
		"source:disk": `no source is called "disk"`,
		"since:soon":  "since:soon is not a time",
		"ok since:-5": "since:-5 is not a time",
	} {
		if _, err := Parse(typed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v instead of %q", typed, err, want)
		}
	}
}

func TestMarks(t *testing.T) {
	for _, tt := range []struct {
		typed, line string
		want        [][]int
	}{
		{"re", "Request refused", [][]int{{0, 2}, {8, 10}}},
		{"!re", "Request", nil},
		{"/f+/ re", "Request refused", [][]int{{0, 2}, {8, 10}, {10, 11}}},
		{"/x*/", "abc", nil},
		{"level:warn", "level", nil},
	} {
		q, err := Parse(tt.typed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, q.Marks(tt.line)); diff != "" {
			t.Errorf("%q: %s", tt.typed, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`level:warn source:build "a b" /x y/ !z status>=500`, `!!"`, `/\`, `since:`} {
		f.Add(s, "a line of text")
	}
	f.Fuzz(func(t *testing.T, typed, line string) {
		if len(typed) > 200 || len(line) > 1000 {
			return
		}
		q, err := Parse(typed)
		if err != nil {
			return
		}
		selects(q, logstore.Line{Text: line}, time.Now())
		for _, part := range q.Marks(line) {
			if part[0] < 0 || part[1] > len(line) || part[0] >= part[1] {
				t.Errorf("%q marks %v of %q", typed, part, line)
			}
		}
	})
}

func TestFoldedAgainstToLower(t *testing.T) {
	for _, needle := range []string{"a", "Error", "x-1", "00", " ", "zz", "e"} {
		f := fold(needle)
		for _, line := range []string{"", "a", "An ERROR", "x-1", "X-1", "eeeeee", "1000", "azzZ", " ", "no such thing", strings.Repeat("ab", 50) + "x-1"} {
			if got, want := f.in([]byte(line)), strings.Contains(strings.ToLower(line), strings.ToLower(needle)); got != want {
				t.Errorf("%q in %q: %v", needle, line, got)
			}
		}
	}
}

// TestRequired: every match of the expression contains the text.
func TestRequired(t *testing.T) {
	for body, want := range map[string]string{
		`status=50[0-9] .*took=99`: "status=50", `a|b`: "", `(abc)+`: "abc", `x*yz`: "yz", `(?:ab){2,}c`: "ab", `^GET$`: "get", `a?`: "", `[ab]`: "",
	} {
		if got := strings.ToLower(required(body)); got != want {
			t.Errorf("%s: %q instead of %q", body, got, want)
		}
	}
}

func TestSinceNow(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for value, want := range map[string]time.Time{"0s": now, "0": now, "5m": now.Add(-5 * time.Minute)} {
		if got, err := Since(value, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v, want %v", value, got, err, want)
		}
	}
	if _, err := Since("-5m", now); err == nil {
		t.Error("no error for a time in the future")
	}
}
