//go:build linux

package synclet

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/agent"
	"github.com/hone-dev/hone/internal/update/liveupdate/liveupdatetest"
	"github.com/hone-dev/hone/pkg/model"
)

// onThisMachine are pods with an installed synclet that serves the files of this machine.
type onThisMachine struct{}

func (onThisMachine) Exec(ctx context.Context, req k8s.ExecRequest) error {
	defer context.AfterFunc(ctx, func() {
		_ = req.Stdin.(io.Closer).Close()
		_ = req.Stdout.(io.Closer).Close()
	})()
	return agent.Serve(req.Stdin, req.Stdout, os.Environ())
}

func TestKinds(t *testing.T) {
	local, remote := t.TempDir(), t.TempDir()+"/app"
	pool := NewPool(onThisMachine{})
	t.Cleanup(pool.Close)
	c := model.ContainerRef{Namespace: "ns", Pod: "web", Name: "main", ID: "c0ffee", Synclet: "/.hone/synclet", Syncs: []model.Sync{{LocalPath: local, RemotePath: remote}}}
	liveupdatetest.KindsConformance(t, liveupdatetest.Place{Updater: pool, Container: c, Ask: func(t *testing.T, script string) string {
		t.Helper()
		out, err := exec.Command("sh", "-c", script).Output()
		if err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		return string(out)
	}}, local, remote)
}
