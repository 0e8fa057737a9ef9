package view

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// barWidth is the width of a progress bar in columns.
const barWidth = 8

// building describes a running build: stage, progress, elapsed time, files.
func (b *builder) building(build state.Build) Cell {
	verb, at, of, rest := stage(build)
	cell := Cell{{verb, Accent}}
	if of > 0 {
		done := min(barWidth, barWidth*at/of)
		cell = append(cell, Span{fmt.Sprintf(" %d/%d ", at, of), Accent},
			Span{strings.Repeat("▓", done), Accent}, Span{strings.Repeat("░", barWidth-done), Dim})
	}
	cell = append(cell, Span{"  " + Elapsed(build.Duration(b.now)), Plain})
	if files := Files(build.Files); files != "" {
		rest = files
	}
	if rest != "" {
		cell = append(cell, Span{"  " + rest, Dim})
	}
	return cell
}

// stage splits the stage of a build, "2/3 Pushing shop/api", into a verb, a progress and the rest.
func stage(build state.Build) (verb string, at, of int, rest string) {
	if inPlace(build.Mode) {
		return "updating in place", 0, 0, ""
	}
	words := build.Stage
	if first, tail, ok := strings.Cut(words, " "); ok {
		if a, o, isProgress := strings.Cut(first, "/"); isProgress {
			n, err := strconv.Atoi(a)
			m, err2 := strconv.Atoi(o)
			if err == nil && err2 == nil && m > 0 {
				at, of, words = n, m, tail
			}
		}
	}
	verb, rest, _ = strings.Cut(words, " ")
	if verb == "" {
		verb = "updating"
	}
	return strings.ToLower(verb), at, of, rest
}

// held describes why a resource waits.
func (b *builder) held(h buildcontrol.Hold, u state.Update) Cell {
	cell := Cell{{h.String(), Warn}}
	if h.Reason == buildcontrol.HoldManual {
		if files := Files(state.Relative(b.tiltfile.Path, state.AllChanges(u.Pending()))); files != "" {
			cell = append(cell, Span{"  " + files, Dim})
		}
	}
	return cell
}

// past describes the result of the last update.
func (b *builder) past(m model.Manifest, u state.Update) Cell {
	last, ok := u.Last()
	switch {
	case u.TakenDown != "":
		return Cell{{"deleted by " + u.TakenDown + ", waits for a trigger", Dim}}
	case !ok && !m.AutoInit:
		return Cell{{"not started, waits for a trigger", Dim}}
	case !ok:
		return Cell{{"not started", Dim}}
	case last.Err != "":
		return Cell{{firstLine(last.Err), Bad}}
	}
	cell := Cell{{outcome(m, u, last), Plain}}
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

// outcome returns mode and duration of a successful build: "in place 2.1 ms", "ok  image 3.9 s", "3 objects applied  0.4 s".
func outcome(m model.Manifest, u state.Update, b state.Build) string {
	took := Duration(took(b))
	switch {
	case inPlace(b.Mode):
		return "in place " + took
	case m.IsLocal() && m.Local.Update.Empty() && !m.Local.Serve.Empty():
		return "ok  serve_cmd"
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
