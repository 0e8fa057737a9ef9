// Package testresults reads the results of single tests as test programs describe them: JUnit's XML in files, and the lines of
// "go test -json" and of TAP in output. All of it is text of others: it may be broken, endless or hostile, so that everything that is kept
// is bounded.
package testresults

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// mostCases is the number of single tests that are kept, and mostFailures the number of failed ones whose text is.
	mostCases, mostFailures = 1000, 50
	// mostText is the length of the text of a failure that is kept, in characters, and mostName of a name.
	mostText, mostName = 4000, 300
	// mostRead is the size of the part of a file, and of a line, that is read.
	mostRead = 16 << 20
)

// Results collects single tests. The zero value is empty. It is used by one goroutine at a time.
type Results struct {
	cases []model.TestCase
	// index holds the place of a case, by its suite and name.
	index map[[2]string]int
	left  int
}

// add adds a single test, or replaces an earlier result of the same one.
func (r *Results) add(c model.TestCase) {
	c.Suite, c.Name = words.ClipChars(c.Suite, mostName), words.ClipChars(c.Name, mostName)
	c.Text = words.ClipChars(strings.TrimSpace(c.Text), mostText)
	key := [2]string{c.Suite, c.Name}
	if i, known := r.index[key]; known {
		r.cases[i] = c
		return
	}
	if len(r.cases) >= mostCases && !r.makeRoom(c) {
		r.left++
		return
	}
	if r.index == nil {
		r.index = map[[2]string]int{}
	}
	r.index[key] = len(r.cases)
	r.cases = append(r.cases, c)
}

// makeRoom drops one that has passed for one that has failed, and reports whether it has.
func (r *Results) makeRoom(c model.TestCase) bool {
	if c.Result != model.CaseFailed {
		return false
	}
	i := slices.IndexFunc(r.cases, func(o model.TestCase) bool { return o.Result != model.CaseFailed })
	if i < 0 {
		return false
	}
	last := len(r.cases) - 1
	delete(r.index, [2]string{r.cases[i].Suite, r.cases[i].Name})
	if i != last {
		r.cases[i] = r.cases[last]
		r.index[[2]string{r.cases[i].Suite, r.cases[i].Name}] = i
	}
	r.cases = r.cases[:last]
	r.left++
	return true
}

// Cases returns the single tests, the failed ones first, and the number of those that are left out. Failures without a place get the first
// that their text names.
func (r *Results) Cases() (cases []model.TestCase, left int) {
	cases = slices.Clone(r.cases)
	slices.SortStableFunc(cases, func(a, b model.TestCase) int { return cmp.Compare(rank(a), rank(b)) })
	for i := range cases {
		c := &cases[i]
		c.Text = words.ClipChars(c.Text, mostText)
		if i >= mostFailures || c.Result == model.CasePassed {
			c.Text = ""
		}
		if c.Result == model.CaseFailed && c.File == "" {
			c.File, c.Line = place(c.Text)
		}
	}
	return cases, r.left
}

func rank(c model.TestCase) int {
	if c.Result == model.CaseFailed {
		return 0
	}
	return 1
}

// place returns the first place that a text names.
func place(text string) (file string, line int) {
	for l := range strings.Lines(text) {
		if found := logline.Places(l); len(found) > 0 {
			return found[0].File, found[0].Line
		}
	}
	return "", 0
}
