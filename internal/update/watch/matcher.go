package watch

import (
	"path/filepath"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// Matcher decides which paths are left out. Paths are absolute and clean. It is safe for concurrent use.
type Matcher interface {
	// Matches reports whether path is left out, on its own or because a folder above it is.
	Matches(path string) bool
	// MatchesEntireDir reports whether everything below the folder dir is left out, so that dir need not be read. It may
	// return false for such a folder, but never true for any other.
	MatchesEntireDir(dir string) bool
}

// NewMatcher returns a matcher that leaves out every path that any of the ignores leaves out. Each set of patterns works
// like a .dockerignore file in its Base: the last pattern that fits decides, and "!" makes an exception. In addition, a
// pattern may start with ".." to reach outside Base, and an absolute pattern below Base is taken relative to Base. A set
// never leaves out its own Base. An invalid pattern yields a *problem.Problem that names it and its Source.
func NewMatcher(ignores []model.Ignore) (Matcher, error) {
	var m matchers
	for _, ig := range ignores {
		set, err := newIgnoreSet(ig)
		if err != nil {
			return nil, err
		}
		if len(set.patterns) > 0 {
			m = append(m, set)
		}
	}
	if len(m) == 1 {
		return m[0], nil
	}
	return m, nil
}

// matchers leaves out every path that any of its parts leaves out.
type matchers []*ignoreSet

func (m matchers) Matches(path string) bool {
	for _, s := range m {
		if s.Matches(path) {
			return true
		}
	}
	return false
}

func (m matchers) MatchesEntireDir(dir string) bool {
	for _, s := range m {
		if s.MatchesEntireDir(dir) {
			return true
		}
	}
	return false
}

// maxCachedDirs bounds the folders that an ignoreSet caches; beyond it, the cache is cleared.
const maxCachedDirs = 1 << 16

// ignoreSet is one list of patterns. It caches the verdict on each folder, because every file in the folder needs it.
type ignoreSet struct {
	base     string
	patterns []*pattern

	mu   sync.Mutex
	dirs map[string]*dirVerdict // guarded by mu; keyed by path relative to base
	root *dirVerdict
}

// dirVerdict is the result of the patterns for a folder.
type dirVerdict struct {
	// fits holds, for each pattern, whether it fits the folder or one above it, and so everything below.
	fits []bool
	// entire is set if everything below the folder is left out.
	entire bool
}

func newIgnoreSet(ig model.Ignore) (*ignoreSet, error) {
	base, texts := hoist(filepath.Clean(ig.Base), ig.Patterns)
	var patterns []*pattern
	for _, text := range texts {
		p, err := newPattern(text)
		if err != nil {
			return nil, badPattern(ig, text, err)
		}
		patterns = append(patterns, p)
	}
	return ignoreSetOf(base, patterns), nil
}

func ignoreSetOf(base string, patterns []*pattern) *ignoreSet {
	s := &ignoreSet{base: base, patterns: patterns, dirs: map[string]*dirVerdict{}}
	s.root = &dirVerdict{fits: make([]bool, len(patterns))}
	s.root.entire = s.entire("", s.root.fits)
	return s
}

func badPattern(ig model.Ignore, text string, err error) error {
	source := ig.Source
	if source == "" {
		source = "the ignore patterns of " + ig.Base
	}
	return problem.Wrap(err, "bad pattern \""+text+"\" in "+source,
		"mend the pattern in "+source+": it has the syntax of .dockerignore, where [ and \\ have a meaning")
}

// relative returns path relative to the set's base, "" for the base itself, and whether path lies in the base.
func (s *ignoreSet) relative(path string) (string, bool) {
	if !model.IsChild(s.base, path) {
		return "", false
	}
	return strings.TrimPrefix(path[len(s.base):], string(filepath.Separator)), true
}

func (s *ignoreSet) Matches(path string) bool {
	rel, ok := s.relative(path)
	if !ok || rel == "" {
		return false
	}
	parent := s.verdict(parentOf(rel))
	if parent.entire {
		return true
	}
	matched := false
	for i, p := range s.patterns {
		if p.except == matched && (parent.fits[i] || p.fits(rel)) {
			matched = !p.except
		}
	}
	return matched
}

func (s *ignoreSet) MatchesEntireDir(dir string) bool {
	rel, ok := s.relative(dir)
	return ok && s.verdict(rel).entire
}

// parentOf returns the folder of a relative path, "" for the base.
func parentOf(rel string) string {
	i := strings.LastIndexByte(rel, filepath.Separator)
	if i < 0 {
		return ""
	}
	return rel[:i]
}

// verdict returns the result of the patterns for a folder, from the cache where possible.
func (s *ignoreSet) verdict(rel string) *dirVerdict {
	if rel == "" {
		return s.root
	}
	s.mu.Lock()
	v, ok := s.dirs[rel]
	s.mu.Unlock()
	if ok {
		return v
	}
	v = s.judge(rel, s.verdict(parentOf(rel)))
	s.mu.Lock()
	if len(s.dirs) >= maxCachedDirs {
		clear(s.dirs)
	}
	s.dirs[rel] = v
	s.mu.Unlock()
	return v
}

// judge computes the verdict on a folder from its parent's. Folders that no further pattern fits share the parent's
// list.
func (s *ignoreSet) judge(rel string, parent *dirVerdict) *dirVerdict {
	if parent.entire {
		return parent
	}
	v := &dirVerdict{fits: parent.fits}
	copied := false
	for i, p := range s.patterns {
		if v.fits[i] || !p.fits(rel) {
			continue
		}
		if !copied {
			v.fits = append([]bool(nil), parent.fits...)
			copied = true
		}
		v.fits[i] = true
	}
	v.entire = s.entire(rel, v.fits)
	return v
}

// entire reports whether, after the last pattern, everything below the folder is left out for certain: some pattern fits
// all of it, and no later exception reaches into it.
func (s *ignoreSet) entire(rel string, fits []bool) bool {
	all := false
	for i, p := range s.patterns {
		switch {
		case !p.except:
			all = all || fits[i] || p.fitsAllIn(rel)
		case all && (fits[i] || p.mayFitBelow(rel)):
			all = false
		}
	}
	return all
}
