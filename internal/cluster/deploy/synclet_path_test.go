package deploy

import (
	"testing"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// TestSyncletPath checks that updates start the program where deploys put it.
func TestSyncletPath(t *testing.T) {
	if SyncletPath != protocol.Path || model.SyncletPath != protocol.Path {
		t.Errorf("deploys put the synclet at %s, updates look for it at %s", SyncletPath, protocol.Path)
	}
}
