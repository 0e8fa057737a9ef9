package buildcontroller

import (
	"math/rand/v2"
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
		pause := func(d time.Duration) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
		}
		for range 11 {
			round("/src/web/out.txt")
			pause(600 * time.Millisecond)
		}
		f.running("")
		if named() != 1 || !strings.Contains(strings.Join(statetest.Texts(f.logs, "web"), "\n"), "11 updates in a row have changed what web depends on (web/out.txt); the next one waits for 1s") {
			t.Errorf("the loop is not named once: %q", statetest.Texts(f.logs, "web"))
		}
		pause(400 * time.Millisecond)
		round("/src/web/out.txt")
		f.running("")
		pause(time.Second)
		f.running("") // the second pause is longer
		pause(time.Second)
		round("/src/web/out.txt")
		f.running("")
		f.Then(made(target, "/src/web/main.go"))
		round("/src/web/out.txt") // a file that a person saves is not held, and leaves the loop unknown
		pause(2 * time.Millisecond)
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
				for n := range 12 * len(chain) {
					time.Sleep(600 * time.Millisecond)
					synctest.Wait()
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

// TestServersOwnFiles has a file change that restarts the server of a local resource: by the server, always as long after its
// start; by a person; by an editor that saves by a clock.
func TestServersOwnFiles(t *testing.T) {
	for _, tc := range []struct {
		name string
		// fromStart is set if the file changes after a start of the server, else it changes after the change before. The time varies
		// by a share.
		fromStart bool
		after     time.Duration
		by        float64
		// longest is the longest time that a save waits for its update; zero if the loop is named.
		longest time.Duration
	}{
		{"server at once", true, 50 * time.Millisecond, 0.9, 0},
		{"server", true, 4 * time.Second, 0, 0},
		{"server, not quite regularly", true, 4 * time.Second, 0.02, 0},
		{"person", false, 4 * time.Second, 0.9, 100 * time.Millisecond},
		{"steady person", false, 4 * time.Second, 0.3, 300 * time.Millisecond},
		{"person who watches the server", true, 4 * time.Second, 0.3, 300 * time.Millisecond},
		{"hasty person", false, 500 * time.Millisecond, 0.5, 500 * time.Millisecond},
		{"fast clock", false, 200 * time.Millisecond, 0, 600 * time.Millisecond},
		{"clock", false, 4 * time.Second, 0, 700 * time.Millisecond},
		{"slow clock", false, time.Minute, 0, 700 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				web := statetest.Local("web")
				web.Local.Serve = model.Cmd{Argv: []string{"serve"}}
				f := start(t, Options{}, web)
				f.finish("web", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
				random := rand.New(rand.NewPCG(1, 1))
				next := func() time.Time {
					return time.Now().Add(tc.after + time.Duration(tc.by*float64(tc.after)*(2*random.Float64()-1)))
				}
				rounds := 20
				if tc.longest > 0 {
					rounds = 300
				}
				var worst time.Duration
				var waits time.Time // since the first save that no update includes yet
				for save := next(); rounds > 0; rounds-- {
					time.Sleep(time.Until(save))
					f.Then(made(web.DeployID(), "/src/web/main.go"))
					if waits.IsZero() {
						waits = time.Now()
					}
					save = next()
					for f.builder.names() == "" && (tc.fromStart || time.Now().Before(save)) {
						time.Sleep(time.Millisecond)
						synctest.Wait()
					}
					if f.builder.names() == "" {
						continue
					}
					worst, waits = max(worst, time.Since(waits)), time.Time{}
					time.Sleep(20 * time.Millisecond)
					f.finish("web", outcome{result: buildanddeploy.Result{Mode: "local", Deployed: true}})
					if tc.fromStart {
						save = next()
					}
				}
				loops := tc.longest == 0
				if named := strings.Contains(strings.Join(statetest.Texts(f.logs, "web"), "\n"), "web is in a loop: "); named != loops {
					t.Errorf("named as a loop: %v", named)
				}
				if !loops && worst > tc.longest {
					t.Errorf("a save waited for %s", worst)
				}
			})
		})
	}
}
