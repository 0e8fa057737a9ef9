package tiltfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// fakeTool is testdata/faketool, built once.
var fakeTool = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "faketool")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "faketool")
	cmd := exec.Command("go", "build", "-o", path, "./testdata/faketool")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// writeTool puts the program that replaces helm or kustomize at a path.
func writeTool(t testing.TB, path string) {
	t.Helper()
	data, err := fakeTool()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, data)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}
