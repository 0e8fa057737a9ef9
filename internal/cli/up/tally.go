package up

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/cluster/deploy"
)

// tally counts the outcomes of a deletion, in one cluster or in several at a time.
type tally struct {
	mu    sync.Mutex
	count map[deploy.DeleteOutcome]int // guarded by mu
}

func (t *tally) add(_ deploy.ObjectRef, outcome deploy.DeleteOutcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil {
		t.count = map[deploy.DeleteOutcome]int{}
	}
	t.count[outcome]++
}

// text returns the last line of hone down: "Deleted 3 objects. 1 is still being deleted." beside is set if not only objects were
// taken down.
func (t *tally) text(beside bool) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var parts []string
	for _, p := range []struct {
		outcomes []deploy.DeleteOutcome
		one, all string
	}{
		{[]deploy.DeleteOutcome{deploy.OutcomeDeleted}, "Deleted 1 object", "Deleted %d objects"},
		{[]deploy.DeleteOutcome{deploy.OutcomeGoing}, "1 object is still being deleted: hone down waits for it", "%d objects are still being deleted: hone down waits for them"},
		{[]deploy.DeleteOutcome{deploy.OutcomeGivenBack}, "Gave back 1 object", "Gave back %d objects"},
		{[]deploy.DeleteOutcome{deploy.OutcomeKept, deploy.OutcomeForeign, deploy.OutcomeElsewhere}, "Kept 1 object", "Kept %d objects"},
	} {
		n := 0
		for _, o := range p.outcomes {
			n += t.count[o]
		}
		switch n {
		case 0:
		case 1:
			parts = append(parts, p.one+".")
		default:
			parts = append(parts, fmt.Sprintf(p.all, n)+".")
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, " ")
	case beside:
		return "Done."
	}
	return "Nothing to delete."
}
