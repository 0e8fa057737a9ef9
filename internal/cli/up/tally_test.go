package up

import (
	"testing"

	"github.com/hone-dev/hone/internal/cluster/deploy"
)

func TestTally(t *testing.T) {
	for _, tc := range []struct {
		count  map[deploy.DeleteOutcome]int
		beside bool
		want   string
	}{
		{nil, false, "Nothing to delete."},
		{map[deploy.DeleteOutcome]int{deploy.OutcomeAbsent: 3}, false, "Nothing to delete."},
		{map[deploy.DeleteOutcome]int{deploy.OutcomeAbsent: 3}, true, "Done."},
		{map[deploy.DeleteOutcome]int{deploy.OutcomeDeleted: 1}, false, "Deleted 1 object."},
		{map[deploy.DeleteOutcome]int{deploy.OutcomeDeleted: 2, deploy.OutcomeAbsent: 1}, true, "Deleted 2 objects."},
		{map[deploy.DeleteOutcome]int{deploy.OutcomeDeleted: 2, deploy.OutcomeGoing: 1}, false, "Deleted 2 objects. 1 object is still being deleted: hone down waits for it."},
		{map[deploy.DeleteOutcome]int{deploy.OutcomeKept: 1, deploy.OutcomeForeign: 1, deploy.OutcomeGivenBack: 2}, false, "Gave back 2 objects. Kept 2 objects."},
	} {
		if got := (&tally{count: tc.count}).text(tc.beside); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.count, got, tc.want)
		}
	}
}
