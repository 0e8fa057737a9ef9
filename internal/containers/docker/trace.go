package docker

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	control "github.com/moby/buildkit/api/services/control"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/words"
)

// tracePrinter renders BuildKit's progress: one line per step, its output indented below it, and the transfer of layers
// and contexts as progress lines. It is used by one goroutine.
type tracePrinter struct {
	log      logstore.Logger
	vertices map[string]*vertex
	// current is the step whose output was printed last. Output of another step is preceded by its name.
	current *vertex
	first   *vertex // the first that failed
	// context is the duration of the build context's transfer; zero before its end.
	context time.Duration
	// counted are the Dockerfile's steps; step, if set, receives their numbers when these change.
	counted stepCount
	step    func(begun, all int)
}

// loadsContext is BuildKit's name for the step that transfers the build context.
const loadsContext = "[internal] load build context"

// importsCache begins BuildKit's name for a step that reads a cache. Where there is none, the build goes on.
const importsCache = "importing cache manifest from "

// vertex is a step of a build.
type vertex struct {
	Step
	digest  string
	started bool
	done    bool
	// cached is set once the step's result was found in a cache, from where it may have to be fetched.
	cached bool
	// partial is output after the last line break. Tail has the last lines before it.
	partial []byte
}

// tailLines is the number of lines of a failing step's output that its problem repeats.
const tailLines = 30

func newTracePrinter(log logstore.Logger) *tracePrinter {
	return &tracePrinter{log: log, vertices: map[string]*vertex{}}
}

// status prints a report of BuildKit's.
func (p *tracePrinter) status(s *control.StatusResponse) {
	for _, v := range s.Vertexes {
		p.vertex(v)
	}
	for _, st := range s.Statuses {
		p.transfer(st)
	}
	for _, l := range s.Logs {
		p.output(p.vertices[l.Vertex], l.Msg)
	}
	for _, w := range s.Warnings {
		logstore.Infof(p.log, "note: %s", w.Short)
	}
	for _, v := range s.Vertexes {
		if v.Completed != nil {
			p.complete(v)
		}
	}
	if begun, all, changed := p.counted.take(s.Vertexes); changed && begun > 0 && p.step != nil { // before the first one, the list may not be complete
		p.step(begun, all)
	}
}

// internal reports whether the step is an internal one of BuildKit.
func (v *vertex) internal() bool {
	return strings.HasPrefix(v.Name, "[internal]") || strings.HasPrefix(v.Name, "[auth]") ||
		!strings.HasPrefix(v.Name, "[")
}

func (p *tracePrinter) vertex(v *control.Vertex) {
	known := p.vertices[v.Digest]
	if known == nil {
		known = &vertex{digest: v.Digest}
		p.vertices[v.Digest] = known
	}
	known.Name, known.cached = words.OneLine(v.Name), known.cached || v.Cached
	if v.Started == nil || known.started {
		return
	}
	known.started = true
	if v.Cached || known.internal() {
		return
	}
	p.log.Progress(known.digest, known.Name, false)
	p.current = known
}

func (p *tracePrinter) complete(v *control.Vertex) {
	known := p.vertices[v.Digest]
	if known.done {
		return
	}
	known.done = true
	p.flush(known)
	if known.Name == loadsContext && v.Started != nil {
		p.context += max(v.Completed.AsTime().Sub(v.Started.AsTime()), 0)
	}
	if v.Error != "" {
		known.Err = v.Error
		p.fail(known)
	}
	if known.internal() {
		return
	}
	outcome := ""
	switch {
	case v.Error != "":
		outcome = " [failed]"
	case known.cached:
		outcome = " [cached]"
	case v.Started != nil:
		outcome = " [done]"
		if took := v.Completed.AsTime().Sub(v.Started.AsTime()).Round(time.Millisecond); took > 0 {
			outcome = fmt.Sprintf(" [done: %s]", took)
		}
	}
	p.log.Progress(known.digest, known.Name+outcome, true)
}

// fail notes the first step that failed. A cache that cannot be read fails no build.
func (p *tracePrinter) fail(known *vertex) {
	if strings.Contains(known.Err, "context canceled") {
		return
	}
	if place, isCache := strings.CutPrefix(known.Name, importsCache); isCache {
		if kind, _, numbered := strings.Cut(place, ":"); numbered && !strings.Contains(place, "/") {
			place = "cache_from type=" + kind // it has a number instead of a name
		}
		logstore.Infof(p.log, "The cache in %s is not used: %s", place, words.OneLine(known.Err))
		return
	}
	if p.first == nil {
		p.first = known
	}
}

// smallTransfer is the size in bytes up to which a transfer is not shown.
const smallTransfer = 1_000_000

// transfer shows the progress of layers that are pulled and contexts that are sent.
func (p *tracePrinter) transfer(st *control.VertexStatus) {
	v := p.vertices[st.Vertex]
	if v == nil || st.Current < smallTransfer && st.Total < smallTransfer {
		return
	}
	name := st.Name
	if name == "" {
		name = st.ID
	}
	text := fmt.Sprintf("  %s %s", name, words.Size(st.Current))
	if st.Total > 0 {
		text += " / " + words.Size(st.Total)
	}
	p.log.Progress(v.digest+" "+st.ID, text, st.Completed != nil)
}

// output prints the whole lines of a step's output and keeps the rest.
func (p *tracePrinter) output(v *vertex, msg []byte) {
	if v == nil {
		return
	}
	v.partial = append(v.partial, msg...)
	if end := bytes.LastIndexByte(v.partial, '\n'); end >= 0 {
		p.lines(v, string(v.partial[:end]))
		v.partial = v.partial[end+1:]
	}
}

func (p *tracePrinter) flush(v *vertex) {
	if len(v.partial) > 0 {
		p.lines(v, string(v.partial))
		v.partial = nil
	}
}

func (p *tracePrinter) lines(v *vertex, text string) {
	if p.current != v && !v.internal() {
		p.log.Write(logstore.LevelInfo, v.Name+"\n")
		p.current = v
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		p.log.Write(logstore.LevelInfo, "  "+line+"\n")
		if len(v.Tail) == tailLines {
			v.Tail = append(v.Tail[:0], v.Tail[1:]...)
		}
		v.Tail = append(v.Tail, line)
	}
}

// finish prints output that lacks a final line break.
func (p *tracePrinter) finish() {
	for _, v := range p.vertices {
		p.flush(v)
	}
}

// failed returns the step that failed the build, or nil.
func (p *tracePrinter) failed() *Step {
	if p.first == nil {
		return nil
	}
	return &p.first.Step
}
