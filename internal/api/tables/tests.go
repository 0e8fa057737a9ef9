package tables

import (
	"fmt"
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Test is a test of the Tiltfile, or a single test that the command of one has described.
type Test struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            TestStatus `json:"status"`
}

// TestStatus is the newest verdict of a test. Programs have written the texts: they are data.
type TestStatus struct {
	// Resource is the test of the Tiltfile.
	Resource string `json:"resource"`
	// Suite and Case are the name of a single test; absent for the test of the Tiltfile.
	Suite string `json:"suite,omitempty"`
	Case  string `json:"case,omitempty"`
	// Result is passed, failed, skipped, or waiting while there is no verdict about the newest saved files.
	Result string `json:"result"`
	// Cached is set if it was not run, because it has passed with the same inputs before.
	Cached bool `json:"cached,omitempty"`
	// At is the time at which the run ended, and TookMs its duration.
	At     metav1.Time      `json:"at,omitzero"`
	TookMs api.Milliseconds `json:"tookMs,omitempty"`
	// Text is the failure, or the thing that is awaited.
	Text string `json:"text,omitempty"`
	// File and Line are the place that the failure names.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Cases counts the single tests of a test, and Failed those that have failed. Left is the number of those that are not listed.
	Cases  int `json:"cases,omitempty"`
	Failed int `json:"failed,omitempty"`
	Left   int `json:"left,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (t *Test) DeepCopyObject() runtime.Object {
	c := *t
	c.ObjectMeta = *t.ObjectMeta.DeepCopy()
	return &c
}

var _ projection.Object = (*Test)(nil)

// Tests returns the kind of the tests: those of the Tiltfile, each followed by its single tests, the failed ones first.
func Tests() projection.Kind {
	column := func(name, doc string, value func(s *TestStatus) any) projection.Column {
		return projection.Column{Name: name, Doc: doc, Value: func(o projection.Object) any { return cell(value(&o.(*Test).Status)) }}
	}
	return projection.Kind{
		Group: Group, Version: Version, Name: "Test", Plural: "tests", Doc: "A test of the Tiltfile, or a single test that its command has described: whether it passes with the newest saved files.",
		Tables: testTables(),
		Items:  tests,
		Columns: []projection.Column{
			column("Result", "passed, failed, skipped or waiting.", func(s *TestStatus) any { return s.word() }),
			column("Took", "How long it ran.", func(s *TestStatus) any { return s.TookMs.Duration() }),
			column("Cases", "How many single tests it has, and how many of them have failed.", func(s *TestStatus) any { return s.counts() }),
			column("Place", "The place that the failure names.", func(s *TestStatus) any { return s.place() }),
			column("Text", "The failure, or the thing that is awaited.", func(s *TestStatus) any { return s.Text }),
		},
		New: func() projection.Object { return &Test{} },
	}
}

// word is the result in a word, or two.
func (s *TestStatus) word() string {
	if s.Cached && s.Case == "" {
		return s.Result + ", cached"
	}
	return s.Result
}

func (s *TestStatus) counts() string {
	switch {
	case s.Cases == 0:
		return ""
	case s.Failed > 0:
		return fmt.Sprintf("%d of %d failed", s.Failed, s.Cases)
	}
	return fmt.Sprint(s.Cases)
}

func (s *TestStatus) place() string {
	if s.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// testTables are the tables that the state of a test depends on.
func testTables() (names []string) {
	names = []string{state.Sessions.Name()}
	for _, in := range status.Tables() {
		if in.Table != state.Sessions.Name() {
			names = append(names, in.Table)
		}
	}
	return names
}

// tests lists the tests by their names. Only the newest verdict of a test has its single tests.
func tests(v store.View) iter.Seq[projection.Item] {
	return func(yield func(projection.Item) bool) {
		for _, e := range state.Ordered(v) {
			if !e.Value.Enabled || !e.Value.Manifest.IsTest() {
				continue
			}
			r := status.Of(v, state.UpdatingOf(v, e))
			if !yield(testItem(string(r.Manifest.Name), testOf(r))) || !cases(r, yield) {
				return
			}
		}
	}
}

// cases calls yield with the single tests of a test that has a verdict, as long as that wants more. Several may have one name.
func cases(r *status.Resource, yield func(projection.Item) bool) bool {
	if r.Last == nil || r.Last.Verdict == nil {
		return true
	}
	seen := map[string]int{}
	for _, c := range r.Last.Verdict.Cases {
		id := string(r.Manifest.Name) + "/" + c.Name
		if c.Suite != "" {
			id = string(r.Manifest.Name) + "/" + c.Suite + "/" + c.Name
		}
		if seen[id]++; seen[id] > 1 {
			id += fmt.Sprintf("/%d", seen[id])
		}
		if !yield(testItem(id, caseOf(r, c))) {
			return false
		}
	}
	return true
}

func testItem(id string, s TestStatus) projection.Item {
	name := Name(id)
	return projection.Item{Name: name, Key: projection.Key{Of: s}, Maker: projection.MakeFunc(func() projection.Object {
		t := &Test{Status: s}
		t.Name = name
		return t
	})}
}

// testOf describes a test of the Tiltfile.
func testOf(r *status.Resource) TestStatus {
	s := TestStatus{Resource: string(r.Manifest.Name), Result: "waiting", Text: r.Text}
	if r.Last == nil || r.Updates.Current != nil {
		return s
	}
	s.Result, s.Text = string(model.CasePassed), ""
	if r.Last.Err != "" {
		s.Result, s.Text = string(model.CaseFailed), r.Last.Err
	}
	if v := r.Last.Verdict; v != nil {
		s.Cached, s.At, s.TookMs = v.Cached, metav1.NewTime(v.At), milliseconds(v.Took)
		s.Cases, s.Failed, s.Left = v.Of(), len(v.Failed()), v.Left
	}
	return s
}

// caseOf describes a single test of a test.
func caseOf(r *status.Resource, c model.TestCase) TestStatus {
	v := r.Last.Verdict
	return TestStatus{Resource: string(r.Manifest.Name), Suite: c.Suite, Case: c.Name, Result: string(c.Result), Cached: v.Cached, At: metav1.NewTime(v.At),
		TookMs: milliseconds(c.Took), Text: c.Text, File: c.File, Line: c.Line}
}

func milliseconds(d time.Duration) api.Milliseconds {
	return api.Milliseconds(float64(d) / float64(time.Millisecond))
}
