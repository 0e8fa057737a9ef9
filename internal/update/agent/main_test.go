//go:build linux

package agent

import (
	"os"
	"testing"
)

// TestMain lets the test binary act as the synclet.
func TestMain(m *testing.M) {
	if os.Getenv("SYNCLET_TEST_MAIN") != "" {
		os.Exit(Main(os.Args))
	}
	os.Exit(m.Run())
}
