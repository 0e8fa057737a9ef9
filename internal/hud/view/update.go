package view

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/model"
)

// barWidth is the width of a progress bar in columns.
const barWidth = 8

// building describes a running build: its step and progress, the elapsed time, and the thing that it waits for or its files.
func (b *builder) building(build state.Build) Cell {
	verb, rest := doing(build)
	cell := Cell{{verb, Accent}}
	far := build.Progress
	if done := fraction(far); done != "" {
		cell = append(cell, Span{" " + done, Accent})
	}
	if far.Steps > 0 {
		done := min(barWidth, barWidth*far.Step/far.Steps)
		cell = append(cell, Span{" " + strings.Repeat("▓", done), Accent}, Span{strings.Repeat("░", barWidth-done), Dim})
	}
	if far.Images > 1 {
		cell = append(cell, Span{fmt.Sprintf("  image %d of %d", far.Nth, far.Images), Plain})
	}
	cell = append(cell, Span{"  " + Elapsed(build.Duration(b.now)), Plain})
	if files := Files(build.Files); files != "" {
		rest = files
	}
	switch {
	case far.Waits != "":
		cell = append(cell, Span{"  " + far.Waits, Warn})
	case rest != "":
		cell = append(cell, Span{"  " + rest, Dim})
	}
	return cell
}

// fraction returns the progress of the step of a build: the steps of the Dockerfile, "4/7", or the pushed part, "45 %"; empty if
// it is unknown.
func fraction(far model.BuildProgress) string {
	switch {
	case far.Steps > 0:
		return fmt.Sprintf("%d/%d", far.Step, far.Steps)
	case far.Percent > 0:
		return fmt.Sprintf("%d %%", far.Percent)
	}
	return ""
}

// doing returns the activity of a running build, as a verb with its object.
func doing(build state.Build) (verb, what string) {
	if inPlace(build.Mode) {
		return "updating in place", ""
	}
	switch build.Progress.Kind {
	case model.StepContext, model.StepBuild:
		return "building", build.Progress.Image
	case model.StepPush:
		return "pushing", build.Progress.Image
	case model.StepApply:
		return "deploying", ""
	case model.StepStart:
		return "starting", ""
	case model.StepRun: // the words contain the command
	}
	verb, what, _ = strings.Cut(build.Stage, " ")
	return cmp.Or(strings.ToLower(verb), "updating"), what
}

// saying describes a resource whose present state matters more than the result of its last update.
func (b *builder) saying(s *status.Resource) Cell {
	switch {
	case s.Starting:
		return Cell{{s.Text, Accent}}
	case s.Hold == nil || s.Hold.Reason == buildcontrol.HoldTeardown:
		return Cell{{s.Text, Dim}}
	}
	cell := Cell{{s.Text, Warn}}
	if files := Files(state.Relative(b.tiltfile.Path, state.AllChanges(s.Updates.Pending()))); files != "" && s.Hold.Reason.Asks() {
		cell = append(cell, Span{"  " + files, Dim})
	}
	return cell
}

// past describes the result of the last update.
func (b *builder) past(s *status.Resource) Cell {
	last := s.Last
	if last == nil {
		return none
	}
	if failed := failedCases(last.Verdict); failed != "" && last.Err != "" {
		return Cell{{failed, Bad}}
	}
	if last.Err != "" {
		return Cell{{b.below(firstLine(why(*last))), Bad}}
	}
	cell := Cell{{outcome(*s.Manifest, *s.Updates, *last), Plain}}
	if files := Files(last.Files); files != "" {
		cell = append(cell, Span{"  " + files, Dim})
	}
	if last.Warnings > 0 {
		cell = append(cell, Span{"  " + words.Count(last.Warnings, "warning"), Warn})
	}
	if last.FellBack != "" {
		cell = append(cell, Span{"  fell back: " + firstLine(last.FellBack), Warn})
	}
	return cell
}

// why returns why a build failed. If hone knows a mend, it is only the summary: a column has no room for the chain of the error
// and the answer of the API server.
func why(b state.Build) string {
	if b.Problem != nil && b.Problem.Mend != "" {
		return cmp.Or(b.Problem.Summary, b.Err)
	}
	return b.Err
}

// outcome returns mode and duration of a successful build: "in place 2.1 ms", "ok  image 3.9 s", "3 objects applied  0.4 s".
func outcome(m model.Manifest, u state.Update, b state.Build) string {
	took := Duration(took(b))
	switch {
	case inPlace(b.Mode):
		return "in place " + took
	case m.IsLocal() && m.Local.Update.Empty() && !m.Local.Serve.Empty():
		return "ok  serve_cmd"
	case b.Verdict != nil:
		return passed(b.Verdict, took)
	case m.IsLocal():
		return "ok  local " + took
	case m.IsCompose() && len(m.Images) == 0:
		return "ok  started  " + took
	case len(m.Images) == 0 && len(u.Applied) == 0:
		return "applied  " + took
	case len(m.Images) == 0:
		return words.Count(len(u.Applied), "object") + " applied  " + took
	case b.Mode != "":
		return "ok  " + b.Mode + " " + took
	}
	return "ok  " + took
}

// inPlace reports whether a mode updates running containers.
func inPlace(mode string) bool { return mode == "synclet" || mode == "container" || mode == "exec" }

// Mode returns a build's mode in words for users.
func Mode(mode string) string {
	if inPlace(mode) {
		return "in place"
	}
	return mode
}

// Files formats a list of files as the first one and the number of the others: "app.tsx +2".
func Files(files []string) string {
	if len(files) == 0 {
		return ""
	}
	return filepath.Base(files[0]) + more(len(files)-1)
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" +%d", n)
}
