package buildanddeploy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// TestTestsRun runs tests, and counts how often each has waited for changes of files.
func TestTestsRun(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		timeout      time.Duration
		void         bool
		want         string
		ran          bool
		waits        int
	}{
		{"passes", "touch ran", 0, false, "", true, 2},
		{"fails", "touch ran; exit 3", time.Minute, false, "failed: exit code 3", true, 2},
		{"takes too long", "touch ran; exec sleep 60", 50 * time.Millisecond, false, "was ended: it has not ended after 50ms, the timeout_secs of the test", true, 2},
		{"comes too late", "touch ran", 0, true, "has changed meanwhile", false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, waits := t.TempDir(), 0
			m := model.Manifest{Name: "t", Local: &model.LocalTarget{Update: model.Cmd{Argv: []string{"sh", "-c", tc.script}, Dir: dir}, Test: &model.Test{Timeout: tc.timeout}}}
			r, err := Local{}.BuildAndDeploy(t.Context(), Request{Manifest: m, Log: logstore.Discard, Commit: func() {}, Progress: func(string, string, model.BuildProgress) {},
				Settled: func(context.Context) { waits++ }, Test: &TestRun{Holds: func() bool { return !tc.void }}})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) || r.Deployed != (tc.want == "") {
				t.Errorf("error %q, passed %v; want %q", got, r.Deployed, tc.want)
			}
			_, missing := os.Stat(filepath.Join(dir, "ran"))
			if ran := missing == nil; ran != tc.ran || waits != tc.waits {
				t.Errorf("it ran: %v, and waited %d times; want %v, %d", ran, waits, tc.ran, tc.waits)
			}
		})
	}
}
