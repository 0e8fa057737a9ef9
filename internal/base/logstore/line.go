package logstore

import (
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// Source is the origin of a line within a resource.
type Source string

// The sources. Any other value is stored as SourceGlobal.
const (
	// SourceGlobal is for lines that belong to no resource, or to no other source.
	SourceGlobal Source = ""
	// SourceBuild is the output of updates: image builds, deployments, live updates, local update commands.
	SourceBuild Source = "build"
	// SourceRuntime is the output of the resource itself: containers and serve commands.
	SourceRuntime Source = "runtime"
)

// sources and levels are the sizes of count tables; sourceAt and sourceIndex convert between sources and indexes.
const (
	sources = 3
	levels  = 4
)

var sourceAt = [sources]Source{SourceGlobal, SourceBuild, SourceRuntime}

func sourceIndex(s Source) uint8 {
	switch s {
	case SourceBuild:
		return 1
	case SourceRuntime:
		return 2
	case SourceGlobal:
	}
	return 0
}

// Line is one stored line.
type Line struct {
	// Seq is the line's number: it rises over all resources together, without being dense for any one of them.
	Seq      uint64
	Time     time.Time
	Resource model.ManifestName
	// Span names the work that wrote the line: a build, a container's run.
	Span   string
	Source Source
	Level  Level
	// Continues is set for a line that belongs to an entry that an earlier line of its stream has begun, as a rule the line
	// before it: a line of a stack trace, of an indented message. Where other entries stand in between, because both outputs of
	// a program are one stream, the entry is the newest one of the same level.
	Continues bool
	// Prefix names the container, or the pod, in brackets and with a space at its end, if the resource's lines come from
	// several; else it is empty.
	Prefix string
	// Pod and Container are the origin of the line; both are empty for lines that no container wrote. A container of
	// Compose has no pod.
	Pod, Container string
	// Text has no line break and is valid UTF-8. It may contain escape sequences and tabs.
	Text string
	// ProgressID is not empty for a line that replaces the previous one with the same id and span.
	ProgressID string
	// ProgressDone marks the last line of a progress.
	ProgressDone bool
}

// Entry is text to store with an explicit time and level.
type Entry struct {
	// Time is the time of writing; zero means now.
	Time     time.Time
	Resource model.ManifestName
	Span     string
	Source   Source
	Level    Level
	// Continues is stored with the first line of Text, and set for the others.
	Continues      bool
	Prefix         string
	Pod, Container string
	// Text is a whole line, or several with line breaks between them; a line break at its end adds nothing.
	Text         string
	ProgressID   string
	ProgressDone bool
}

// Filter selects lines. The zero value selects all.
type Filter struct {
	// Resources are the resources to read; nil means all resources, and lines that belong to none.
	Resources []model.ManifestName
	// Sources are the sources to read; nil means all.
	Sources []Source
	// MinLevel omits lines of a lower level.
	MinLevel Level
	// Span restricts to one span; empty means all.
	Span string
	// Since omits earlier lines; zero omits none.
	Since time.Time
	// Match, if not nil, is the last to decide about a line. It must not keep or change its text, and is called from several goroutines
	// if the filter is used by several.
	Match func(line LineRef) bool
}

// mask has, for each source, the bits of the levels that a filter lets through.
type mask [sources]uint8

func (f Filter) mask() mask {
	bits := uint8(0)
	for l := max(f.MinLevel, LevelDebug); l < levels; l++ {
		bits |= 1 << l
	}
	var m mask
	for i, s := range sourceAt {
		if f.Sources == nil {
			m[i] = bits
			continue
		}
		for _, want := range f.Sources {
			if want == s {
				m[i] = bits
			}
		}
	}
	return m
}

func (m mask) has(source uint8, level Level) bool { return m[source]&(1<<level) != 0 }

// narrow reports whether the filter checks more than resource, source and level.
func (f Filter) narrow() bool {
	return f.Span != "" || !f.Since.IsZero() || f.Match != nil
}

// counts are numbers of lines by source and level.
type counts [sources][levels]uint64

func (c *counts) add(o counts) {
	for s := range c {
		for l := range c[s] {
			c[s][l] += o[s][l]
		}
	}
}

func (c *counts) sub(o counts) {
	for s := range c {
		for l := range c[s] {
			c[s][l] -= o[s][l]
		}
	}
}

// of returns the number of lines that m lets through.
func (c *counts) of(m mask) uint64 {
	var n uint64
	for s := range c {
		for l := range c[s] {
			if m[s]&(1<<l) != 0 {
				n += c[s][l]
			}
		}
	}
	return n
}
