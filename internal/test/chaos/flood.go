//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

// floods are scenarios with too many events at once.
var floods = []scenario{
	{"branch-switch", "5,000 files change while an image is built, as by git switch", 6 * time.Minute, branchSwitch},
	{"log-flood", "a local server and a pod write as fast as they can", 5 * time.Minute, logFlood},
}

// branchFiles is the number of files that a switch of branches touches.
const branchFiles = 5000

// branch writes the files of a branch: a third each exists only on this branch, differs from the other branch, or is the
// same.
func (w *world) branch(n int) error {
	text := w.text()
	for i := range branchFiles {
		name := fmt.Sprintf("site/branch/%02d/%d", i%50, i)
		var err error
		switch i % 3 {
		case 0: // on one branch only
			if n%2 == 0 {
				err = w.project.Write(name, text)
			} else if err = os.Remove(filepath.Join(w.project.Dir, name)); errors.Is(err, os.ErrNotExist) {
				err = nil
			}
		case 1: // written in place, as git does for files that it has just removed
			path := filepath.Join(w.project.Dir, name)
			_ = os.Remove(path)
			if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
				err = os.WriteFile(path, []byte(fmt.Sprintf("%d %s", i, text)), 0o644)
			}
		default:
			err = w.project.Write(name, "the same\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func branchSwitch(ctx context.Context, w *world) error {
	if err := w.branch(0); err != nil {
		return err
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	for n := 1; n <= 3; n++ {
		if err := w.saveImage(3); err != nil {
			return err
		}
		if err := w.building(ctx); err != nil {
			return err
		}
		if err := w.wait(ctx, "switch", 0, 3*time.Second); err != nil {
			return err
		}
		if err := w.branch(n); err != nil {
			return err
		}
		if n == 2 {
			continue // the next switch follows at once
		}
		if err := w.right(ctx); err != nil {
			return fmt.Errorf("switch %d: %w", n, err)
		}
	}
	return w.conclude(ctx)
}

const (
	floodLines = 3_000_000
	// floodMemory is the largest amount of memory that a flooded session may use.
	floodMemory = 700 << 20
	quietLine   = "a line that no flood may wash away"
)

// logFlood lets two resources write endlessly. Meanwhile saves must arrive, memory must stay bounded, and other
// resources must keep their lines.
func logFlood(ctx context.Context, w *world) error {
	more := fmt.Sprintf(`
local_resource('quiet', 'echo %s')
local_resource('chatty', serve_cmd='seq -f "line %%.0f of an endless flood" 1 %d; exec sleep 100000')
k8s_yaml(blob('''apiVersion: v1
kind: Pod
metadata: {name: chatty-pod}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: busybox, command: [sh, -c, "seq 1 %d; exec sleep 100000"]}]
'''))
`, quietLine, floodLines, floodLines/3)
	tiltfile, err := os.ReadFile(filepath.Join(w.project.Dir, "Tiltfile"))
	if err != nil {
		return err
	}
	if err := w.project.Write("Tiltfile", string(tiltfile)+more); err != nil {
		return err
	}
	w.declared["Pod/chatty-pod"] = ""
	if err := w.start(); err != nil {
		return err
	}
	if err := w.up.Ready(ctx, resources+3); err != nil {
		return err
	}
	var most int64
	for range 20 {
		if err := w.saveFiles(5); err != nil {
			return err
		}
		if err := w.filesRight(ctx); err != nil {
			return err
		}
		rss, _, err := harness.Memory(w.up.Cmd.Process.Pid)
		if err != nil {
			return err
		}
		most = max(most, rss)
	}
	w.note("%d MB at most", most>>20)
	if most > floodMemory {
		return fmt.Errorf("hone has taken %d MB", most>>20)
	}
	out, _, err := w.project.Output(ctx, "logs", "quiet", "--port", fmt.Sprint(w.up.Port))
	if err != nil {
		return err
	}
	if !strings.Contains(out, quietLine) {
		return fmt.Errorf("the flood has washed away another resource's line:\n%s", out)
	}
	return w.conclude(ctx)
}
