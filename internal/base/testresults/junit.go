package testresults

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// deepest is the most elements that may lie in each other: suites contain suites.
const deepest = 100

// junitCase is a testcase element.
type junitCase struct {
	Class    string       `xml:"classname,attr"`
	Name     string       `xml:"name,attr"`
	File     string       `xml:"file,attr"`
	Line     string       `xml:"line,attr"`
	Time     string       `xml:"time,attr"`
	Failures []junitFault `xml:"failure"`
	Errors   []junitFault `xml:"error"`
	Skipped  *struct{}    `xml:"skipped"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit reads JUnit's XML. It keeps the tests that come before an error.
func (r *Results) JUnit(from io.Reader) error {
	d := xml.NewDecoder(io.LimitReader(from, mostRead))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var suites []string
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read JUnit's XML: %w", err)
		}
		switch e := t.(type) {
		case xml.StartElement:
			if e.Name.Local == "testcase" {
				var c junitCase
				if err := d.DecodeElement(&c, &e); err != nil {
					return fmt.Errorf("read JUnit's XML: %w", err)
				}
				r.add(c.result(suites))
				continue
			}
			if suites = append(suites, attribute(e, "name")); len(suites) > deepest {
				return fmt.Errorf("read JUnit's XML: more than %d elements lie in each other", deepest)
			}
		case xml.EndElement:
			if len(suites) > 0 {
				suites = suites[:len(suites)-1]
			}
		}
	}
}

// result returns the result of a case in some suites, the innermost last.
func (c junitCase) result(suites []string) model.TestCase {
	out := model.TestCase{Suite: c.Class, Name: c.Name, Result: model.CasePassed, Took: secondsOf(c.Time), File: c.File}
	for i := len(suites) - 1; i >= 0 && out.Suite == ""; i-- {
		out.Suite = suites[i]
	}
	if n, err := strconv.Atoi(c.Line); err == nil && n > 0 {
		out.Line = n
	} else {
		out.File = "" // of the declaration: the text of a failure names a better place
	}
	faults := slices.Concat(c.Failures, c.Errors)
	switch {
	case len(faults) > 0:
		out.Result = model.CaseFailed
	case c.Skipped != nil:
		out.Result = model.CaseSkipped
	}
	var texts []string
	for _, f := range faults {
		text := strings.TrimSpace(f.Text)
		if m := strings.TrimSpace(f.Message); m != "" && !strings.Contains(text, m) {
			texts = append(texts, m)
		}
		texts = append(texts, text)
	}
	out.Text = strings.Join(texts, "\n")
	return out
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// secondsOf reads a number of seconds: "1,234.5" too. It returns 0 for anything else.
func secondsOf(text string) time.Duration {
	s, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		return 0
	}
	return elapsed(s)
}

// longest is the longest time that a test can have taken, in seconds.
const longest = 1e9

// elapsed returns a number of seconds as a duration, and 0 for one that makes no sense.
func elapsed(s float64) time.Duration {
	if s > 0 && s < longest {
		return time.Duration(s * float64(time.Second))
	}
	return 0
}
