package imagebuild

import (
	"io"
	"log"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/process"
)

func TestMain(m *testing.M) {
	if process.GuardMain(os.Args) {
		return
	}
	goleak.VerifyTestMain(m)
}

// nopLog discards the in-process registry's request log.
var nopLog = log.New(io.Discard, "", 0)
