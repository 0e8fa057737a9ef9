package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// updateIndent is the indentation of the lines that belong to an update.
const updateIndent = 6

// namedFiles is the number of files that the line of an update names.
const namedFiles = 3

func (b *builder) updatesTab(m model.Manifest, u state.Update) Tab {
	t := Tab{Kind: TabUpdates, Title: "updates", Empty: "it has not been updated yet"}
	if u.Off {
		t.Empty = "it is disabled"
	}
	p := page{now: b.now}
	b.waiting(&p, m, u)
	all := u.Builds
	if u.Current != nil {
		all = append([]state.Build{*u.Current}, all...)
	}
	if len(all) > 0 && len(p.lines) > 0 {
		p.add(0)
	}
	newest := true
	for _, build := range all {
		b.update(&p, build, u)
		p.containers(build, newest)
		newest = newest && len(build.Containers) == 0
	}
	if len(u.Past) > 0 {
		p.add(0)
		p.add(2, Span{"in earlier sessions", Dim})
	}
	for _, build := range u.Past {
		b.update(&p, build, state.Update{})
	}
	t.Lines = p.lines
	return t
}

// waiting adds the reason why the resource waits, and the resources that wait for it.
func (b *builder) waiting(p *page, m model.Manifest, u state.Update) {
	if hold, held := b.plan.Holds[m.Name]; held && hold.Reason != buildcontrol.HoldBuilding {
		line := p.add(2, Span{hold.String(), Warn}, Span{b.heldSince(m, u), Dim})
		if len(hold.On) > 0 {
			line.Target.Resource = hold.On[0]
		}
		if files := state.Relative(b.tiltfile.Path, state.AllChanges(u.Pending())); len(files) > 0 {
			line.Cell = append(line.Cell, Span{"  " + fileList(files), Plain})
			line.Folded = b.fileLines(files, 2)
		}
	}
	if u.InPlaceBroken != "" && m.HasLiveUpdate() && !u.AppliedAt.IsZero() {
		p.add(2, Span{"the next update deploys again: " + firstLine(u.InPlaceBroken), Warn})
	}
	list, holds := b.waiters(m.Name)
	for i, other := range list {
		p.add(2, Span{string(other), Plain}, Span{" " + holds[i].String(), Warn}).Target.Resource = other
	}
}

// heldSince describes how long a resource has wanted the update that is held.
func (b *builder) heldSince(m model.Manifest, u state.Update) string {
	since := u.PendingSince()
	if since.IsZero() {
		since = firstTime(u.Triggered, u.Declared, u.Broken, u.Retry)
	}
	if e := state.Resources.In(b.v).Ref(string(m.Name)); since.IsZero() && e != nil && u.AttemptedAt.IsZero() {
		since = e.Created
	}
	if since.IsZero() {
		return ""
	}
	return "  for " + Elapsed(b.now.Sub(since))
}

// firstTime returns the earliest of the times that are set.
func firstTime(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if first.IsZero() || !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	return first
}

// update adds the lines of one update: number, time, mode or result, duration, stages, files, then the reasons.
func (b *builder) update(p *page, build state.Build, u state.Update) {
	when, tone, result := clock(build.FinishedAt, b.now), Plain, cmp.Or(Mode(build.Mode), "ok")
	running := build.FinishedAt.IsZero()
	switch {
	case running:
		verb, _ := doing(build)
		when, tone, result = "now", Accent, verb
		if done := fraction(build.Progress); done != "" {
			result += " " + done
		}
	case build.Cancelled:
		tone, result = Dim, "cancelled"
	case build.Err != "":
		tone, result = Bad, "failed"
	}
	line := p.add(updateIndent, Span{text.PadRight(fmt.Sprintf("#%d", build.Serial), 5), Dim}, Span{" " + text.PadRight(when, 9), Dim},
		Span{text.PadRight(result, 10), tone}, Span{text.PadLeft(p.took(build), 9), Plain})
	line.Target.Span = build.Span
	if len(build.Files) > 0 {
		line.Cell = append(line.Cell, Span{"  " + fileList(build.Files), Plain})
	} else {
		line.Cell = append(line.Cell, Span{"  " + build.Because(), Dim})
	}
	if w := waterfall(build, b.now); w != "" {
		line.Cell = append(line.Cell, Span{"  " + w, Dim})
	}
	if build.Warnings > 0 {
		line.Cell = append(line.Cell, Span{"  " + words.Count(build.Warnings, "warning"), Warn})
	}
	files := b.fileLines(build.Files, 0)
	if build.Err == "" {
		line.Folded = files
	}
	b.because(p, build, u)
	p.failure(build, files)
	p.cases(build.Verdict)
}

// because adds the reasons of an update that its first line does not have.
func (b *builder) because(p *page, build state.Build, u state.Update) {
	if build.FellBack != "" {
		p.add(updateIndent+2, Span{strings.Repeat(" ", updateIndent) + "fell back: " + firstLine(build.FellBack), Warn})
	}
	if others := build.Reason &^ state.ReasonFiles; len(build.Files) > 0 && others != 0 {
		p.add(updateIndent+2, Span{strings.Repeat(" ", updateIndent) + "because: " + build.Because(), Dim})
	}
	newest := len(u.Builds) > 0 && build.Serial == u.Builds[0].Serial
	if newest && build.Err != "" && !u.RetryAt.IsZero() {
		p.add(updateIndent+2, Span{strings.Repeat(" ", updateIndent) + "is tried again in " + Elapsed(u.RetryAt.Sub(b.now)), Warn})
	}
}

// failure adds why a build failed: the failing command's own message, the mend, and folded its output and the changed files. An
// update has only one line to unfold: for a failed one, that is the line with the error.
func (p *page) failure(build state.Build, files []Line) {
	if build.Err == "" {
		return
	}
	what := strings.Repeat(" ", updateIndent)
	problem := build.Problem
	if problem == nil {
		lines := foreign(build.Err, updateIndent, Bad)
		line := p.add(updateIndent+2, lines[0].Cell...)
		line.Target.Span, line.Folded = build.Span, slices.Concat(foreign(build.Err, 0, Plain)[1:], output(build), changed(files))
		return
	}
	summary := firstLine(problem.Summary)
	if cause := firstLine(problem.Cause); cause != "" && !strings.Contains(summary, cause) {
		summary += ": " + cause
	}
	line := p.add(updateIndent+2, Span{what + summary, Bad})
	line.Target.Span = build.Span
	if line.Folded = foreign(problem.Detail, 0, Plain); len(line.Folded) == 0 {
		line.Folded = output(build)
	}
	line.Folded = append(line.Folded, changed(files)...)
	for i, l := range foreign(problem.Mend, 0, Plain) {
		label := what + "mend: "
		if i > 0 {
			label = what + "      "
		}
		p.add(updateIndent+6, Span{label, Dim}, l.Cell[0])
	}
	if problem.Link != "" {
		line := p.add(updateIndent+6, Span{what + "more: ", Dim}, Span{problem.Link, Accent})
		if strings.Contains(problem.Link, "://") {
			line.Target.URL = problem.Link
		}
	}
}

// changed labels lines about files, which follow the output of a failed command, as changed files.
func changed(files []Line) []Line {
	for i, l := range files {
		files[i].Cell, files[i].Indent = append(Cell{{"changed: ", Dim}}, l.Cell...), l.Indent+len("changed: ")
	}
	return files
}

// output returns the last lines of a failed build's log.
func output(b state.Build) (lines []Line) {
	for _, l := range b.Output {
		lines = append(lines, Line{Cell: plain(text.Clean(l))})
	}
	return lines
}

// fileList names the first few files.
func fileList(files []string) string {
	return strings.Join(files[:min(len(files), namedFiles)], ", ") + more(len(files)-namedFiles)
}

// waterfall formats the duration of each step of a build that is not in place: "▏context 0.1 ▏build 7.2 ▏push 0.3 ▏apply 0.1
// ▏ready 2.1 s", in seconds, or in milliseconds if all of it took less than one. A build of several images names them. The step
// that failed is marked. The running step has its time so far, in whole seconds: "▏build 7.2 ▏push 3 s…".
func waterfall(b state.Build, now time.Time) string {
	steps := slices.Clone(b.Steps)
	running := b.FinishedAt.IsZero() && !b.StepAt.IsZero()
	if running {
		steps = append(steps, model.BuildStep{Kind: b.Progress.Kind, What: b.Progress.Image})
	}
	images := map[string]bool{}
	var total time.Duration
	for _, s := range steps {
		images[s.What] = images[s.What] || s.What != ""
		total += s.Took
	}
	delete(images, "")
	list := make([]model.Stage, 0, len(steps)+1)
	for i, s := range steps {
		name := string(s.Kind)
		if len(images) > 1 && s.What != "" {
			name += " " + s.What
		}
		if b.Err != "" && i == len(steps)-1 {
			name += " failed after"
		}
		list = append(list, model.Stage{Name: name, Took: s.Took})
	}
	if !b.ReadyAt.IsZero() && !b.FinishedAt.IsZero() && len(steps) > 0 {
		ready := max(b.ReadyAt.Sub(b.FinishedAt), 0)
		list, total = append(list, model.Stage{Name: "ready", Took: ready}), total+ready
	}
	if running { // its time grows with the build's, which is in whole seconds
		last := &list[len(list)-1]
		last.Took = max(now.Sub(b.StepAt), 0).Truncate(time.Second)
		return joinStages(list, time.Second, true)
	}
	if total >= time.Second {
		return joinStages(list, time.Second, false)
	}
	return joinStages(list, time.Millisecond, false)
}

// joinStages formats the stages of a waterfall in one unit, which the last one names. Stages that are zero in this unit are left
// out, except the running one.
func joinStages(list []model.Stage, unit time.Duration, running bool) string {
	var parts []string
	for i, s := range list {
		n := float64(s.Took) / float64(unit)
		number := fmt.Sprintf("%.1f", n)
		runs := running && i == len(list)-1
		if n >= 100 || runs { // tenths would be noise
			number = fmt.Sprintf("%.0f", n)
		}
		if number != "0.0" || runs {
			parts = append(parts, "▏"+s.Name+" "+number)
		}
	}
	if n := len(parts) - 1; n >= 0 {
		parts[n] += map[time.Duration]string{time.Second: " s", time.Millisecond: " ms"}[unit]
		if running {
			parts[n] += "…"
		}
	}
	for i, s := range parts {
		parts[i] = strings.ReplaceAll(s, " ", "\u00a0") // the blanks do not break, so that a stage stays in one row
	}
	return strings.Join(parts, " ")
}

func (p *page) took(b state.Build) string {
	if b.FinishedAt.IsZero() {
		return Elapsed(b.Duration(p.now))
	}
	return Duration(took(b))
}
