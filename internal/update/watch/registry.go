package watch

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// registry is the union of all specs. It is immutable.
type registry struct {
	consumers []*consumer
	// roots are the distinct paths of all specs.
	roots  map[string]*root
	global Matcher
	// spine holds every root and every folder above one.
	spine map[string]bool
	// shortest is the length of the shortest root: no shorter path has a root at or above it.
	shortest int
}

// consumer is a spec with its matcher; consumers with equal ignores share a matcher.
type consumer struct {
	Spec
	ignores Matcher
}

// root is one path that a consumer requests.
type root struct {
	path string
	// droppings leaves out ephemeral files below the root.
	droppings Matcher
	// wanted are the consumers that request the path, as positions in registry.consumers.
	wanted []int
	// keys are the keys of the consumers' ignores; equal keys mean that the same files are wanted.
	keys map[string]bool
}

// newRegistry builds the registry of specs, reusing the parts of old that have not changed. It fails soon once ended is true.
func newRegistry(specs []Spec, global []model.Ignore, old *registry, ended func() bool) (*registry, error) {
	if ended() {
		return nil, errEnded
	}
	r := &registry{roots: map[string]*root{}, spine: map[string]bool{}}
	var err error
	if r.global, err = NewMatcher(global); err != nil {
		return nil, err
	}
	shared := map[string]Matcher{}
	for _, c := range old.consumers {
		shared[ignoresKey(c.Ignores)] = c.ignores
	}
	for i, s := range specs {
		c := &consumer{Spec: s.clone()}
		key := ignoresKey(s.Ignores)
		if c.ignores = shared[key]; c.ignores == nil {
			if c.ignores, err = NewMatcher(s.Ignores); err != nil {
				return nil, err
			}
			shared[key] = c.ignores
		}
		r.consumers = append(r.consumers, c)
		for _, p := range s.Paths {
			if ended() {
				return nil, errEnded
			}
			if err := r.addRoot(p, i, key, old); err != nil {
				return nil, fmt.Errorf("watch for %s: %w", s.ID, err)
			}
		}
	}
	return r, nil
}

func (r *registry) addRoot(path string, consumer int, key string, old *registry) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("path %q is not absolute", path)
	}
	path = filepath.Clean(path)
	rt := r.roots[path]
	if rt == nil {
		rt = &root{path: path, keys: map[string]bool{}}
		if o := old.roots[path]; o != nil {
			rt.droppings = o.droppings
		} else {
			m, err := droppings(path)
			if err != nil {
				return err
			}
			rt.droppings = m
		}
		r.roots[path] = rt
		for p := path; !r.spine[p]; p = filepath.Dir(p) {
			r.spine[p] = true
		}
		if r.shortest == 0 || len(path) < r.shortest {
			r.shortest = len(path)
		}
	}
	rt.keys[key] = true
	if !slices.Contains(rt.wanted, consumer) {
		rt.wanted = append(rt.wanted, consumer)
	}
	return nil
}

// ignoresKey returns a key that is equal for ignores that make equal matchers.
func ignoresKey(ignores []model.Ignore) string {
	var b strings.Builder
	for _, ig := range ignores {
		fmt.Fprintf(&b, "%q %q\n", ig.Base, ig.Patterns)
	}
	return b.String()
}

// above calls f for each root at or above path until f returns false.
func (r *registry) above(path string, f func(*root) bool) {
	for p := path; len(p) >= r.shortest && len(r.roots) > 0; {
		if rt := r.roots[p]; rt != nil && !f(rt) {
			return
		}
		up := filepath.Dir(p)
		if up == p {
			return
		}
		p = up
	}
}

// wants reports whether any consumer wants the file at path.
func (r *registry) wants(path string) bool {
	found := false
	r.above(path, func(rt *root) bool {
		found = !r.global.Matches(path) && !rt.droppings.Matches(path) &&
			slices.ContainsFunc(rt.wanted, func(i int) bool { return !r.consumers[i].ignores.Matches(path) })
		return !found
	})
	return found
}

// wantsBelow reports whether any consumer may want something below the folder dir.
func (r *registry) wantsBelow(dir string) bool {
	found := false
	r.above(dir, func(rt *root) bool {
		found = !r.global.MatchesEntireDir(dir) && !rt.droppings.MatchesEntireDir(dir) &&
			slices.ContainsFunc(rt.wanted, func(i int) bool { return !r.consumers[i].ignores.MatchesEntireDir(dir) })
		return !found
	})
	return found
}

// eachWanting calls f with the position of each consumer that wants the file at path, possibly more than once.
func (r *registry) eachWanting(path string, f func(consumer int)) {
	r.above(path, func(rt *root) bool {
		if r.global.Matches(path) {
			return false
		}
		if rt.droppings.Matches(path) {
			return true
		}
		for _, i := range rt.wanted {
			if !r.consumers[i].ignores.Matches(path) {
				f(i)
			}
		}
		return true
	})
}

// below returns the roots at or below path.
func (r *registry) below(path string) []*root {
	var out []*root
	for p, rt := range r.roots {
		if model.IsChild(path, p) {
			out = append(out, rt)
		}
	}
	slices.SortFunc(out, func(a, b *root) int { return strings.Compare(a.path, b.path) })
	return out
}
