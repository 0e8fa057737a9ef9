package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSaveDuringTheFirstEvaluation saves a file that the evaluation has read already, before anything is watched.
func TestSaveDuringTheFirstEvaluation(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
text = str(read_file('greeting'))
local('touch read; while [ ! -e saved ]; do sleep 0.05; done', quiet=True)
local_resource('greet', 'echo the greeting is ' + text)
-- greeting --
early
`)
	s := p.up("--stream")
	s.await("the first evaluation", func() error {
		_, err := os.Stat(filepath.Join(p.dir, "read"))
		return err
	})
	p.write("greeting", "late")
	p.write("saved", "")
	s.says(`the greeting is late`)
}
