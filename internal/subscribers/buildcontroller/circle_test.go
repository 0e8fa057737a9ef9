package buildcontroller

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// made is a change of a file at this moment.
func made(m model.Manifest, path string) state.FilesChanged {
	return state.FilesChanged{Changes: []state.FileChange{{Target: m.DeployID(), Paths: []string{path}}}, Made: time.Now(), At: time.Now()}
}

// TestCirclesAreSlowedDown runs a command that changes a file that it depends on.
func TestCirclesAreSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := statetest.Local("web")
		f := start(t, Options{}, web)
		round := func(path string) {
			t.Helper()
			f.running("web")
			time.Sleep(20 * time.Millisecond)
			written := made(web, path)
			time.Sleep(20 * time.Millisecond)
			f.finish("web", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
			time.Sleep(50 * time.Millisecond) // the file is noticed when the tree is at rest
			f.Then(written)
		}
		named := func() int {
			return strings.Count(strings.Join(statetest.Texts(f.logs, "web"), "\n"), "web is in a loop: ")
		}
		for range 6 {
			round("/src/web/out.txt")
		}
		f.running("")
		if named() != 1 || !strings.Contains(strings.Join(statetest.Texts(f.logs, "web"), "\n"), "6 updates in a row have changed what web depends on (web/out.txt); the next one waits for 2s") {
			t.Errorf("the loop is not named once: %q", statetest.Texts(f.logs, "web"))
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		round("/src/web/out.txt")
		f.running("")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		f.running("") // the second pause is longer
		time.Sleep(2 * time.Second)
		synctest.Wait()
		round("/src/web/out.txt")
		f.running("")
		f.Then(made(web, "/src/web/main.go"))
		round("/src/web/out.txt") // a file that a person saves is not held, and leaves the loop unknown
		f.running("web")
		f.finish("web", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
		if named() != 3 {
			t.Errorf("%q", statetest.Texts(f.logs, "web"))
		}
	})
}

// TestSavesAreNoCircle saves one file after the other while a long update is under way, and a file between quick ones.
func TestSavesAreNoCircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := statetest.Local("web")
		f := start(t, Options{}, web)
		for i := range 20 {
			time.Sleep(10 * time.Second)
			f.Then(made(web, "/src/web/"+string(rune('a'+i))+".go"))
			time.Sleep(10 * time.Second)
			f.finish("web", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
		}
		f.finish("web", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
		for range 20 {
			f.running("")
			time.Sleep(20 * time.Millisecond)
			f.Then(made(web, "/src/web/main.go"))
			time.Sleep(10 * time.Millisecond)
			f.finish("web", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
		}
	})
}
