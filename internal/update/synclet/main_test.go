//go:build linux

package synclet

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/update/agent"
	"github.com/hone-dev/hone/internal/update/agent/program"
)

func TestMain(m *testing.M) {
	agent.Program = program.Build() // as the linker does
	goleak.VerifyTestMain(m)
}
