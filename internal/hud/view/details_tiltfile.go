package view

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// tiltfileDetails are the details of (Tiltfile), which has tabs of its own.
func (b *builder) tiltfileDetails() Details {
	r := b.tiltfileRow()
	p := page{now: b.now}
	p.field("update", r.Update)
	p.field("file", plain(b.tiltfile.Path)).Target.File = b.tiltfile.Path
	p.field("resources", plain(number(len(b.tiltfile.Result.Manifests))))
	return Details{Name: model.TiltfileName, Head: p.lines, Tabs: []Tab{b.evaluationsTab(), b.filesTab(), b.warningsTab(), b.argumentsTab()}}
}

// evaluationsTab lists the evaluations with their causes, durations and errors.
func (b *builder) evaluationsTab() Tab {
	p := page{now: b.now}
	list, _ := b.waiters(model.TiltfileName)
	if len(list) > 0 {
		p.add(2, Span{words.Count(len(list), "resource") + " " + wait(len(list)) + " for it: " + names(list[:min(len(list), 6)]) + more(len(list)-6), Warn})
		p.add(0)
	}
	for _, e := range b.tiltfile.Evaluations {
		when, tone, result, took := clock(e.FinishedAt, b.now), Good, "ok", Duration(e.FinishedAt.Sub(e.StartedAt))
		switch {
		case e.FinishedAt.IsZero():
			when, tone, result, took = "now", Accent, "runs", Elapsed(b.now.Sub(e.StartedAt))
		case e.Err != "":
			tone, result = Bad, "failed"
		}
		line := p.add(updateIndent, Span{text.PadRight(fmt.Sprintf("#%d", e.Serial), 5), Dim}, Span{" " + text.PadRight(when, 9), Dim},
			Span{text.PadRight(result, 10), tone}, Span{text.PadLeft(took, 9), Plain})
		line.Target.Span = e.Span
		if len(e.Files) > 0 {
			line.Cell = append(line.Cell, Span{"  " + fileList(e.Files), Plain})
		} else {
			line.Cell = append(line.Cell, Span{"  " + strings.ToLower(e.Reason), Dim})
		}
		if e.Err == "" && e.Resources > 0 {
			line.Cell = append(line.Cell, Span{"  " + words.Count(e.Resources, "resource"), Dim})
		}
		if e.Warnings > 0 {
			line.Cell = append(line.Cell, Span{"  " + words.Count(e.Warnings, "warning"), Warn})
		}
		files := b.fileLines(e.Files, 0)
		if e.Err == "" {
			line.Folded = files
		} else {
			why := p.add(updateIndent+2, Span{strings.Repeat(" ", updateIndent) + firstLine(e.Err), Bad})
			why.Target = b.placeIn(e.Err)
			why.Target.Span = e.Span
			if lines := foreign(e.Err, 0, Plain); len(lines) > 0 {
				why.Folded = lines[1:]
			}
			why.Folded = append(why.Folded, changed(files)...)
		}
	}
	return Tab{Kind: TabEvaluations, Title: "evaluations", Lines: p.lines, Empty: "it has not been evaluated yet"}
}

func wait(n int) string {
	if n == 1 {
		return "waits"
	}
	return "wait"
}

// filesTab lists the files whose change evaluates the Tiltfile again.
func (b *builder) filesTab() Tab {
	p := page{now: b.now}
	for _, f := range b.tiltfile.ConfigFiles {
		p.add(2, Span{b.relative(f), Plain}).Target.File = f
	}
	return Tab{Kind: TabFiles, Title: "files", Lines: p.lines, Empty: "no files are known yet"}
}

// warningsTab lists the warnings of the last evaluation, each with the place in a Tiltfile that it names.
func (b *builder) warningsTab() Tab {
	p := page{now: b.now}
	for _, w := range b.tiltfile.Warnings {
		lines := foreign(w, 0, Warn)
		if len(lines) == 0 {
			continue
		}
		line := p.add(2, lines[0].Cell...)
		line.Target, line.Folded = b.placeIn(w), lines[1:]
	}
	return Tab{Kind: TabWarnings, Title: "warnings", Lines: p.lines, Empty: "the last evaluation gave no warnings"}
}

// argumentsTab shows the arguments of the Tiltfile, and the resources that they enable.
func (b *builder) argumentsTab() Tab {
	p := page{now: b.now}
	args := "none"
	if len(b.session.Args) > 0 {
		args = model.Cmd{Argv: b.session.Args}.String()
	}
	p.field("arguments", plain(args))
	if chosen := state.EnabledNames(b.tiltfile.Result); chosen != nil {
		var on []model.ManifestName
		for _, m := range b.tiltfile.Result.Manifests {
			if chosen[m.Name] {
				on = append(on, m.Name)
			}
		}
		p.field("enable", plain(names(on)))
	} else if b.tiltfile.Good {
		p.field("enable", plain("all resources"))
	}
	for e := range state.Disabled(b.v) {
		p.field("disabled", plain(e.ID)).Target.Resource = model.ManifestName(e.ID)
	}
	return Tab{Kind: TabArguments, Title: "arguments", Lines: p.lines}
}

// placeIn returns the first place in one of the Tiltfile's files that a message names, as "path:line".
func (b *builder) placeIn(message string) Target {
	files := slices.Clone(b.tiltfile.ConfigFiles)
	slices.SortFunc(files, func(x, y string) int { return len(y) - len(x) }) // the longest name that matches
	best := Target{}
	at := len(message)
	for _, f := range files {
		for _, name := range []string{f, b.relative(f)} {
			before, after, found := strings.Cut(message, name+":")
			if !found || len(before) >= at || endsInPath.MatchString(before) {
				continue
			}
			if line, err := strconv.Atoi(firstNumber.FindString(after)); err == nil && line > 0 {
				best, at = Target{File: f, Line: line}, len(before)
			}
		}
	}
	return best
}

// endsInPath matches a text before a file's name that belongs to a longer path, and firstNumber the number of a line behind it.
var (
	endsInPath  = regexp.MustCompile(`[\w./-]$`)
	firstNumber = regexp.MustCompile(`^\d{1,7}`)
)
