package historian

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/tailfile"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// full writes full files of a session with 300 resources.
func full(b *testing.B) (path string) {
	path = filepath.Join(b.TempDir(), "p.jsonl")
	fill := func(path string, record any) {
		f, err := tailfile.Open(path, limit)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		text, err := json.Marshal(record)
		if err != nil {
			b.Fatal(err)
		}
		for range 2 * limit / len(text) {
			if err := f.Append(append(text, '\n')); err != nil {
				b.Fatal(err)
			}
		}
	}
	at := statetest.Epoch
	fill(path, update{"r7", state.Build{Serial: 3, Mode: "synclet", StartedAt: at, FinishedAt: at, Files: []string{"/src/a/main.go"},
		Containers: []model.ContainerUpdate{{Container: "c"}}}})
	for _, k := range kinds {
		fill(path+k.suffix, line{Time: at, Resource: "r7", Source: logstore.SourceBuild, Text: strings.Repeat("x", 80)})
	}
	return path
}

// BenchmarkReplay measures the part of a session's start that waits for the files of the one before.
func BenchmarkReplay(b *testing.B) {
	path := full(b)
	for b.Loop() {
		logs, err := logstore.New(logstore.Options{})
		if err != nil {
			b.Fatal(err)
		}
		Replay(path, logs)
		_ = logs.Close()
	}
}

// BenchmarkRecall measures the reading of the updates of earlier sessions, which nothing waits for.
func BenchmarkRecall(b *testing.B) {
	path := full(b)
	for b.Loop() {
		recalled(path)
	}
}

// BenchmarkSave measures the work on an update in place that has ended, among 300 resources with full histories. The update has ended by then.
func BenchmarkSave(b *testing.B) {
	var manifests []model.Manifest
	for i := range 300 {
		manifests = append(manifests, statetest.Local(fmt.Sprint("r", i)))
	}
	s := statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(manifests...))
	serial := 0
	build := func(name model.ManifestName) store.View {
		serial++
		s.Then(state.BuildStarted{Resource: name, Serial: serial, At: s.Now, Files: []string{"/src/a/main.go"}})
		return s.Then(state.BuildCompleted{Resource: name, Serial: serial, At: s.Now.Add(time.Millisecond), Mode: "local"}).View()
	}
	for range 20 {
		for _, m := range manifests {
			build(m.Name)
		}
	}
	file, err := tailfile.Open(filepath.Join(b.TempDir(), "p.jsonl"), limit)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	k := keeper{written: map[string]int{}}
	k.look(s.View())
	before, after := s.View(), build("r7")
	b.ResetTimer()
	for b.Loop() {
		k.written["r7"] = serial - 1
		if _, text := k.look(before); len(text) > 0 {
			b.Fatal("a snapshot without news has records")
		}
		_, text := k.look(after)
		if err := file.Append(text); err != nil || len(text) == 0 {
			b.Fatal(err)
		}
	}
}
