package tiltfile

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if code, isTool := fakeTool(os.Args); isTool {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}
