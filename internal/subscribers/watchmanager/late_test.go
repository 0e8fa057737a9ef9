package watchmanager

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/watch"
)

// TestSavedBeforeItWasWatched has files change after the evaluation read them and before they are watched: they count as
// changed. Unchanged files, and paths that are not files, do not.
func TestSavedBeforeItWasWatched(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"Tiltfile": "", "same": "same", "saved": "new", "made": "made", "folder/file": ""} {
		write(t, path(name), text)
	}
	loaded := statetest.Loaded()
	loaded.Result.Read = map[string]uint64{
		path("same"): xxh3.HashString("same"), path("saved"): xxh3.HashString("old"), path("made"): 0,
		path("gone"): xxh3.HashString("gone"), path("never"): 0, path("folder"): 1,
	}
	for name := range loaded.Result.Read {
		loaded.Result.ConfigFiles = append(loaded.Result.ConfigFiles, name)
	}
	a := statetest.Start(t, New(watch.Options{}, true))
	a.Dispatch(session(dir), state.TiltfileStarted{}, loaded)
	want := []string{path("gone"), path("made"), path("saved")}
	a.Until("the files that differ", func(v store.View) bool {
		return slices.Equal(state.PathsOf(state.TheTiltfile(v).Changed), want)
	})
}
