package up

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cluster/ledger/ledgertest"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// composeDown is a Docker Compose whose down takes a while, and may fail.
type composeDown struct {
	compose.Runner
	takes time.Duration
	err   error
}

// Down implements compose.Runner.
func (c composeDown) Down(context.Context, model.ComposeProject, bool, logstore.Logger) error {
	time.Sleep(c.takes)
	return c.err
}

// TestEndOfDown checks the last line of hone down where nothing is in a cluster, and the line that names a wait.
func TestEndOfDown(t *testing.T) {
	for name, tc := range map[string]struct {
		compose *composeDown
		failed  bool
		want    string
		err     string
	}{
		"nothing":                {nil, false, "Nothing to delete.\n", ""},
		"a project":              {&composeDown{}, false, "Done.\n", ""},
		"a project that waits":   {&composeDown{takes: 5 * logstore.SayAfter}, false, "Waiting for Compose project shop\nDone.\n", ""},
		"a project that fails":   {&composeDown{err: errors.New("no such network")}, false, "", "no such network"},
		"no answer of an engine": {nil, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				log := (&command.Global{}).Printer(&out, &out)
				rest := outside{tally: &tally{}, locals: locals{downCommands: buildanddeploy.NewDownCommands(buildanddeploy.DownsOptions{Ledgers: ledgertest.In(t.TempDir())})}, failed: tc.failed}
				if tc.compose != nil {
					project := buildanddeploy.Project{ComposeProject: model.ComposeProject{Name: "shop"}}
					rest.steps = buildanddeploy.ProjectSteps(dockertest.New(), *tc.compose, []buildanddeploy.Project{project}, log)
				}
				err := rest.finish(t.Context(), log)
				if out.String() != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
					t.Errorf("it says %q, want %q; error %v, want %q", &out, tc.want, err, tc.err)
				}
			})
		})
	}
}
