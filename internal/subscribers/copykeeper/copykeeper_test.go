package copykeeper

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// project is a folder with the files of image a.
type project struct {
	t   *testing.T
	dir string
	// initial is set if all files are copied at first.
	initial bool
	// lacks are the files that an image of an earlier session lacks, which was built at a time; nil for an image of the session.
	lacks map[string]time.Time
	built time.Time
}

func (p project) path(name string) string { return filepath.Join(p.dir, "src", name) }

func (p project) write(name, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Join(p.dir, "src"), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// session begins a session that has deployed resource a, whose pod was there before.
func (p project) session() *session {
	im := statetest.Image("a")
	im.LiveUpdate.Syncs[0].LocalPath = filepath.Join(p.dir, "src")
	im.LiveUpdate.StopPaths = []string{p.path("go.mod")}
	im.LiveUpdate.InitialSync = p.initial
	s := &session{t: p.t, now: statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(statetest.K8s("a", im))).Then(statetest.Connected()...)}
	s.k = newKeeper(filepath.Join(p.dir, "copies.json"))
	s.look()
	if p.lacks == nil {
		s.now.Deployed("a")
	} else {
		image := model.ImageResult{Local: "a:1", Cluster: "a:1", StartedAt: p.built, Lacks: p.lacks}
		s.now.Now = time.Now()
		s.now.Then(statetest.Connected()...).Begin("a").Finish("a", func(b *state.BuildCompleted) {
			b.Mode, b.Deployed, b.Images = "image", true, map[string]model.ImageResult{"a": image}
		})
	}
	s.now.Then(statetest.Pod("a", "p", "c1", "a:1"))
	s.look()
	return s
}

// session is a session with a keeper.
type session struct {
	t   *testing.T
	now *statetest.State
	k   keeper
}

func (s *session) manifest() model.Manifest {
	return state.Resources.In(s.now.View()).Value("a").Manifest
}

func (s *session) look() {
	s.now.Then(s.k.look(s.now.View())...)
}

// owed returns the files that the container gets of its own accord.
func (s *session) owed() []string {
	var files []string
	for _, c := range buildcontrol.Decide(s.now.View(), nil).Start {
		for _, f := range c.Files {
			files = append(files, filepath.Base(f))
		}
	}
	return files
}

// copies updates containers in place, after files have changed.
func (s *session) copies(paths ...string) {
	if len(paths) > 0 {
		s.now.Then(statetest.Change("a", paths...))
	}
	s.now.Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "synclet", []string{"c1"} })
	s.look()
}

// ends writes the record, as a session does at its end.
func (s *session) ends(p project) {
	s.t.Helper()
	if err := s.k.record.write(filepath.Join(p.dir, "copies.json"), s.now.Now); err != nil {
		s.t.Fatal(err)
	}
}

// endsAt ends a session whose container was up to date when a file was written: the clock of the session is another one.
func (s *session) endsAt(p project, file string) {
	s.t.Helper()
	s.k.record.Containers["c1"] = container{Resource: "a", At: watch.ChangedAt(p.path(file)), Files: s.k.record.Containers["c1"].Files}
	s.now.Now = time.Now()
	s.ends(p)
}

// TestNextSession begins a session beside a container into which an earlier one has copied files.
func TestNextSession(t *testing.T) {
	p := project{t: t, dir: t.TempDir()}
	for _, f := range []string{"same", "edited", "go.mod"} {
		p.write(f, "one")
	}
	first := p.session()
	overlaid := func(s *session) bool { return state.Updates.In(s.now.View()).Value("a").Lanes["c1"].Overlaid }
	if overlaid(first) {
		t.Error("a container has copies although there was no session")
	}
	if got := first.owed(); got != nil {
		t.Errorf("the first session updates %v", got)
	}
	p.write("edited", "two")
	p.write("made", "two")
	first.copies(p.path("edited"), p.path("made"))
	first.endsAt(p, "made")

	for !watch.ChangedAt(p.path("later")).After(watch.ChangedAt(p.path("made"))) { // the file system's clock ticks in milliseconds
		p.write("later", "three")
	}
	p.write("edited", "one")
	p.write("go.mod", "three")
	if err := os.Remove(p.path("made")); err != nil {
		t.Fatal(err)
	}
	second := p.session()
	if !overlaid(second) {
		t.Error("the copies of the first session are unknown")
	}
	if diff := cmp.Diff([]string{"edited", "later", "made"}, second.owed()); diff != "" {
		t.Errorf("the second session updates (-want +got):\n%s", diff)
	}
	second.copies()
	if got := second.owed(); got != nil {
		t.Errorf("afterwards it updates %v", got)
	}
	p.write("end", "three")
	second.endsAt(p, "end")

	// The container has all three, and a pod that takes its place owes nothing.
	third := p.session()
	if got := third.owed(); got != nil {
		t.Errorf("the third session updates %v", got)
	}
	third.now.Then(statetest.Pod("a", "p", "c2", "a:1"))
	third.look()
	if got := third.owed(); got != nil {
		t.Errorf("a new container gets %v", got)
	}
}

// TestRecalledImage begins a session with an image that an earlier one has built, beside a container that has had some of the files which
// changed since: it gets only the others. A new container gets all of them.
func TestRecalledImage(t *testing.T) {
	p := project{t: t, dir: t.TempDir()}
	p.write("same", "one")
	built := watch.ChangedAt(p.path("same"))
	first := p.session()
	p.write("copied", "two")
	first.copies(p.path("copied"))
	for !watch.ChangedAt(p.path("later")).After(watch.ChangedAt(p.path("copied"))) {
		p.write("later", "three")
	}
	first.endsAt(p, "copied")

	p.built, p.lacks = built, map[string]time.Time{}
	for _, f := range []string{"copied", "later"} {
		p.lacks[p.path(f)] = watch.ChangedAt(p.path(f))
	}
	second := p.session()
	if diff := cmp.Diff([]string{"later"}, second.owed()); diff != "" {
		t.Errorf("the second session updates (-want +got):\n%s", diff)
	}
	second.copies()
	if got := second.owed(); got != nil {
		t.Errorf("afterwards it updates %v", got)
	}
	second.now.Then(statetest.Pod("a", "p", "c2", "a:1"))
	second.look()
	if diff := cmp.Diff([]string{"copied", "later"}, second.owed()); diff != "" {
		t.Errorf("a new container gets (-want +got):\n%s", diff)
	}
	delete(p.lacks, p.path("later"))
	if err := os.Remove(p.path("later")); err != nil {
		t.Fatal(err)
	}
	delete(second.k.record.Containers, "c2")
	second.k.record.Containers["c1"] = container{Resource: "a", At: time.Now(), Files: []string{p.path("copied")}}
	second.ends(p)
	if got := p.session().owed(); got != nil {
		t.Errorf("a session that has nothing to do updates %v", got)
	}
}

// TestNextSessionOfAnImage begins a session beside a container that no session has updated.
func TestNextSessionOfAnImage(t *testing.T) {
	p := project{t: t, dir: t.TempDir()}
	p.write("same", "one")
	p.session().endsAt(p, "same")
	for !watch.ChangedAt(p.path("edited")).After(watch.ChangedAt(p.path("same"))) {
		p.write("edited", "two")
	}
	if diff := cmp.Diff([]string{"edited"}, p.session().owed()); diff != "" {
		t.Errorf("the second session updates (-want +got):\n%s", diff)
	}
}

// TestInitialSync begins a session beside a container that an earlier one has filled, after a file has been deleted.
func TestInitialSync(t *testing.T) {
	p := project{t: t, dir: t.TempDir(), initial: true}
	p.write("same", "one")
	p.write("gone", "one")
	first := p.session()
	first.copies()
	first.ends(p)
	if err := os.Remove(p.path("gone")); err != nil {
		t.Fatal(err)
	}
	second := p.session()
	if got := second.owed(); !slices.Contains(got, "gone") {
		t.Errorf("the second session updates %v", got)
	}

	// The facts about the container arrive when its update already runs.
	third := statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(second.manifest())).Then(statetest.Connected()...)
	third.Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1")).Begin("a")
	third.Then(state.ContainersRecognized{Resource: "a", Owed: map[string][]string{"c1": {p.path("gone")}}})
	third.Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "synclet", []string{"c1"} })
	late := &session{t: t, now: third}
	if diff := cmp.Diff([]string{"gone"}, late.owed()); diff != "" {
		t.Errorf("after that, the session updates (-want +got):\n%s", diff)
	}
}

// TestForgets: containers that are gone leave the record; containers of other resources and sessions do not, unless they are
// old.
func TestForgets(t *testing.T) {
	p := project{t: t, dir: t.TempDir()}
	p.write("f", "one")
	s := p.session()
	s.k.record.Containers["other"] = container{At: s.now.Now, Files: []string{"/f"}}
	s.k.record.Containers["old"] = container{At: s.now.Now.Add(-kept - time.Hour), Files: []string{"/f"}}
	s.copies(p.path("f"))
	names := func() (names []string) {
		s.ends(p)
		for id := range load(filepath.Join(p.dir, "copies.json")).Containers {
			names = append(names, id)
		}
		slices.Sort(names)
		return names
	}
	if diff := cmp.Diff([]string{"c1", "other"}, names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.now.Then(state.PodGone{Pod: statetest.Pod("a", "p", "c1", "a:1").Pod.Pod})
	s.look()
	if diff := cmp.Diff([]string{"other"}, names()); diff != "" {
		t.Errorf("after the pod is gone (-want +got):\n%s", diff)
	}
}

// TestWrites: a file that is new in the record is written at once, so that nothing is lost if hone is killed.
func TestWrites(t *testing.T) { synctest.Test(t, writes) }

func writes(t *testing.T) {
	p := project{t: t, dir: t.TempDir()}
	p.write("f", "one")
	path := filepath.Join(p.dir, "copies.json")
	a := statetest.Start(t, New(path, slog.New(slog.DiscardHandler)))
	im := statetest.Image("a")
	a.Then(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(statetest.K8s("a", im)))
	a.Then(statetest.Connected()...)
	a.Then(state.BuildStarted{Resource: "a", Serial: 1, At: a.View().At})
	a.Then(state.BuildCompleted{Resource: "a", Serial: 1, At: time.Now(), Mode: "image", Deployed: true,
		Images: map[string]model.ImageResult{"a": {Local: "a:1", Cluster: "a:1", StartedAt: a.View().At}}})
	a.Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/f"))
	a.Then(state.BuildStarted{Resource: "a", Serial: 2, At: a.View().At})
	a.Then(state.BuildCompleted{Resource: "a", Serial: 2, At: time.Now(), Mode: "synclet", Synced: []string{"c1"}})
	if got := load(path).Containers["c1"].Files; !slices.Equal(got, []string{"/src/a/f"}) {
		t.Errorf("the record has %v", got)
	}
}
