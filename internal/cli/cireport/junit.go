package cireport

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/pkg/api"
)

// The elements of JUnit's format, as far as its readers agree on them.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		totals
		Suites []suite `xml:"testsuite"`
	}
	suite struct {
		Name string `xml:"name,attr"`
		totals
		// Timestamp is in UTC without a zone, since some readers do not support zones.
		Timestamp string     `xml:"timestamp,attr"`
		Cases     []testCase `xml:"testcase"`
	}
	totals struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"` // in seconds
	}
	testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *verdict `xml:"failure"`
		Error   *verdict `xml:"error"`
		Skipped *verdict `xml:"skipped"`
	}
	verdict struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",cdata"`
	}
)

// JUnit returns a summary in JUnit's format: a test suite for the session, a test case for each resource. logs returns the
// last log lines of a resource, which are added to its failure. A session that failed always has a failure or an error in
// the report.
func JUnit(s api.Summary, logs func(resource string) []string) ([]byte, error) {
	folder := filepath.Base(filepath.Dir(s.Tiltfile))
	one := suite{Name: "hone ci: " + folder, Timestamp: s.StartedAt.UTC().Format("2006-01-02T15:04:05")}
	for _, r := range s.Resources {
		c := testCase{Class: folder, Name: r.Name, Time: seconds(r.TookMs)}
		c.judge(s, r, logs)
		one.add(c)
	}
	if s.Result != ResultOK && one.Failures+one.Errors == 0 {
		one.add(testCase{Class: folder, Name: "(session)", Time: seconds(s.TookMs), Error: &verdict{Message: plain(words.FirstLine(s.Failure)), Type: s.Result, Text: plain(s.Failure)}})
	}
	one.Time = seconds(s.TookMs)
	doc, err := xml.MarshalIndent(suites{Name: "hone ci", totals: one.totals, Suites: []suite{one}}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write JUnit's format: %w", err)
	}
	return append([]byte(xml.Header), append(doc, '\n')...), nil
}

func (s *suite) add(c testCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// judge sets the result of a resource. An unfinished resource has failed if that ended the session, and was skipped if
// another failure did.
func (c *testCase) judge(s api.Summary, r api.ResourceSummary, logs func(string) []string) {
	why := plain(words.FirstLine(trouble(r)))
	switch {
	case r.Status == statusFailed:
		c.Failure = &verdict{Message: why, Type: failureType(r), Text: details(r, logs)}
	case r.Status == statusSkipped:
		c.Skipped = &verdict{Message: why}
	case r.Status != statusUnfinished:
	case s.Result == ResultTimeout:
		c.Failure = &verdict{Message: why, Type: ResultTimeout, Text: details(r, logs)}
	case failed(s):
		c.Skipped = &verdict{Message: "the session ended before this was finished: " + why}
	default:
		c.Error = &verdict{Message: plain(words.FirstLine(s.Failure)), Type: s.Result, Text: details(r, logs)}
	}
}

// failed reports whether a resource or the Tiltfile has failed.
func failed(s api.Summary) bool { return count(s, statusFailed) > 0 }

// failureType returns the part in which a resource has failed.
func failureType(r api.ResourceSummary) string {
	switch {
	case r.Type == "tiltfile":
		return "tiltfile"
	case r.UpdateStatus == "error":
		return "update"
	}
	return "runtime"
}

// details returns the problem of a resource, the reasons why it waited, and its last log lines.
func details(r api.ResourceSummary, logs func(string) []string) string {
	var b strings.Builder
	b.WriteString(trouble(r) + "\n")
	if p := r.Problem; p != nil {
		for _, part := range []string{p.Detail, p.Mend, p.Link} {
			if part != "" {
				b.WriteString(part + "\n")
			}
		}
	}
	if w := waited(r); w != "" {
		b.WriteString("waited: " + w + "\n")
	}
	if lines := logs(r.Name); len(lines) > 0 {
		b.WriteString("\nthe last lines of its log:\n" + strings.Join(lines, "\n") + "\n")
	}
	return plain(b.String())
}

// plain returns the visible text of lines, without colours and other terminal control sequences.
func plain(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		var b strings.Builder
		for _, c := range text.ParseTabs(l) {
			b.WriteString(strings.Map(allowed, c.Text))
		}
		lines[i] = b.String()
	}
	return strings.Join(lines, "\n")
}

// allowed drops the two characters that are text, but not in XML.
func allowed(r rune) rune {
	if r == 0xfffe || r == 0xffff {
		return -1
	}
	return r
}

func seconds(ms api.Milliseconds) string {
	return fmt.Sprintf("%.3f", float64(ms)*float64(time.Millisecond)/float64(time.Second))
}
