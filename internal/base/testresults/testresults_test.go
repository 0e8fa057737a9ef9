package testresults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

// text renders cases, one in each line.
func text(r *Results) string {
	cases, left := r.Cases()
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "%s %s|%s %s", c.Result, c.Suite, c.Name, c.Took)
		if c.File != "" {
			fmt.Fprintf(&b, " at %s:%d", c.File, c.Line)
		}
		if c.Text != "" {
			fmt.Fprintf(&b, " %q", c.Text)
		}
		b.WriteByte('\n')
	}
	if left > 0 {
		fmt.Fprintf(&b, "%d left\n", left)
	}
	return b.String()
}

func TestJUnit(t *testing.T) {
	for _, tc := range []struct {
		name, xml, want string
		fails           bool
	}{
		{"pytest", `<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" tests="3"><testcase classname="test_a" name="test_one" time="0.001" />
<testcase classname="test_a" name="test_two" time="1.5"><failure message="assert 1 == 2">def test_two():
&gt;       assert 1 == 2
E       assert 1 == 2

test_a.py:6: AssertionError</failure></testcase><testcase classname="test_a" name="test_three"><skipped message="later"/></testcase></testsuite></testsuites>`,
			`failed test_a|test_two 1.5s at test_a.py:6 "def test_two():\n>       assert 1 == 2\nE       assert 1 == 2\n\ntest_a.py:6: AssertionError"
passed test_a|test_one 1ms
skipped test_a|test_three 0s
`, false},
		{"a message beside the text, an error, a place, and nested suites", `<testsuites><testsuite name="outer"><testsuite name="inner"><testcase name="a" file="a.rb" line="7" time="1,234.5"><error message="boom">trace</error></testcase></testsuite>
<testcase name="b"/></testsuite></testsuites>`, "failed inner|a 20m34.5s at a.rb:7 \"boom\\ntrace\"\npassed outer|b 0s\n", false},
		{"the tests before the end of a file that was cut off", `<testsuite name="s"><testcase name="a"/><testcase name="b"><fail`, "passed s|a 0s\n", true},
		{"the last result of a test that was tried again", `<testsuite name="s"><testcase name="a"><failure/></testcase><testcase name="a"/></testsuite>`, "passed s|a 0s\n", false},
		{"no XML", "ok", "", false},
		{"another encoding", `<?xml version="1.0" encoding="ISO-8859-1"?><testsuite name="s"><testcase name="a"/></testsuite>`, "passed s|a 0s\n", false},
		{"an endless depth", strings.Repeat("<a>", 200), "", true},
		{"times that make no sense", `<testsuite name="s"><testcase name="a" time="NaN"/><testcase name="b" time="1e300"/><testcase name="c" time="-1"/></testsuite>`,
			"passed s|a 0s\npassed s|b 0s\npassed s|c 0s\n", false},
	} {
		var r Results
		err := r.JUnit(strings.NewReader(tc.xml))
		if (err != nil) != tc.fails {
			t.Errorf("%s: error %v, want one: %v", tc.name, err, tc.fails)
		}
		if diff := cmp.Diff(tc.want, text(&r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestLines(t *testing.T) {
	for _, tc := range []struct{ name, output, want string }{
		{"go test -json", `{"Action":"start","Package":"x/a"}
{"Action":"run","Package":"x/a","Test":"TestOne"}
{"Action":"output","Package":"x/a","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"output","Package":"x/a","Test":"TestOne","Output":"    a_test.go:12: no\n"}
{"Action":"output","Package":"x/a","Test":"TestOne","Output":"--- FAIL: TestOne (0.10s)\n"}
{"Action":"fail","Package":"x/a","Test":"TestOne","Elapsed":0.1}
{"Action":"pass","Package":"x/a","Test":"TestTwo","Elapsed":2}
{"Action":"fail","Package":"x/a","Elapsed":2.1}
{"Action":"skip","Package":"x/b","Test":"TestThree","Elapsed":0}
{"Action":"output","Package":"x/c","Output":"c.go:3:1: undefined: y\n"}
{"Action":"fail","Package":"x/c","Elapsed":0}
{"level":"info","msg":"a line of a program"}`,
			"failed x/a|TestOne 100ms at a_test.go:12 \"a_test.go:12: no\"\nfailed x/c|package 0s at c.go:3 \"c.go:3:1: undefined: y\"\npassed x/a|TestTwo 2s\nskipped x/b|TestThree 0s\n"},
		{"TAP", "TAP version 13\n1..4\nok 1 - adds\nnot ok 2 - takes away\n  ---\n  message: 'no'\n  at: sub.js:4:2\n  ...\nok 3 - later # SKIP not yet\nnot ok # TODO\r\n",
			"failed |takes away 0s at sub.js:4 \"message: 'no'\\nat: sub.js:4:2\"\npassed |adds 0s\nskipped |later 0s\nskipped |test 0s\n"},
		{"no TAP", "ok 1 is fine\nnot ok\n", ""},
		{"a last line without a line feed", "1..1\nok 1 - a", "passed |a 0s\n"},
		{"a line without an end", "1..1\n" + strings.Repeat("x", longestLine+1) + "\nok 1 - a\n", "passed |a 0s\n"},
	} {
		for _, size := range []int{1, 7, len(tc.output)} {
			if size == 1 && len(tc.output) > longestLine {
				continue
			}
			var l Lines
			for rest := tc.output; rest != ""; {
				n := min(size, len(rest))
				_, _ = l.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			_ = l.Close()
			if diff := cmp.Diff(tc.want, text(&l.Results)); diff != "" {
				t.Errorf("%s, written by %d (-want +got):\n%s", tc.name, size, diff)
			}
		}
	}
}

// TestFailuresOverflow adds more tests than are kept: those that failed stay.
func TestFailuresOverflow(t *testing.T) {
	var r Results
	for i := range mostCases + 10 {
		r.add(model.TestCase{Name: fmt.Sprint(i), Result: model.CasePassed})
	}
	r.add(model.TestCase{Name: "bad", Result: model.CaseFailed, Text: strings.Repeat("x", 2*mostText)})
	cases, left := r.Cases()
	if len(cases) != mostCases || left != 11 || cases[0].Name != "bad" || len([]rune(cases[0].Text)) != mostText {
		t.Errorf("%d cases, %d left, first %q with %d characters", len(cases), left, cases[0].Name, len(cases[0].Text))
	}
}

// FuzzResults feeds both readers with the same text: they must end, keep to their bounds, and give the same answer for any cut of the text.
func FuzzResults(f *testing.F) {
	f.Add("1..2\nnot ok 1 - a\n  b.go:3: c\n{\"Action\":\"fail\",\"Package\":\"a\",\"Test\":\"b\"}\n", 3)
	f.Add(`<testsuite name="s"><testcase name="a" line="3" file="x"><failure message="m">t</failure></testcase></testsuite>`, 5)
	f.Fuzz(func(t *testing.T, input string, cut int) {
		var x Results
		_ = x.JUnit(strings.NewReader(input))
		var whole, parts Lines
		_, _ = whole.Write([]byte(input))
		at := min(max(cut, 0), len(input))
		_, _ = parts.Write([]byte(input[:at]))
		_, _ = parts.Write([]byte(input[at:]))
		if _, _ = whole.Close(), parts.Close(); text(&whole.Results) != text(&parts.Results) {
			t.Errorf("cut at %d:\n%s\nwhole:\n%s", at, text(&parts.Results), text(&whole.Results))
		}
		for _, r := range []*Results{&x, &whole.Results} {
			cases, _ := r.Cases()
			for _, c := range cases {
				if len([]rune(c.Text)) > mostText || len([]rune(c.Name)) > mostName || c.Took < 0 || c.Took > longest*time.Second {
					t.Errorf("%+v exceeds the bounds", c)
				}
			}
		}
	})
}
