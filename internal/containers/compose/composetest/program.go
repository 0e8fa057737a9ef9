// Package composetest is Docker Compose for tests: a Runner in memory, which Fake is, and the program.
package composetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Program returns the path of Docker Compose, which it builds if it was not built before. The package under test must lie as deep as
// this one's parent.
func Program(t testing.TB) string {
	t.Helper()
	build := exec.Command("../../../scripts/compose/build")
	build.Stderr = os.Stderr
	folder, err := build.Output()
	if err != nil {
		t.Fatalf("build Docker Compose: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(folder)), "docker-compose")
}
