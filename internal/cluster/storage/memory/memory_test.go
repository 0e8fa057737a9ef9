package memory

import (
	"testing"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
)

func TestConformance(t *testing.T) {
	shared := New()
	storagetest.Conformance(t, func(*testing.T) storage.Storage { return shared })
}
