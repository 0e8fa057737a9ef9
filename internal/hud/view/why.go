package view

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Why answers why a resource is in its state: the things that it waits for and for how long, down to the resource at the root of
// the wait, or its activity, or its failure. It is empty if the resource does not exist.
func Why(v store.View, name model.ManifestName, now time.Time) []Line {
	b := newBuilder(v, now)
	p := page{now: now}
	b.why(&p, name, 0, map[model.ManifestName]bool{})
	return p.lines
}

// why adds the answer for one resource, then the answers for the resources that it waits for. seen are the resources that have
// been answered for.
func (b *builder) why(p *page, name model.ManifestName, depth int, seen map[model.ManifestName]bool) {
	if name == model.TiltfileName {
		p.add(depth+2, Span{strings.Repeat(" ", depth), Plain}, Span{string(name) + ": ", Strong}, Span{b.tiltfileRow().Update.String(), Plain}).Target.Resource = name
		return
	}
	s, ok := b.of(name)
	if !ok || seen[name] {
		return
	}
	seen[name] = true
	u := s.Updates
	say := func(tone Tone, says string) *Line {
		line := p.add(depth+2, Span{strings.Repeat(" ", depth), Plain}, Span{string(name) + " ", Strong}, Span{says, tone})
		line.Target.Resource = name
		return line
	}
	if !s.Entry.Value.Enabled {
		say(Dim, "is disabled: nothing acts on it")
		return
	}
	switch {
	case u.Current != nil:
		build := *u.Current
		line := say(Accent, fmt.Sprintf("is being updated for %s: %s", Elapsed(build.Duration(b.now)), cmp.Or(build.Activity(), "it has just begun")))
		line.Cell = append(line.Cell, Span{"  " + cmp.Or(fileList(build.Files), build.Because()), Dim})
		line.Target.Span = build.Span
	case s.Hold != nil:
		line := say(Warn, s.Text+b.heldSince(*s.Manifest, *u))
		if files := state.Relative(b.tiltfile.Path, state.AllChanges(u.Pending())); len(files) > 0 {
			line.Cell = append(line.Cell, Span{"  " + fileList(files), Dim})
			line.Folded = b.fileLines(files, 0)
		}
		for _, on := range s.Hold.On {
			b.why(p, on, depth+2, seen)
		}
		return
	case u.TakenDown != "":
		say(Dim, "was deleted by "+u.TakenDown+"; an update applies it again")
	case s.UpdateErr != "":
		line := say(Bad, "failed "+ago(s.Last.FinishedAt, b.now)+": "+firstLine(s.UpdateErr))
		line.Target.Span = s.Last.Span
		if !u.RetryAt.IsZero() {
			line.Cell = append(line.Cell, Span{"  it is tried again in " + Elapsed(u.RetryAt.Sub(b.now)), Warn})
		} else {
			line.Cell = append(line.Cell, Span{"  the next change or a trigger tries again", Dim})
		}
	case s.Starting:
		say(Accent, "is about to be updated")
	}
	b.whyRuntime(say, s)
	for _, d := range state.Drifts.In(b.v).Value(string(name)).Objects {
		differs, noticed := b.driftWords(d)
		say(Warn, differs+": "+text.Clean(strings.ToLower(d.Object.Kind)+"/"+d.Object.Name)+", "+text.Clean(noticed))
		b.driftLines(p, d)
	}
}

// whyRuntime names the faults of the runtime of a resource, or says that there are none.
func (b *builder) whyRuntime(say func(Tone, string) *Line, s *status.Resource) {
	for _, pod := range state.Present(b.pods[s.Manifest.Name].Values()) {
		if why := state.NotReady(pod); why != "" && s.RuntimeErr == "" {
			say(Warn, "is not ready for "+Elapsed(b.now.Sub(pod.CreatedAt))+": "+pod.Name+": "+firstLine(why))
		}
	}
	for _, c := range s.Behind {
		say(Warn, fmt.Sprintf("has a container that is behind (%d of %d): %s/%s, %s", len(s.Behind), s.Of, c.Pod, c.Container, behindText(c, b.now)))
	}
	switch {
	case s.RuntimeErr != "":
		why := firstLine(s.RuntimeErr)
		if cause := b.runtimeCard(s).Cause; len(cause) > 0 {
			why = cause[0]
		}
		text := "does not run: " + why
		if since := s.Reported.FailingSince; !since.IsZero() {
			text = "does not run for " + Elapsed(b.now.Sub(since)) + ": " + why
		}
		line := say(Bad, text)
		line.Target.Span = s.Reported.Span
	case s.PortErr != "":
		say(Bad, firstLine(s.PortErr))
	case s.State.Well():
		say(Good, "waits for nothing: it is up to date since "+clock(s.Last.FinishedAt, b.now))
	case s.State == Idle && s.Updates.TakenDown == "" && !s.Manifest.AutoInit:
		say(Dim, "was never started: auto_init=False leaves that to a trigger")
	}
}

// Ignores are the watcher's rules about files that it leaves out. The wing that has them hands them in; the zero value leaves
// out nothing.
type Ignores struct {
	// Match reports whether patterns leave out a file.
	Match func(patterns model.Ignore, file string) bool
	// Ephemeral are patterns, relative to each watched path, of files that are never a change of the source.
	Ephemeral []string
}

func (i Ignores) match(patterns model.Ignore, file string) bool {
	return i.Match != nil && len(patterns.Patterns) > 0 && i.Match(patterns, file)
}

// WhyFile explains the effect of a change of a file, for one resource or, without a name, for all: the rule that matches it, with
// its target and its consequences, and the containers that have the change, since when, or the reason why nothing happens. The
// file is absolute, or relative to the folder of the Tiltfile.
func WhyFile(v store.View, name model.ManifestName, file string, now time.Time, ignored Ignores) []Line {
	b := newBuilder(v, now)
	p := page{now: now}
	file = filepath.Clean(b.absolute(file))
	for _, f := range b.tiltfile.ConfigFiles {
		if model.IsChild(f, file) && name == "" {
			p.add(2, Span{string(model.TiltfileName) + " ", Strong}, Span{"reads it: a change evaluates the Tiltfile", Plain}).Target.Resource = model.TiltfileName
			break
		}
	}
	for _, ig := range b.tiltfile.Ignores {
		if ignored.match(ig, file) {
			p.add(2, Span{"nothing happens: " + b.source(ig) + " leaves it out of every watch", Warn}).Target = b.ignoreFile(ig)
			return p.lines
		}
	}
	watchers := 0
	for _, e := range state.Ordered(v) {
		m := e.Value.Manifest
		if name != "" && m.Name != name {
			continue
		}
		for _, w := range watchedBy(m) {
			if slices.ContainsFunc(w.watch.Paths, func(p string) bool { return model.IsChild(p, file) }) {
				b.whyTarget(&p, m, w, file, ignored)
				watchers++
			}
		}
	}
	if len(p.lines) == 0 || watchers == 0 && name != "" {
		why := "no resource watches it"
		if name != "" {
			why = string(name) + " does not watch it"
		}
		p.add(2, Span{"nothing happens: ", Warn}, Span{why, Plain}).Target.Resource = name
	}
	return p.lines
}

// ignoreFile is the file that a set of patterns comes from, if there is one.
func (b *builder) ignoreFile(ig model.Ignore) Target {
	if filepath.IsAbs(ig.Source) {
		return Target{File: ig.Source}
	}
	return Target{}
}

// whyTarget adds the effect of a change on one target, for a file that lies below a path that it watches.
func (b *builder) whyTarget(p *page, m model.Manifest, w watched, file string, ignored Ignores) {
	p.add(2, Span{string(m.Name) + " ", Strong}, Span{"watches it for " + w.title, Plain}).Target.Resource = m.Name
	for _, ig := range w.watch.Ignores {
		if ignored.match(ig, file) {
			p.add(4, Span{"  nothing happens: " + b.source(ig) + " leaves it out", Warn}).Target = b.ignoreFile(ig)
			return
		}
	}
	for _, watched := range w.watch.Paths {
		if watched != file && model.IsChild(watched, file) && ignored.match(model.Ignore{Base: watched, Patterns: ignored.Ephemeral}, file) {
			p.add(4, Span{"  nothing happens: it is a temporary file of an editor, or a file of Git", Warn})
			return
		}
	}
	p.lines = append(p.lines, b.rule(w, file)...)
	u := state.Updates.In(b.v).Value(string(m.Name))
	changed, known := u.Changes[w.target].At(file)
	if !known {
		changed, known = u.Noticed[w.target].At(file)
	}
	switch hold, held := b.plan.Holds[m.Name]; {
	case known:
		p.add(4, Span{"  it changed at " + clock(changed, b.now) + ", after " + w.title + " was built", Plain})
		if held && changed.After(u.AttemptedAt) {
			p.add(4, Span{"  it is not applied yet: the resource " + hold.String(), Warn})
		}
	case b.tookIn(p, m, u, w, file):
	default:
		p.add(4, Span{"  no change of it was seen since the session began: " + w.title + " includes it as it was then", Dim})
	}
	b.holders(p, m, u, w, changed, known)
}

// rule describes the step of a live update, or the other rule, that applies to a change of a file.
func (b *builder) rule(w watched, file string) []Line {
	line := func(text string) []Line { return []Line{{Cell: Cell{{"  " + text, Plain}}, Indent: 4}} }
	l := w.live
	for _, stop := range l.StopPaths {
		if model.IsChild(filepath.Clean(stop), file) {
			return line("fall_back_on " + b.relative(stop) + " matches: a change needs a new image")
		}
	}
	if l.Empty() {
		switch w.target.Type {
		case model.TargetImage:
			return line("there is no live_update: a change builds a new image")
		case model.TargetLocal:
			return line("a change runs the command again")
		case model.TargetK8s, model.TargetCompose, model.TargetConfigs, model.TargetFileWatch:
		}
		return line("a change deploys it again")
	}
	i := slices.IndexFunc(l.Syncs, func(s model.Sync) bool { return model.IsChild(filepath.Clean(s.LocalPath), file) })
	if i < 0 {
		return line("no sync() matches: a change needs a new image")
	}
	s := l.Syncs[i]
	rel := strings.TrimPrefix(strings.TrimPrefix(file, filepath.Clean(s.LocalPath)), string(filepath.Separator))
	out := line(fmt.Sprintf("sync(%s, %s) matches: it is copied to %s", b.relative(s.LocalPath), s.RemotePath, path.Join(s.RemotePath, filepath.ToSlash(rel))))
	for _, r := range l.Runs {
		if t := slices.IndexFunc(r.Triggers, func(t string) bool { return model.Triggered(t, file) }); t >= 0 {
			out = append(out, line("then run "+r.Cmd.Quoted()+", whose trigger "+b.relative(r.Triggers[t])+" matches")...)
		} else if len(r.Triggers) == 0 {
			out = append(out, line("then run "+r.Cmd.Quoted()+", as after every change")...)
		}
	}
	switch {
	case l.RestartContainer:
		out = append(out, line("then the container is restarted")...)
	case l.RestartProcess.Due(file):
		out = append(out, line("then the process is restarted")...)
	}
	return out
}

// tookIn adds the newest update that included a file, and reports whether there is one.
func (b *builder) tookIn(p *page, m model.Manifest, u state.Update, w watched, file string) bool {
	for _, build := range u.Builds {
		if slices.ContainsFunc(build.Files, func(f string) bool { return b.absolute(f) == file }) {
			result := cmp.Or(Mode(build.Mode), "ok")
			switch {
			case build.Cancelled:
				result = "cancelled"
			case build.Err != "":
				result = "failed: " + firstLine(build.Err)
			}
			p.add(4, Span{fmt.Sprintf("  the last change of it was in update #%d at %s: %s", build.Serial, clock(build.FinishedAt, b.now), result), Plain}).Target.Span = build.Span
			if build.Err == "" && !build.Cancelled {
				b.took(p, m, u, w, build)
			}
			return true
		}
	}
	return false
}

// took adds the containers that have the files of a successful update: the ones that it updated, or that were started from its
// image.
func (b *builder) took(p *page, m model.Manifest, u state.Update, w watched, build state.Build) {
	add := func(pod, container string, at time.Time) {
		p.add(6, Span{"    " + pod + "/" + container + " ", Plain}, Span{"has it since " + clock(at, b.now), Good})
	}
	if inPlace(build.Mode) {
		for _, c := range build.Containers {
			if c.Err == "" && !c.Behind {
				add(c.Pod, c.Container, build.FinishedAt)
			}
		}
		return
	}
	image := u.Running[w.target.Name].Cluster
	for _, pod := range state.Present(b.pods[m.Name].Values()) {
		for _, c := range pod.AllContainers() {
			if image != "" && c.Image == image && c.State == model.ContainerRunning {
				add(pod.Name, c.Name, c.StartedAt)
			}
		}
	}
}

// holders adds the containers that have the newest change of a file, if it changed after the image was built.
func (b *builder) holders(p *page, m model.Manifest, u state.Update, w watched, changed time.Time, known bool) {
	if !known || w.live.Empty() {
		return
	}
	live := buildcontrol.Live(m, u, b.pods[m.Name].Values())
	for _, c := range live {
		if c.Ref != w.target.Name && w.target.Type == model.TargetImage {
			continue
		}
		is := u.Lanes[c.ID]
		text, tone := "does not have it", Warn
		switch {
		case is.Sending != nil:
			text = "is getting it, for " + Elapsed(b.now.Sub(is.Sending.Since))
		case !is.Has.Before(changed):
			text, tone = "has it since "+clock(is.Has, b.now), Good
		case is.Fault != "":
			text = "does not have it: " + firstLine(is.Fault)
		}
		p.add(6, Span{"    " + c.Pod + "/" + c.Name + " ", Plain}, Span{text, tone})
	}
	if len(live) == 0 {
		p.add(6, Span{"    " + words.Count(0, "container") + " can be updated in place now", Dim})
	}
}
