package testresults

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// Lines reads the output of a test program as it is written. It recognizes the lines of "go test -json" and of TAP among others, and changes
// nothing. It is used by one goroutine at a time.
type Lines struct {
	Results
	open []byte // the beginning of a line
	skip bool   // the rest of a line that is too long
	// said is the output of running tests of Go, by package and name, and inFailure is set while the lines describe the failure of the last
	// test of TAP.
	said      map[[2]string]*strings.Builder
	inFailure bool
	tap       bool // a version or a plan has come
}

// longestLine bounds the part of a line that is kept until its end.
const longestLine = 1 << 20

// Write implements io.Writer.
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		if l.skip = l.skip || len(l.open)+len(part) > longestLine; !l.skip {
			l.open = append(l.open, part...)
		}
		if end < 0 {
			return n, nil
		}
		if !l.skip {
			l.line(bytes.TrimSuffix(l.open, []byte("\r")))
		}
		l.open, l.skip = l.open[:0], false
		p = p[end+1:]
	}
	return n, nil
}

// Close reads a last line without a line feed.
func (l *Lines) Close() error {
	_, err := l.Write([]byte("\n"))
	return err
}

func (l *Lines) line(text []byte) {
	if bytes.HasPrefix(text, []byte(`{"`)) && l.goEvent(text) {
		return
	}
	l.tapLine(string(text))
}

// goEvent reads an event of "go test -json", and reports whether the line is one.
func (l *Lines) goEvent(text []byte) bool {
	var e struct {
		Action, Package, Test, Output string
		Elapsed                       float64
	}
	if json.Unmarshal(text, &e) != nil || e.Action == "" || e.Package == "" {
		return false
	}
	key := [2]string{e.Package, e.Test}
	results := map[string]model.CaseResult{"pass": model.CasePassed, "fail": model.CaseFailed, "skip": model.CaseSkipped}
	if e.Action == "output" {
		l.say(key, e.Output)
		return true
	}
	result, ended := results[e.Action]
	if !ended {
		return true
	}
	said := ""
	if b := l.said[key]; b != nil {
		said = b.String()
		delete(l.said, key)
	}
	c := model.TestCase{Suite: e.Package, Name: e.Test, Result: result, Took: elapsed(e.Elapsed)}
	if result != model.CasePassed {
		c.Text = withoutFrames(said)
	}
	if e.Test != "" {
		l.add(c)
	} else if result == model.CaseFailed && !l.failedIn(e.Package) { // it has not come to a test: it does not compile, or it has crashed
		c.Name = "package"
		l.add(c)
	}
	return true
}

// say notes output of a running test.
func (l *Lines) say(key [2]string, text string) {
	b := l.said[key]
	if b == nil {
		if len(l.said) >= mostCases {
			return
		}
		if l.said == nil {
			l.said = map[[2]string]*strings.Builder{}
		}
		b = &strings.Builder{}
		l.said[key] = b
	}
	if b.Len() < mostText {
		b.WriteString(text)
	}
}

// failedIn reports whether a test of a package has failed.
func (l *Lines) failedIn(suite string) bool {
	for _, c := range l.cases {
		if c.Suite == suite && c.Result == model.CaseFailed {
			return true
		}
	}
	return false
}

// frames are the lines with which Go marks the beginning and the end of tests.
var frames = regexp.MustCompile(`^\s*(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|FAIL|SKIP):|FAIL\s|FAIL$)`)

func withoutFrames(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !frames.MatchString(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// The lines of TAP: version and plan, and the results, of which nested ones are a part.
var (
	tapStart  = regexp.MustCompile(`^(TAP version \d+|1\.\.\d+)\s*(#.*)?$`)
	tapResult = regexp.MustCompile(`^(not )?ok\b\s*(\d*)\s*(?:- )?(.*)$`)
	tapSkip   = regexp.MustCompile(`(?i)#\s*(skip|todo)\b`)
)

// tapLine reads a line of TAP. Without a version or a plan before it, a line is not taken for a result: "ok" is also a word.
func (l *Lines) tapLine(line string) {
	if tapStart.MatchString(line) {
		l.tap, l.inFailure = true, false
		return
	}
	if !l.tap {
		return
	}
	if m := tapResult.FindStringSubmatch(line); m != nil {
		name, _, _ := strings.Cut(" "+m[3], " #")
		c := model.TestCase{Name: cmp.Or(strings.TrimSpace(name), strings.TrimSpace("test "+m[2])), Result: model.CasePassed}
		switch {
		case tapSkip.MatchString(m[3]):
			c.Result = model.CaseSkipped
		case m[1] != "":
			c.Result = model.CaseFailed
		}
		l.add(c)
		l.inFailure = c.Result == model.CaseFailed
		return
	}
	more := strings.TrimPrefix(strings.TrimPrefix(line, "#"), " ")
	belongs := l.inFailure && len(l.cases) > 0 && strings.TrimLeft(line, " #") != line
	if frame := strings.TrimSpace(more); belongs && frame != "---" && frame != "..." {
		if c := &l.cases[len(l.cases)-1]; c.Result == model.CaseFailed && len(c.Text) < mostText {
			c.Text = strings.TrimLeft(c.Text+"\n"+strings.TrimSpace(more), "\n")
		}
	}
}
