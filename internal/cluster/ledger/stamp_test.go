package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hone-dev/hone/pkg/model"
)

// anyRevision compares records, whichever revision wrote their objects.
var anyRevision = cmpopts.IgnoreFields(Record{}, "Revision")

// TestRecordRevisions: each record names the revision that wrote its object last.
func TestRecordRevisions(t *testing.T) {
	for kind, open := range storages(t) {
		t.Run(kind, func(t *testing.T) {
			m := newMachine(t, open())
			set := func(l *Ledger, records ...Record) {
				t.Helper()
				var applied []model.AppliedObject
				for _, r := range records {
					applied = append(applied, appliedOf(r))
				}
				if err := l.Set("web", applied); err != nil {
					t.Fatal(err)
				}
			}
			expect := func(when, want string) {
				t.Helper()
				all, err := m.open(t).Resources()
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, r := range all["web"] {
					got = append(got, fmt.Sprint(r.Name, " ", r.Revision))
				}
				slices.Sort(got)
				if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", when, diff)
				}
			}
			a, b := record("a", "uid-a"), record("b", "uid-b")
			m.origin = Origin{Run: "1"}
			deploy(t, m.open(t), "one", "a", "b")
			expect("both are new", "a 1, b 1")
			m.origin = Origin{Run: "2"}
			l := m.open(t)
			set(l, a, b)
			expect("nothing is written", "a 1, b 1")
			if err := l.Written(b.ObjectID); err != nil {
				t.Fatal(err)
			}
			set(l, a, b)
			expect("one is written", "a 1, b 2")
			m.origin = Origin{Run: "3"}
			l = m.open(t)
			if err := l.Written(a.ObjectID); err != nil {
				t.Fatal(err)
			}
			set(l, record("a", "another"), b)
			expect("one is made again", "a 3, b 2")
			if err := l.HandOver("web", map[model.ObjectID]model.ManifestName{b.ObjectID: "other"}); err != nil {
				t.Fatal(err)
			}
			if err := l.HandOver("other", map[model.ObjectID]model.ManifestName{b.ObjectID: "web"}); err != nil {
				t.Fatal(err)
			}
			expect("one has moved to and fro", "a 3, b 2")
		})
	}
}
