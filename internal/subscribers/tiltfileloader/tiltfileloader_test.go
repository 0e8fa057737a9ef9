package tiltfileloader

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a TiltfileLoader whose evaluations end with the results that the test gives.
type fixture struct {
	*statetest.Alone
	t      *testing.T
	logs   *logstore.Store
	mu     sync.Mutex // guards asked; at rest it may be read without
	asked  []tiltfile.Options
	answer chan func() tiltfile.Result
	served func() (model.Capabilities, error)
}

// count returns the number of evaluations so far.
func (f *fixture) count() int {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

func start(t *testing.T) *fixture { return startWith(t, statetest.Session) }

func startWith(t *testing.T, session state.SessionStarted) *fixture {
	f := &fixture{t: t, logs: statetest.Logs(t), answer: make(chan func() tiltfile.Result)}
	load := func(ctx context.Context, o tiltfile.Options) tiltfile.Result {
		f.mu.Lock()
		f.asked = append(f.asked, o)
		f.mu.Unlock()
		select {
		case answer := <-f.answer:
			return answer()
		case <-ctx.Done():
			return tiltfile.Result{Err: ctx.Err()}
		}
	}
	f.Alone = statetest.Start(t, New(load, tiltfile.Options{Namespace: "dev", Capabilities: func(context.Context) (model.Capabilities, error) { return f.served() }}, f.logs))
	session.Session.Args = []string{"web"}
	f.Then(session)
	return f
}

// answers ends the running evaluation.
func (f *fixture) answers(answer func() tiltfile.Result) {
	f.t.Helper()
	select {
	case f.answer <- answer:
	default:
		f.t.Fatal("no evaluation runs")
	}
	synctest.Wait()
}

func good(names ...string) func() tiltfile.Result {
	return func() tiltfile.Result {
		var r tiltfile.Result
		for _, n := range names {
			r.Manifests = append(r.Manifests, statetest.Local(n))
		}
		r.ConfigFiles = []string{"/src/Tiltfile", "/src/lib/Tiltfile"}
		return r
	}
}

// evaluations checks how many there were.
func (f *fixture) evaluations(when string, want int) {
	f.t.Helper()
	if got := f.count(); got != want {
		f.t.Fatalf("%s: %d evaluations, want %d", when, got, want)
	}
}

func changed(paths ...string) state.FilesChanged {
	return state.FilesChanged{Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetConfigs, Name: "(Tiltfile)"}, Paths: paths}}}
}

// TestAwaits shows a wait of the running evaluation once it has lasted, and not the evaluation itself.
func TestAwaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		awaits := func(when, want string) {
			t.Helper()
			synctest.Wait()
			if got := state.TheTiltfile(f.View()).Awaits; got.What != want || got.Since.IsZero() != (want == "") {
				t.Errorf("%s: it waits for %+v, want %q", when, got, want)
			}
		}
		await := f.asked[0].Await
		defer await("the Tiltfile to be evaluated")()
		time.Sleep(shownAfter)
		awaits("while it runs", "")
		f.logs.SetSecrets([]model.Secret{{Name: "db", Key: "password", Value: "hunter22"}})
		over := await("helm of hunter22")
		awaits("at first", "")
		time.Sleep(shownAfter)
		awaits("after a while", "helm of [redacted secret db:password]")
		over()
		awaits("when that is over", "")
		defer await("git")()
		time.Sleep(shownAfter)
		awaits("once more", "git")
		f.answers(good("web"))
		awaits("evaluated", "")
	})
}

func TestWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.evaluations("at the start", 1)
		o := f.asked[0]
		if o.Path != "/src/Tiltfile" || o.Subcommand != "up" || o.Namespace != "dev" || len(o.Args) != 1 || o.Logger == nil {
			t.Errorf("options: %+v", o)
		}
		f.answers(good("web"))
		f.evaluations("evaluated", 1)
		if n := state.Resources.In(f.View()).Len(); n != 1 {
			t.Errorf("%d resources", n)
		}
		f.Then(statetest.Change("web", "/src/web/main.go"))
		f.evaluations("a file that is none of the Tiltfile's", 1)
		f.Then(changed("/src/lib/Tiltfile", "/src/Tiltfile"))
		f.evaluations("changed", 2)
		f.Then(changed("/src/a.yaml"), changed("/src/lib/b.yaml"))
		f.evaluations("changed meanwhile", 2)
		f.answers(good("web"))
		f.evaluations("the change meanwhile leads to the next one", 3)
		f.answers(good("web"))
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{model.TiltfileName}})
		f.evaluations("triggered", 4)
		f.Then(state.TiltfileArgsSet{Args: []string{"api"}})
		f.evaluations("other arguments meanwhile", 5)
		if args := f.asked[4].Args; len(args) != 1 || args[0] != "api" {
			t.Errorf("arguments: %v", args)
		}
		f.answers(good("web", "api"))
		f.evaluations("done", 5)
		var said []string
		for _, line := range statetest.Texts(f.logs, "(Tiltfile)") {
			if !strings.HasPrefix(line, "Loading") && !strings.HasPrefix(line, "Successfully") {
				said = append(said, line)
			}
		}
		want := []string{"2 Files Changed: [Tiltfile lib/Tiltfile]", "2 Files Changed: [a.yaml lib/b.yaml]", "Triggered",
			"Starting over: the Tiltfile was changed meanwhile", "Arguments Changed"}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Errorf("reasons (-want +got):\n%s", diff)
		}
	})
}

// TestPaused gathers changes of the Tiltfile while the session is paused: they lead to one evaluation.
func TestPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.answers(good("web"))
		f.Then(state.SessionPaused{}, changed("/src/Tiltfile"), changed("/src/lib/Tiltfile"), changed("/src/Tiltfile"))
		f.evaluations("changed", 1)
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{model.TiltfileName}})
		f.evaluations("triggered", 2)
		f.answers(good("web"))
		f.Then(changed("/src/Tiltfile"), changed("/src/lib/Tiltfile"))
		f.evaluations("changed again", 2)
		f.Then(state.SessionResumed{})
		f.evaluations("resumed", 3)
		f.answers(good("web"))
		f.evaluations("evaluated", 3)
	})
}

// TestOvertaken checks which events abort an evaluation that does not end.
func TestOvertaken(t *testing.T) {
	for _, tc := range []struct {
		name  string
		then  func(f *fixture)
		wants int
	}{
		{"the Tiltfile is saved", func(f *fixture) { f.Then(changed("/src/Tiltfile")) }, 2},
		{"a loaded file is saved", func(f *fixture) { f.Then(changed("/src/lib/service.tilt")) }, 2},
		{"a file that programs write is saved", func(f *fixture) { f.Then(changed("/src/chart/Chart.lock")) }, 1},
		{"other arguments", func(f *fixture) { f.Then(state.TiltfileArgsSet{Args: []string{"api"}}) }, 2},
		{"triggered", func(f *fixture) { f.Then(state.ResourcesTriggered{Names: []model.ManifestName{model.TiltfileName}}) }, 2},
		{"a resource is triggered", func(f *fixture) { f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"web"}}) }, 1},
		{"the Tiltfile is saved while the session is paused", func(f *fixture) { f.Then(state.SessionPaused{}); f.Then(changed("/src/Tiltfile")) }, 1},
		{"triggered while the session is paused", func(f *fixture) {
			f.Then(state.SessionPaused{})
			f.Then(state.ResourcesTriggered{Names: []model.ManifestName{model.TiltfileName}})
		}, 2},
		{"saved again and again", func(f *fixture) { f.Then(changed("/src/Tiltfile")); f.Then(changed("/src/Tiltfile")) }, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t)
				f.evaluations("at the start", 1)
				tc.then(f)
				f.evaluations(tc.name, tc.wants)
				if tf := state.TheTiltfile(f.View()); !tf.Running() || tf.Loaded || tf.Err != "" {
					t.Errorf("the aborted evaluation has left a result: %+v", tf)
				}
				f.answers(good("web"))
				if tf := state.TheTiltfile(f.View()); tf.Err != "" || state.Resources.In(f.View()).Len() != 1 {
					t.Errorf("afterwards: %+v", tf)
				}
			})
		})
	}
}

func TestFailures(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer func() tiltfile.Result
		want   string
		usage  bool
		watch  []string
	}{
		{"an error with a mend", func() tiltfile.Result {
			return tiltfile.Result{Tiltfile: model.Tiltfile{ConfigFiles: []string{"/src/Tiltfile", "/src/new"}}, Err: problem.New("no such builtin", "call another")}
		}, "no such builtin\n  call another", false, []string{"/src/Tiltfile", "/src/new"}},
		{"wrong arguments", func() tiltfile.Result {
			return tiltfile.Result{Err: &fault.ArgsError{Err: errors.New("no resource is called x")}}
		}, "no resource is called x", true, nil},
		{"a mistake of ours: the mended file is seen all the same", func() tiltfile.Result { panic("nil map") },
			"hone made a mistake while evaluating the Tiltfile: nil map", false, []string{"/src/Tiltfile"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer bug.Take(func(*bug.Report) {})()
			synctest.Test(t, func(t *testing.T) {
				f := start(t)
				f.answers(tc.answer)
				got := state.TheTiltfile(f.View())
				if !got.Loaded || got.Good || got.Running() || got.Err != tc.want || got.Usage != tc.usage {
					t.Errorf("%+v, want the error %q", got, tc.want)
				}
				if diff := cmp.Diff(tc.watch, got.ConfigFiles); diff != "" {
					t.Errorf("watched (-want +got):\n%s", diff)
				}
				if text := strings.Join(statetest.Texts(f.logs, "(Tiltfile)"), "\n"); !strings.Contains(text, tc.want) {
					t.Errorf("log: %s", text)
				}
				f.Then(changed("/src/Tiltfile"))
				f.answers(good("web"))
				if got := state.TheTiltfile(f.View()); !got.Good || got.Err != "" {
					t.Errorf("mended: %+v", got)
				}
			})
		})
	}
}

func TestSecretsAndWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.answers(func() tiltfile.Result {
			r := good("web")()
			r.Secrets = []model.Secret{{Name: "db", Key: "password", Value: "hunter2hunter2"}}
			r.Warnings = []string{"image x is built for nobody, hunter2hunter2"}
			return r
		})
		text := strings.Join(statetest.Texts(f.logs, "(Tiltfile)"), "\n")
		if strings.Count(text, "WARNING: image x") != 1 || strings.Contains(text, "hunter2") {
			t.Errorf("log: %s", text)
		}
		if !f.asked[0].WarnLater {
			t.Error("the evaluation tells its warnings before their secrets are known")
		}
		f.Then(changed("/src/Tiltfile"))
		f.answers(func() tiltfile.Result {
			r := tiltfile.Result{Err: errors.New("no good")}
			r.Warnings = []string{"image y is built for nobody"}
			return r
		})
		if text := strings.Join(statetest.Texts(f.logs, "(Tiltfile)"), "\n"); strings.Count(text, "WARNING: image y") != 1 {
			t.Errorf("log of one that fails: %s", text)
		}
	})
}

// TestSecretsOnTheWay checks that values are hidden as soon as the evaluation encounters them, even if it fails later, and
// that the values of the previous evaluation stay hidden until this one has succeeded. A value that turns out to be a name stays readable
// in the error.
func TestSecretsOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.answers(func() tiltfile.Result {
			r := good("web")()
			r.Secrets = []model.Secret{{Name: "db", Key: "old", Value: "old-secret"}}
			return r
		})
		f.Then(changed("/src/Tiltfile"))
		f.answers(func() tiltfile.Result {
			o := f.asked[1]
			o.OnSecrets([]model.Secret{{Name: "db", Key: "one", Value: "first-secret"}})
			logstore.Infof(o.Logger, "prints first-secret old-secret")
			o.OnSecrets([]model.Secret{{Name: "db", Key: "two", Value: "second-secret"}})
			logstore.Infof(o.Logger, "prints first-secret second-secret old-secret")
			o.OnSecrets([]model.Secret{{Name: "db", Key: "two", Value: "second-secret", Named: true}})
			return tiltfile.Result{Err: errors.New("it fails with first-secret for second-secret, PASSWORD=second-secret")}
		})
		text := strings.Join(statetest.Texts(f.logs, "(Tiltfile)"), "\n")
		if strings.Count(text, "-secret") != 1 || strings.Count(text, "[redacted secret db:") != 7 {
			t.Errorf("log: %s", text)
		}
		if got := state.TheTiltfile(f.View()).Err; got != "it fails with [redacted secret db:one] for second-secret, PASSWORD=[redacted secret db:two]" {
			t.Errorf("the state holds %q", got)
		}
	})
}

func TestStopsInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		time.Sleep(time.Minute)
		f.Stop()
		if got := state.TheTiltfile(f.View()); got.Loaded {
			t.Errorf("a cancelled evaluation counts: %+v", got)
		}
	})
}

func TestClash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.Then(state.ObjectsDeclared{Buttons: []model.Button{{Name: "lint"}}})
		declares := func() tiltfile.Result {
			r := good("web")()
			r.Buttons = []model.Button{{Name: "lint", Text: "of the Tiltfile"}}
			return r
		}
		f.answers(declares)
		if got := state.TheTiltfile(f.View()).Err; !strings.Contains(got, `UIButton "lint"`) || !strings.Contains(got, "hone delete") {
			t.Errorf("error: %q", got)
		}
		f.Then(state.ObjectsWithdrawn{Buttons: []string{"lint"}}, changed("/src/Tiltfile"))
		f.answers(declares)
		if tf := state.TheTiltfile(f.View()); tf.Err != "" || state.Buttons.In(f.View()).Value("lint").Text != "of the Tiltfile" {
			t.Errorf("after it is gone: %q", tf.Err)
		}
	})
}

// TestExtensionsFromOutside evaluates the Tiltfile with extensions that were declared through the API, and without them
// again.
func TestExtensionsFromOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.evaluations("at the start", 1)
		f.answers(good("web"))
		declared := model.APIObjects{ExtensionRepos: []model.ExtensionRepo{{Name: "ours", URL: "file:///ext"}}, Extensions: []model.Extension{{Name: "ops", Repo: "ours", Path: "ops"}}}
		f.Then(state.ObjectsDeclared{ExtensionRepos: declared.ExtensionRepos, Extensions: declared.Extensions})
		f.evaluations("declared", 2)
		if diff := cmp.Diff(declared, f.asked[1].Given); diff != "" {
			t.Error(diff)
		}
		f.answers(good("web"))
		f.Then(state.ObjectsWithdrawn{Extensions: []string{"ops"}})
		f.evaluations("withdrawn", 3)
		if n := len(f.asked[2].Given.Extensions); n != 0 {
			t.Errorf("%d extensions", n)
		}
		f.answers(good("web"))
		f.evaluations("at rest", 3)
	})
}
