// Package profile measures where the time of an evaluation goes, by builtin and call site.
package profile

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Profile shows where the time of an evaluation went. It is collected if tiltfile.Options.Profile is set.
type Profile struct {
	// Total is the whole evaluation, Compile the compilation of Starlark source, Assembly the work after the program's
	// end. The rest of Total, without the own times of the builtins, is the program itself.
	Total, Compile, Assembly time.Duration
	// Builtins holds every builtin that was called, in order of decreasing own time.
	Builtins []BuiltinProfile
}

// Program is the time that the program's own statements took.
func (p *Profile) Program() time.Duration {
	rest := p.Total - p.Compile - p.Assembly
	for _, b := range p.Builtins {
		rest -= b.Own
	}
	return max(rest, 0)
}

// CallTimes sums up calls.
type CallTimes struct {
	// Calls counts the calls; Remembered counts those whose work an earlier evaluation or an earlier call had done.
	Calls, Remembered int
	// Total is the time in the calls; Own is Total without the time in other builtins that they called, as include
	// does, and without the compilation of files that they loaded.
	Total, Own time.Duration
	// Slowest is the own time of the slowest call.
	Slowest time.Duration
}

// BuiltinProfile is the time of one builtin.
type BuiltinProfile struct {
	// Name is the name in the Tiltfile: "k8s_yaml", "os.getenv"; "load" for the statement.
	Name string
	CallTimes
	// Sites holds the call sites in order of decreasing own time, at most ten.
	Sites []SiteProfile
}

// SiteProfile is the time of the calls at one place.
type SiteProfile struct {
	// File is an absolute path, Line counts from 1.
	File string
	Line int
	CallTimes
}

// mostSites is the most call sites that a profile shows of one builtin.
const mostSites = 10

// Profiler measures the calls of one evaluation. A nil profiler measures nothing.
type Profiler struct {
	started           time.Time
	compile, assembly time.Duration
	calls             map[callSite]*CallTimes
	// open are the calls that have not returned, innermost last.
	open []openCall
	// found and made count the answers of the memo.
	found, made int
}

// callSite is a builtin at a place.
type callSite struct {
	name, file string
	line       int
}

// openCall is a call that has not returned.
type openCall struct {
	start time.Time
	// inner is the time in the calls that it made, and in compiling.
	inner       time.Duration
	found, made int
}

// NewProfiler returns a profiler that starts now, or nil where no profile is wanted.
func NewProfiler(wanted bool) *Profiler {
	if !wanted {
		return nil
	}
	return &Profiler{started: time.Now(), calls: map[callSite]*CallTimes{}}
}

// Enter begins a call.
func (p *Profiler) Enter() {
	if p != nil {
		p.open = append(p.open, openCall{start: time.Now(), found: p.found, made: p.made})
	}
}

// Leave ends the innermost call. at returns its place.
func (p *Profiler) Leave(name string, at func() (file string, line int)) {
	if p == nil {
		return
	}
	last := len(p.open) - 1
	c := p.open[last]
	p.open = p.open[:last]
	total := time.Since(c.start)
	if last > 0 {
		p.open[last-1].inner += total
	}
	key := callSite{name: name}
	key.file, key.line = at()
	t := p.calls[key]
	if t == nil {
		t = &CallTimes{}
		p.calls[key] = t
	}
	t.add(CallTimes{Calls: 1, Total: total, Own: total - c.inner, Slowest: total - c.inner})
	if p.found > c.found && p.made == c.made {
		t.Remembered++
	}
}

// Answered records whether the memo knew an answer.
func (p *Profiler) Answered(known bool) {
	switch {
	case p == nil:
	case known:
		p.found++
	default:
		p.made++
	}
}

// Compiling adds the time until the returned function is called to Profile.Compile. It does not count for the call that loads the file.
func (p *Profiler) Compiling() (done func()) {
	if p == nil {
		return func() {}
	}
	start := time.Now()
	return func() {
		took := time.Since(start)
		p.compile += took
		if last := len(p.open) - 1; last >= 0 {
			p.open[last].inner += took
		}
	}
}

// Assembling adds the time until the returned function is called to Profile.Assembly.
func (p *Profiler) Assembling() (done func()) {
	if p == nil {
		return func() {}
	}
	start := time.Now()
	return func() { p.assembly += time.Since(start) }
}

func (t *CallTimes) add(o CallTimes) {
	t.Calls += o.Calls
	t.Remembered += o.Remembered
	t.Total += o.Total
	t.Own += o.Own
	t.Slowest = max(t.Slowest, o.Slowest)
}

// Result returns the profile.
func (p *Profiler) Result() *Profile {
	if p == nil {
		return nil
	}
	byName := map[string]*BuiltinProfile{}
	for key, t := range p.calls {
		b := byName[key.name]
		if b == nil {
			b = &BuiltinProfile{Name: key.name}
			byName[key.name] = b
		}
		b.add(*t)
		b.Sites = append(b.Sites, SiteProfile{File: key.file, Line: key.line, CallTimes: *t})
	}
	out := &Profile{Total: time.Since(p.started), Compile: p.compile, Assembly: p.assembly}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		b := byName[name]
		slices.SortFunc(b.Sites, func(x, y SiteProfile) int {
			return cmp.Or(cmp.Compare(y.Own, x.Own), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
		})
		b.Sites = b.Sites[:min(len(b.Sites), mostSites)]
		out.Builtins = append(out.Builtins, *b)
	}
	slices.SortStableFunc(out.Builtins, func(x, y BuiltinProfile) int { return cmp.Compare(y.Own, x.Own) })
	return out
}
