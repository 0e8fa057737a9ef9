package up

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/cli/crash"
)

func TestMain(m *testing.M) {
	if crash.Main(os.Args[1:]) {
		return
	}
	goleak.VerifyTestMain(m)
}
