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
func made(of model.TargetID, path string) state.FilesChanged {
	return state.FilesChanged{Changes: []state.FileChange{{Target: of, Paths: []string{path}}}, Made: time.Now(), At: time.Now()}
}

// TestCirclesAreSlowedDown runs a command that changes a file that it depends on: of a local resource, of an image, of a deploy.
func TestCirclesAreSlowedDown(t *testing.T) {
	built := statetest.Image("web")
	built.Docker, built.Custom, built.LiveUpdate = nil, &model.CustomBuild{}, model.LiveUpdate{}
	deployed := statetest.K8s("web")
	deployed.K8s.CustomDeploy = &model.CustomDeploy{}
	for _, tc := range []struct {
		mode   string
		web    model.Manifest
		target model.TargetID
	}{
		{"local", statetest.Local("web"), statetest.Local("web").DeployID()},
		{"image", statetest.K8s("web", built), built.ID()},
		{"deploy", deployed, deployed.DeployID()},
	} {
		t.Run(tc.mode, func(t *testing.T) { slowsDown(t, tc.web, tc.mode, tc.target) })
	}
}

func slowsDown(t *testing.T, web model.Manifest, mode string, target model.TargetID) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, web)
		round := func(path string) {
			t.Helper()
			f.running("web")
			time.Sleep(20 * time.Millisecond)
			written := made(target, path)
			time.Sleep(20 * time.Millisecond)
			f.finish("web", outcome{result: buildanddeploy.Result{Mode: mode, Deployed: true}})
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
		f.Then(made(target, "/src/web/main.go"))
		round("/src/web/out.txt") // a file that a person saves is not held, and leaves the loop unknown
		f.running("web")
		f.finish("web", outcome{result: buildanddeploy.Result{Mode: mode, Deployed: true}})
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
			f.Then(made(web.DeployID(), "/src/web/"+string(rune('a'+i))+".go"))
			time.Sleep(10 * time.Second)
			f.finish("web", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
		}
		f.finish("web", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
		for range 20 {
			f.running("")
			time.Sleep(20 * time.Millisecond)
			f.Then(made(web.DeployID(), "/src/web/main.go"))
			time.Sleep(10 * time.Millisecond)
			f.finish("web", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
		}
	})
}

// TestChainsAreSlowedDown runs commands, of local resources or of a custom build, each of which changes a file that the next one
// depends on, around in a circle.
func TestChainsAreSlowedDown(t *testing.T) {
	built := statetest.Image("img")
	built.Docker, built.Custom, built.LiveUpdate = nil, &model.CustomBuild{}, model.LiveUpdate{}
	for _, tc := range []struct {
		chain []string
		with  string
	}{
		{[]string{"a", "b"}, "b"},
		{[]string{"b", "c", "a"}, "c with a"},
		{[]string{"d", "b", "a", "c"}, "b with a with c"},
		{[]string{"a", "img"}, "img"},
		{[]string{"img", "c", "a"}, "c with a"},
	} {
		t.Run(strings.Join(tc.chain, " "), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var chain []model.Manifest
				targets := map[string]model.TargetID{"img": built.ID()}
				modes := map[string]string{"img": "image"}
				for _, name := range tc.chain {
					m := statetest.Local(name)
					if name == "img" {
						m = statetest.K8s(name, built)
					} else {
						targets[name], modes[name] = m.DeployID(), "local"
					}
					chain = append(chain, m)
				}
				f := start(t, Options{}, chain...)
				finish := func(name string) {
					t.Helper()
					f.finish(name, outcome{result: buildanddeploy.Result{Mode: modes[name], Deployed: true}})
				}
				for range chain {
					finish(strings.Fields(f.builder.names())[0])
				}
				f.Then(made(targets[tc.chain[0]], "/src/in.txt")) // by a person
				for n := range 7 * len(chain) {
					if f.builder.names() == "" {
						break
					}
					next := tc.chain[(n+1)%len(chain)]
					f.running(tc.chain[n%len(chain)])
					time.Sleep(20 * time.Millisecond)
					written := made(targets[next], "/src/"+next+".txt")
					time.Sleep(20 * time.Millisecond)
					finish(tc.chain[n%len(chain)])
					time.Sleep(50 * time.Millisecond) // the file is noticed when the tree is at rest
					f.Then(written)
				}
				f.running("")
				var log []string
				for _, name := range tc.chain {
					log = append(log, statetest.Texts(f.logs, name)...)
				}
				text := strings.Join(log, "\n")
				if strings.Count(text, " is in a loop with ") != 1 || !strings.Contains(text, tc.chain[0]+" is in a loop with "+tc.with+": ") {
					t.Errorf("the loop is not named once, in its order: %s", text)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if f.builder.names() == "" {
					t.Error("nothing runs after the pause")
				}
			})
		})
	}
}

// TestSavesDuringOthersAreNoCircle saves files of one resource while the long updates of another one are under way.
func TestSavesDuringOthersAreNoCircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick, slow := statetest.Local("a"), statetest.K8s("slow")
		f := start(t, Options{}, quick, slow)
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
		for range 20 {
			time.Sleep(time.Second)
			f.Then(made(quick.DeployID(), "/src/a/main.go"))
			time.Sleep(10 * time.Millisecond)
			f.finish("a", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
		}
	})
}
