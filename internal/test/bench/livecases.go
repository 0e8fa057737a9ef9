//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/witness"
)

// file is a file to save: its path below the project's folder, and below the container's root.
type file struct {
	local, remote string
	content       []byte
}

// arrivalLimit is the time after which a save counts as lost.
const arrivalLimit = 20 * time.Second

// arrival is a set of files on its way to some containers.
type arrival struct {
	mu   sync.Mutex
	left []map[string][]byte // by container: the content that has not arrived yet, by path
	at   []time.Time         // by container: the time at which the last of it arrived
	open int                 // the number of containers that lack something
	done chan struct{}       // closed when open is 0
}

func expect(files []file, containers int) *arrival {
	a := &arrival{left: make([]map[string][]byte, containers), at: make([]time.Time, containers), open: containers, done: make(chan struct{})}
	for i := range a.left {
		a.left[i] = map[string][]byte{}
		for _, f := range files {
			a.left[i][f.remote] = f.content
		}
	}
	return a
}

// saw takes a sighting of the witness of a container.
func (a *arrival) saw(container int, s witness.Sighting) {
	a.mu.Lock()
	defer a.mu.Unlock()
	left := a.left[container]
	if want, ok := left[s.Path]; !ok || !bytes.Equal(want, s.Content) {
		return
	}
	delete(left, s.Path)
	if len(left) > 0 {
		return
	}
	a.at[container] = s.At
	if a.open--; a.open == 0 {
		close(a.done)
	}
}

// missing returns the paths that a container lacks.
func (a *arrival) missing(container int) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for path := range a.left[container] {
		out = append(out, path)
	}
	return out
}

// spaced saves files n times with a pause in between, so that saves do not overlap. It returns, by container, how long
// each save took to arrive, and how many did not.
func (l *live) spaced(ctx context.Context, on []*container, n int, pause time.Duration, files func(i int) []file) (took []times, lost int, err error) {
	took = make([]times, len(on))
	for i := range n {
		// Avoid running in step with another process's timer.
		if err := harness.Sleep(ctx, pause+rand.N(pause/2)); err != nil {
			return nil, 0, err
		}
		set := files(i)
		a := expect(set, len(on))
		l.watch(a.saw)
		for _, f := range set {
			if err := l.save(i, f); err != nil {
				return nil, 0, err
			}
		}
		saved := time.Now()
		select {
		case <-a.done:
		case <-time.After(arrivalLimit):
			lost += l.lastLook(on, a)
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
		for c, at := range a.at {
			if !at.IsZero() {
				took[c] = append(took[c], max(0, at.Sub(saved)))
			}
		}
		if lost > 2 {
			break // that is enough, and each takes long
		}
	}
	return took, lost, nil
}

// lastLook looks for files without a notice of their arrival, and returns how many are missing.
func (l *live) lastLook(on []*container, a *arrival) int {
	lost := 0
	for i, c := range on {
		for _, path := range a.missing(i) {
			c.witness.Look(path)
		}
		lost += len(a.missing(i))
	}
	return lost
}

// save writes a file alternately in the two ways of editors: as a new file that is renamed over the old one, and in
// place.
func (l *live) save(i int, f file) error {
	path := filepath.Join(l.project.Dir, f.local)
	if i%2 == 0 {
		return replace(path, f.content)
	}
	return os.WriteFile(path, f.content, 0o644)
}

// text returns size bytes that differ from the text of all earlier saves.
func (l *live) text(size int) []byte {
	l.n++
	out := bytes.Repeat([]byte("x"), size)
	copy(out, fmt.Sprintf("save %d\n", l.n))
	return out
}

// noise works like text, but its result cannot be compressed.
func (l *live) noise(size int) []byte {
	l.n++
	if len(l.random) < size {
		l.random = make([]byte, size)
		r := rand.NewChaCha8([32]byte{})
		_, _ = r.Read(l.random)
	}
	out := bytes.Clone(l.random[:size])
	copy(out, fmt.Sprintf("save %d\n", l.n))
	return out
}

// newNoise works like noise, but its result has no part of any other save.
func (l *live) newNoise(size int) []byte {
	l.n++
	out := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(l.n), byte(l.n >> 8), 1}).Read(out)
	return out
}

// one returns the files of a case in which the same single file is saved.
func (l *live) one(dir, name string, content func() []byte) func(int) []file {
	return func(int) []file {
		return []file{{filepath.Join(dir, name), filepath.Join("files", name), content()}}
	}
}

// many returns the files of a case in which n files of 1 KB are saved at once.
func (l *live) many(n int) func(int) []file {
	return func(int) []file {
		out := make([]file, n)
		for i := range out {
			name := fmt.Sprintf("files/of-%d/%d", n, i)
			out[i] = file{name, name, l.text(1024)}
		}
		return out
	}
}
