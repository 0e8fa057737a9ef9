// Package dockertest is an engine for tests: one in memory, which Fake is, and the one of this machine. Conformance checks the
// contract of docker.Client on either.
package dockertest

import (
	"os"
	"testing"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// Real returns the engine, and closes the connection at the end of the test. Without HONE_TEST_CLUSTER, it skips the test.
func Real(t testing.TB) *docker.Engine {
	t.Helper()
	if os.Getenv("HONE_TEST_CLUSTER") == "" {
		t.Skip("needs HONE_TEST_CLUSTER=1 (make test sets it)")
	}
	endpoint, err := docker.Find()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := docker.New(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return engine
}
