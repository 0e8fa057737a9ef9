package historian

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/test/hostile"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestNextSession: a session knows the updates and the lines of the one before, without the values of Secrets, although that one never
// ended well.
func TestNextSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "past", "p.jsonl")
	synctest.Test(t, func(t *testing.T) { first(t, path) })
	for _, file := range []string{path, path + ".log", path + ".out"} {
		content, err := os.ReadFile(file)
		if err != nil || len(content) == 0 || strings.Contains(string(content), "swordfish") {
			t.Errorf("%s has %q, %v", file, content, err)
		}
	}
	synctest.Test(t, func(t *testing.T) { second(t, path) })
}

func logs(t *testing.T) *logstore.Store {
	s, err := logstore.New(logstore.Options{Secrets: []model.Secret{{Name: "db", Key: "pw", Value: "swordfish"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func first(t *testing.T, path string) {
	store := logs(t)
	a := statetest.Start(t, New(path, store, slog.New(slog.DiscardHandler)))
	a.Then(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(statetest.Local("a"), statetest.Local("b")))
	for serial, err := range []string{"", "swordfish is wrong"} {
		a.Then(state.BuildStarted{Resource: "a", Serial: serial + 1, At: a.View().At, Files: []string{"x"}})
		a.Then(state.BuildCompleted{Resource: "a", Serial: serial + 1, At: time.Now(), Mode: "local", Err: err})
	}
	say := func(source logstore.Source, level logstore.Level, text string) {
		store.Append(logstore.Entry{Resource: "a", Span: "build:a:2", Source: source, Level: level, Text: text})
	}
	say(logstore.SourceBuild, logstore.LevelError, "swordfish is wrong")
	say(logstore.SourceRuntime, logstore.LevelError, "the server says swordfish")
	store.Append(logstore.Entry{Resource: "a", Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Pod: "a-1", Text: "from a pod"})
	store.Append(logstore.Entry{Resource: "a", Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Container: "a", Text: "from a container of Compose"})
	say(logstore.SourceBuild, logstore.LevelDebug, "details")
	time.Sleep(2 * pause)
	synctest.Wait()
	for _, k := range kinds {
		content, err := os.ReadFile(path + k.suffix) // while the session runs
		if err != nil || strings.Count(string(content), "\n") != 1 {
			t.Errorf("the lines in %s are\n%s%v", k.suffix, content, err)
		}
	}
}

func second(t *testing.T, path string) {
	store := logs(t)
	Replay(path, store)
	var texts []string
	for _, l := range store.Tail(logstore.Filter{}, 10) {
		if l.Level != logstore.LevelInfo || l.Span != "" || l.Resource != "a" {
			t.Errorf("line %+v", l)
		}
		texts = append(texts, string(l.Source)+": "+l.Text)
	}
	until := "── earlier session, until " + time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Local().Format(time.DateTime) + " ──"
	want := []string{"build: [redacted secret db:pw] is wrong", "runtime: the server says [redacted secret db:pw]", "build: " + until, "runtime: " + until}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	a := statetest.Start(t, New(path, store, slog.New(slog.DiscardHandler)))
	a.Then(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(statetest.Local("a"), statetest.Local("b")))
	synctest.Wait()
	var got []string
	u := state.Updates.In(a.View()).Value("a")
	for _, b := range u.Past {
		got = append(got, b.Err)
	}
	if diff := cmp.Diff([]string{"[redacted secret db:pw] is wrong", ""}, got); diff != "" || len(u.Builds) > 0 || u.Succeeded {
		t.Errorf("the past of %+v (-want +got):\n%s", u, diff)
	}
	if past := state.Updates.In(a.View()).Value("b").Past; past != nil {
		t.Errorf("b has %+v", past)
	}
}

// TestRunAgain: after a failure, the subscriber takes no update of its own session for one of an earlier session, and records none twice.
func TestRunAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.jsonl")
	synctest.Test(t, func(t *testing.T) {
		store := logs(t)
		s := New(path, store, slog.New(slog.DiscardHandler))
		build := func(a *statetest.Alone) {
			a.Then(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(statetest.Local("a")), state.BuildStarted{Resource: "a", Serial: 1, At: time.Now()},
				state.BuildCompleted{Resource: "a", Serial: 1, At: time.Now(), Mode: "local"})
			synctest.Wait()
		}
		first := statetest.Start(t, s)
		build(first)
		first.Stop()
		again := statetest.Start(t, s)
		build(again)
		if past := state.Updates.In(again.View()).Value("a").Past; past != nil {
			t.Errorf("it takes its own updates for earlier ones: %+v", past)
		}
		if content, err := os.ReadFile(path); err != nil || strings.Count(string(content), "\n") != 1 {
			t.Errorf("recorded are\n%s%v", content, err)
		}
	})
}

// TestHarmless: a terminal that shows the file of the lines obeys nothing in it, and the lines stay as they were.
func TestHarmless(t *testing.T) {
	text := "a\x1b[2J \u009b2J \u202ehidden ü 𝄞 \U000E0041"
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	got := harmless(raw)
	if found := hostile.Found(string(got)); found != "" {
		t.Errorf("%q is obeyed", found)
	}
	var again string
	if err := json.Unmarshal(got, &again); err != nil || again != text {
		t.Errorf("%q is read as %q, %v", text, again, err)
	}
}
