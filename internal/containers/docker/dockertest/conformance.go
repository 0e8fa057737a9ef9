package dockertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// Subject is an engine under test, which has the image "busybox".
type Subject struct {
	Client docker.Client
	// Container starts a long-running container with the labels, and returns its id.
	Container func(t *testing.T, labels map[string]string) string
	// Writes starts a container that writes a short line and a line of 20,000 letters to each of its two streams, and
	// ends with code 3.
	Writes func(t *testing.T) string
	// Started returns a value that changes when the container is restarted.
	Started func(t *testing.T, id string) string
}

// Run distinguishes the images of this test run from images of other runs, with which the engine would share steps.
var Run = uuid.NewString()[:8]

// Conformance checks the contract of docker.Client.
func Conformance(t *testing.T, s Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"ping": testPing, "build": onClient(testBuild), "build errors": onClient(testBuildErrors), "build cancelled": onClient(testBuildCancelled),
		"ignores": onClient(testIgnores), "images": testImages, "remove": testRemove, "save": testSave, "load": testLoad, "programs": testPrograms, "push": testPushUnknown,
		"containers": testContainers, "exec": testExec, "exec errors": testExecErrors, "terminal": testTerminal, "copy": testCopy, "restart": testRestart,
		"container states": testContainerStates, "watch containers": testWatchContainers, "logs": testLogs,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// Builder builds images: an engine, or a BuildKit daemon.
type Builder interface {
	Build(ctx context.Context, req docker.BuildRequest) (imageID string, err error)
}

// Builds checks the parts of the contract that every builder fulfils. It runs them one after the other.
func Builds(t *testing.T, b Builder) {
	t.Run("build", func(t *testing.T) { testBuild(t, b) })
	t.Run("build errors", func(t *testing.T) { testBuildErrors(t, b) })
	t.Run("ignores", func(t *testing.T) { testIgnores(t, b) })
}

func onClient(test func(*testing.T, Builder)) func(*testing.T, Subject) {
	return func(t *testing.T, s Subject) { test(t, s.Client) }
}

// WriteTree writes files below a new folder and returns it.
func WriteTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func testPing(t *testing.T, s Subject) {
	info, err := s.Client.Ping(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.Version == "" || info.APIVersion == "" || info.OS != "linux" || info.Arch == "" || info.Host == "" || !info.BuildKit {
		t.Errorf("incomplete: %+v", info)
	}
}
