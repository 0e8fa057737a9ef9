package up

import (
	"testing"

	"github.com/hone-dev/hone/internal/cluster/deploy"
)

func TestTally(t *testing.T) {
	for _, tc := range []struct {
		tally  tally
		beside bool
		want   string
	}{
		{tally{}, false, "Nothing to delete."},
		{tally{deploy.OutcomeAbsent: 3}, false, "Nothing to delete."},
		{tally{deploy.OutcomeAbsent: 3}, true, "Done."},
		{tally{deploy.OutcomeDeleted: 1}, false, "Deleted 1 object."},
		{tally{deploy.OutcomeDeleted: 2, deploy.OutcomeAbsent: 1}, true, "Deleted 2 objects."},
		{tally{deploy.OutcomeDeleted: 2, deploy.OutcomeGoing: 1}, false, "Deleted 2 objects. 1 object is still being deleted: hone down waits for it."},
		{tally{deploy.OutcomeKept: 1, deploy.OutcomeForeign: 1, deploy.OutcomeGivenBack: 2}, false, "Gave back 2 objects. Kept 2 objects."},
	} {
		if got := tc.tally.text(tc.beside); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.tally, got, tc.want)
		}
	}
}
