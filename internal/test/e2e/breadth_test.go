package e2e

import (
	"os"
	"testing"
)

// fullBreadth reports whether the tests run in their whole breadth, as make test-all has it: every kind of project, every page of the
// documentation, many rounds. Without it, those run that have the most in common with the others and take the least time.
var fullBreadth = os.Getenv("HONE_TEST_ALL") != ""

// onlyInAll skips what is a part of the breadth.
func onlyInAll(t *testing.T) {
	t.Helper()
	if !fullBreadth {
		t.Skip("make test-all runs it")
	}
}
