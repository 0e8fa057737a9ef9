//go:build linux

package liveupdate_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/internal/update/liveupdate/liveupdatetest"
	"github.com/hone-dev/hone/pkg/model"
)

// thisMachine stands for a container: the scripts run here, in a folder of the test.
type thisMachine struct{}

func (thisMachine) Exec(ctx context.Context, req k8s.ExecRequest) error {
	cmd := exec.CommandContext(ctx, req.Argv[0], req.Argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = req.Stdin, req.Stdout, req.Stderr
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); err != nil && code > 0 {
		return &k8s.ExitError{Code: code}
	}
	return err
}

func TestExecUpdaterKinds(t *testing.T) {
	local, remote := t.TempDir(), t.TempDir()+"/app"
	p := liveupdatetest.Place{Updater: liveupdate.ExecUpdater{Pods: thisMachine{}}, Container: model.ContainerRef{
		Name: "main", Syncs: []model.Sync{{LocalPath: local, RemotePath: remote}},
	}, Ask: func(t *testing.T, script string) string {
		t.Helper()
		var out bytes.Buffer
		err := thisMachine{}.Exec(t.Context(), k8s.ExecRequest{Argv: []string{"sh", "-c", script}, Stdout: &out, Stderr: &out})
		if err != nil {
			t.Fatal(fmt.Errorf("%s: %w: %s", script, err, &out))
		}
		return out.String()
	}}
	liveupdatetest.KindsConformance(t, p, local, remote)
}
