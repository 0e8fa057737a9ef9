package watch

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hone-dev/hone/internal/base/problem"
)

// troubles are the present problems.
type troubles struct {
	limited *problem.Problem
	paths   map[string]*problem.Problem // by unreadable path
	news    bool                        // they changed since they were last reported
}

func newTroubles() troubles { return troubles{paths: map[string]*problem.Problem{}} }

// IsLimit reports whether a problem of the system's limits is one that only delays: the files are compared instead.
func IsLimit(p *problem.Problem) bool {
	return errors.Is(p, errNoWatches) || errors.Is(p, errNoInstance)
}

// list returns the problems, the most important first.
func (t *troubles) list() []*problem.Problem {
	var out []*problem.Problem
	if t.limited != nil {
		out = append(out, t.limited)
	}
	for _, path := range slices.Sorted(maps.Keys(t.paths)) {
		out = append(out, t.paths[path])
	}
	return out
}

// limit notes that the system refuses to watch more.
func (t *troubles) limit(err error) {
	if t.limited != nil {
		return
	}
	summary := "the system allows no more file watches, so some folders are compared every few seconds instead"
	if errors.Is(err, errNoInstance) {
		summary = "the system allows no more file watchers, so all folders are compared every few seconds instead"
	}
	t.limited = problem.Wrap(err, summary, limitMend(err))
	t.news = true
}

func (t *troubles) noLimit() {
	if t.limited != nil {
		t.limited, t.news = nil, true
	}
}

// unreadable notes that path cannot be watched or read.
func (t *troubles) unreadable(path string, err error) {
	if t.paths[path] != nil {
		return
	}
	t.paths[path] = problem.Wrap(err, "cannot watch "+path,
		"make it readable, or name it in .tiltignore if nothing depends on it")
	t.news = true
}

func (t *troubles) readable(path string) {
	if t.paths[path] != nil {
		delete(t.paths, path)
		t.news = true
	}
}

// sweep drops the problems of paths that no consumer wants anymore.
func (t *troubles) sweep(reg *registry) {
	for path := range t.paths {
		if !reg.wantsBelow(path) && !reg.wants(path) && !reg.spine[filepath.Clean(path)] {
			t.readable(path)
		}
	}
}
