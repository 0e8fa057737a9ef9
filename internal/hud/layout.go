package hud

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/internal/hud/screen"
)

// layoutStore remembers the arrangement of a screen in a file, on a goroutine of its own. Losing it is not worth a message: the
// screen then has its default layout.
type layoutStore struct {
	first screen.Layout
	news  chan screen.Layout // one slot: the newest
	done  chan struct{}
}

// openLayout reads the file and starts to remember; close ends that.
func openLayout(path string) *layoutStore {
	s := &layoutStore{news: make(chan screen.Layout, 1), done: make(chan struct{})}
	if path == "" {
		close(s.done)
		return s
	}
	if text, err := os.ReadFile(path); err == nil {
		if json.Unmarshal(text, &s.first) != nil {
			s.first = screen.Layout{}
		}
	}
	go func() {
		defer close(s.done)
		for l := range s.news {
			text, err := json.Marshal(l)
			if err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
				_ = atomicfile.Write(path, text, 0o600)
			}
		}
	}()
	return s
}

// keep remembers a layout. It is called by a single goroutine.
func (s *layoutStore) keep(l screen.Layout) {
	select {
	case <-s.news:
	default:
	}
	select {
	case s.news <- l:
	default: // never: the slot was emptied
	}
}

// close waits until the newest layout is in the file. keep must no longer be called.
func (s *layoutStore) close() {
	close(s.news)
	<-s.done
}
