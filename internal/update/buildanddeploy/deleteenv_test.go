package buildanddeploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/ledger/ledgertest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestDeleteEnvironment runs the delete command in a later session, with its recorded values, and with other values if
// those are lost.
func TestDeleteEnvironment(t *testing.T) {
	for _, tc := range []struct {
		name       string
		lost, gone bool // the key is lost, and the Tiltfile no longer declares the resource
		declared   []string
		own        string
		want, fail string
	}{
		{name: "as recorded", declared: []string{"HONE_TEST_RELEASE=newer"}, own: "stray", want: "shop"},
		{name: "lost, declared", lost: true, declared: []string{"HONE_TEST_RELEASE=older", "HONE_TEST_RELEASE=shop"}, own: "stray", want: "shop"},
		{name: "lost, from hone's environment", lost: true, own: "shop", want: "shop"},
		{name: "lost permanently", lost: true, declared: []string{"OTHER=x"}, fail: "needs values that hone no longer knows: HONE_TEST_RELEASE"},
		{name: "as recorded, no longer declared", gone: true, own: "stray", want: "shop"},
		{name: "lost, no longer declared", lost: true, gone: true, own: "shop", fail: "hone no longer knows the delete command of app"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state := t.TempDir()
			dir := filepath.Join(state, "ledger")
			out := filepath.Join(t.TempDir(), "out")
			cmd := shell(`printf %s "$HONE_TEST_RELEASE" > ` + out)
			cmd.Env = []string{"HONE_TEST_RELEASE=shop"}
			key := ledger.Key{Cluster: "c", Project: "p"}
			if err := ledgertest.Open(t, dir, key).RecordCommand("app", cmd); err != nil {
				t.Fatal(err)
			}
			if tc.lost {
				if err := os.RemoveAll(filepath.Join(state, "keys")); err != nil {
					t.Fatal(err)
				}
			}
			if tc.own != "" {
				t.Setenv("HONE_TEST_RELEASE", tc.own)
			}
			later := newTestCluster(t)
			later.memory = &deploy.Memory{Ledger: ledgertest.Open(t, dir, key)}
			m := custom("app", "true", "true")
			m.K8s.CustomDeploy.Delete = model.Cmd{Argv: cmd.Argv, Env: tc.declared}
			if !tc.gone {
				later.Declare([]model.Manifest{m}, nil)
			}
			_, err := later.Remove(t.Context(), RemoveRequest{Resource: "app", Log: logstore.Discard})
			got, _ := os.ReadFile(out)
			if tc.fail == "" {
				if err != nil || string(got) != tc.want {
					t.Errorf("deleted release %q, %v; want %q", got, err, tc.want)
				}
				return
			}
			p, ok := problem.Of(err)
			if !ok || !strings.Contains(err.Error(), tc.fail) || !tc.gone && !strings.Contains(p.Mend, "HONE_TEST_RELEASE=… hone down") || len(got) > 0 {
				t.Errorf("got %v (%+v), and the command printed %q", err, p, got)
			}
			if commands, _ := later.memory.Commands(); len(commands) != 1 {
				t.Error("the command was forgotten although it has not run")
			}
		})
	}
}
