package buildcontroller

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
)

// TestGrowthBySettled saves a file while an update in place waits for its container to answer. On a busy machine, the file settles before
// the running update is told that it was noticed.
func TestGrowthBySettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, u := replicas(t, "c1")
		u.several = true
		u.slow["c1"] = make(chan error)
		save := func(path string) {
			f.Dispatch(state.FilesNoticed(statetest.Change("a", path)))
			f.Dispatch(statetest.Change("a", path)) // in the same snapshot
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
		}
		save("/src/a/1")
		save("/src/a/2")
		if want := "/app/1, /app/2"; u.begun != want {
			t.Errorf("on their way are %s, not %s", u.begun, want)
		}
		f.end(u, "c1", nil)
		f.end(u, "c1", nil)
		f.running("")
	})
}

// TestGrowth saves files while an update in place waits for its container to answer: they go there at once, as parts of
// it. A file that is saved after the last answer is another update.
func TestGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, u := replicas(t, "c1")
		u.several = true
		u.slow["c1"] = make(chan error)
		notice := func(paths ...string) {
			f.Then(state.FilesNoticed(statetest.Change("a", paths...)))
			time.Sleep(10 * time.Millisecond) // changes that come closer together travel together
			synctest.Wait()
		}
		expect := func(builds int, pending string) {
			t.Helper()
			up := f.update("a")
			running := ""
			for p := range up.Noticed[statetest.Image("a").ID()].All() {
				running = strings.TrimSpace(running + " " + p)
			}
			if up.Serial != builds || u.begun != pending {
				t.Errorf("%d updates, and %q are on their way, want %d and %q; noticed %s", up.Serial, u.begun, builds, pending, running)
			}
		}
		first := f.update("a").Serial + 1
		notice("/src/a/1")
		expect(first, "/app/1")
		notice("/src/a/2", "/src/a/3")
		expect(first, "/app/1, /app/3 /app/2")
		notice("/src/a/4")
		expect(first, "/app/1, /app/3 /app/2, /app/4")
		f.end(u, "c1", nil)
		notice("/src/a/5")
		expect(first, "/app/1, /app/3 /app/2, /app/4, /app/5")
		for range 3 {
			f.end(u, "c1", nil)
		}
		b := f.update("a").Builds[0]
		if d := cmp.Diff("a/1 a/2 a/3 a/4 a/5", strings.Join(b.Files, " ")); d != "" || b.Err != "" || b.Containers[0].Deletes != 5 {
			t.Errorf("the first update: %+v\n%s", b, d)
		}
		notice("/src/a/6")
		expect(first+1, "/app/1, /app/3 /app/2, /app/4, /app/5, /app/6")
		text := strings.Join(statetest.Texts(f.logs, "a"), "\n")
		for _, want := range []string{"4 Files Changed: [a/1 a/2 a/3 a/4]", "Meanwhile: 1 File Changed: [a/5]"} {
			if !strings.Contains(text, want) {
				t.Errorf("the log lacks %q:\n%s", want, text)
			}
		}
		f.end(u, "c1", nil)
		f.Then(statetest.Change("a", "/src/a/1", "/src/a/2", "/src/a/3", "/src/a/4", "/src/a/5", "/src/a/6"))
		synctest.Wait()
		f.running("")
		if got := f.update("a"); got.Current != nil || got.Serial != first+1 {
			t.Errorf("once they have settled, update %d: %+v", got.Serial, got.Current)
		}
	})
}
