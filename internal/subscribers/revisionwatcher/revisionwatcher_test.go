package revisionwatcher

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// records is a ledger.
type records struct {
	list    []api.Revision
	changed chan struct{}
}

func (r *records) Revisions() []api.Revision { return r.list }
func (r *records) Revised() <-chan struct{}  { return r.changed }

func (r *records) now(list ...api.Revision) {
	r.list = list
	r.changed <- struct{}{}
	synctest.Wait()
}

// TestRevisions: the table has the revisions that the ledger knows, and an entry changes only with its revision.
func TestRevisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := api.Revision{Number: 9, Phase: api.RevisionSucceeded}
		two := api.Revision{Number: 10, Phase: api.RevisionApplying}
		ledger := &records{list: []api.Revision{one}, changed: make(chan struct{}, 1)}
		session := statetest.Start(t, New(ledger))
		expect := func(when, want string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for e := range state.Revisions.In(session.View()).Refs() {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s v%d", e.Value.Cluster, e.Value.Number, e.Value.Phase, e.Version)))
			}
			if is := strings.Join(got, ", "); is != want {
				t.Errorf("%s: %s, want %s", when, is, want)
			}
		}
		expect("the start", "9 succeeded v1")
		ledger.now(one, two)
		expect("a revision begins", "9 succeeded v1, 10 applying v1")
		two.Phase = api.RevisionFailed
		ledger.now(one, two)
		expect("it ends", "9 succeeded v1, 10 failed v2")
		ledger.now(two)
		expect("the history is bounded", "10 failed v2")
		theirs := api.Revision{Number: 10, Cluster: "dev-europe", Phase: api.RevisionSucceeded}
		ledger.now(two, theirs)
		expect("another cluster has the same number", "10 failed v2, dev-europe 10 succeeded v1")
		ledger.now(two)
		expect("the other cluster has none left", "10 failed v2")
	})
}
