package up

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
)

// TestHistoryByCluster: revisions are below the name of their cluster only where a declared cluster has any.
func TestHistoryByCluster(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	revision := func(on string, number int, command string) ledger.Revision {
		return ledger.Revision{Number: number, Cluster: on, RevisionOrigin: api.RevisionOrigin{Command: command, By: "ann@desk"}, Phase: api.RevisionSucceeded, Began: now.Add(-time.Hour), Objects: 3}
	}
	for name, tc := range map[string]struct {
		all  []ledger.Revision
		want string
	}{
		"one cluster": {[]ledger.Revision{revision("", 2, "up"), revision("", 1, "ci")}, `
REVISION  AGE  COMMAND  BY        COMMIT  OBJECTS  CHANGES   RESULT
2         1 h  up       ann@desk  -       3        +0 ~0 -0  succeeded
1         1 h  ci       ann@desk  -       3        +0 ~0 -0  succeeded
`},
		"two clusters": {[]ledger.Revision{revision("", 1, "ci"), revision("dev-europe", 12, "rollback 1"), revision("dev-europe", 11, "ci")}, `
REVISION  AGE  COMMAND     BY        COMMIT  OBJECTS  CHANGES   RESULT

cluster own
1         1 h  ci          ann@desk  -       3        +0 ~0 -0  succeeded

cluster dev-europe
12        1 h  rollback 1  ann@desk  -       3        +0 ~0 -0  succeeded
11        1 h  ci          ann@desk  -       3        +0 ~0 -0  succeeded
`},
		"only a declared cluster": {[]ledger.Revision{revision("dev-europe", 1, "ci")}, `
REVISION  AGE  COMMAND  BY        COMMIT  OBJECTS  CHANGES   RESULT

cluster dev-europe
1         1 h  ci       ann@desk  -       3        +0 ~0 -0  succeeded
`},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			title := func(on string) string {
				if on == "" {
					on = "own"
				}
				return "cluster " + on
			}
			if err := printHistory(&got, tc.all, title, now); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), got.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
