package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/model"
)

// shownContainers is the number of containers of the newest update that the details list.
const shownContainers = 8

// podWidth is the number of columns of a pod's name that are shown before its stages, so that the line fits into 80 columns.
const podWidth = 10

// took returns the duration of a build. For an update in place, it lasts from the save until the slowest container that has the
// update was done.
func took(b state.Build) time.Duration {
	if c, ok := slowest(b.Containers); ok {
		return c.Stages.Total()
	}
	return b.Duration(b.FinishedAt)
}

// slowest returns the container with the longest update, among the completed updates.
func slowest(list []model.ContainerUpdate) (slow model.ContainerUpdate, ok bool) {
	for _, c := range list {
		if !c.Behind && c.Stages.Total() > slow.Stages.Total() {
			slow, ok = c, true
		}
	}
	return slow, ok
}

// lag gives the number of a resource's containers that are behind, and the time: "2 of 10 containers behind, 3.4 s".
func (b *builder) lag(s *status.Resource) string {
	since := s.Behind[0].Since
	for _, c := range s.Behind {
		if c.Since.Before(since) {
			since = c.Since
		}
	}
	return fmt.Sprintf("%d of %s behind, %s", len(s.Behind), words.Count(s.Of, "container"), Duration(b.now.Sub(since)))
}

// containers adds the result of an update for each container; for an older update, only the slowest container is shown, and
// the others are folded.
func (p *page) containers(b state.Build, newest bool) {
	list := b.Containers
	if len(list) == 0 {
		return
	}
	margin := strings.Repeat(" ", updateIndent)
	slow, done := slowest(list)
	if !newest {
		head := fmt.Sprintf("%sin %s", margin, words.Count(len(list), "container"))
		if done {
			head = fmt.Sprintf("%sby %s ×%d %s", margin, slow.Mode, len(list), stages(slow))
		}
		line := p.add(updateIndent+2, Span{head, Dim})
		if len(list) == 1 && done && list[0].Err == "" { // its line says nothing more
			return
		}
		for _, c := range list {
			line.Folded = append(line.Folded, p.inContainer(c, b, ""))
		}
		return
	}
	if done {
		p.add(updateIndent+2, Span{fmt.Sprintf("%sby %s in %s, %s", margin, slow.Mode, words.Count(len(list), "container"), slow.What()), Dim})
	}
	for _, c := range list[:min(len(list), shownContainers)] {
		p.lines = append(p.lines, p.inContainer(c, b, margin))
	}
	if n := len(list) - shownContainers; n > 0 {
		rest := p.add(updateIndent+2, Span{fmt.Sprintf("%sand %s", margin, words.Count(n, "container")), Dim})
		for _, c := range list[shownContainers:] {
			rest.Folded = append(rest.Folded, p.inContainer(c, b, ""))
		}
	}
}

// inContainer returns the line about the update of one container.
func (p *page) inContainer(c model.ContainerUpdate, b state.Build, margin string) Line {
	line := Line{Indent: len(margin) + podWidth + 2}
	name := Span{margin + text.PadRight(text.CutMiddle(c.Pod, podWidth), podWidth) + "  ", Plain}
	switch {
	case c.Behind:
		line.Cell = Cell{name, {"behind, " + Duration(p.now.Sub(b.StartedAt)), Warn}}
	case c.Err != "":
		line.Cell = Cell{name, {firstLine(c.Err), Bad}}
		line.Target.Span = b.Span
	default:
		line.Cell = Cell{name, {text.PadLeft(Duration(c.Stages.Total()), 7) + " " + stages(c), Plain}}
	}
	return line
}

// longInPlace is the time from which an update in place is shown in seconds: below it, most of its stages take milliseconds.
const longInPlace = 10 * time.Second

// stages formats the duration of each stage, in one unit: "▏noticed 0.3 ▏sent 0.4 ▏ran 1200 ▏restarted 0.9 ms".
func stages(c model.ContainerUpdate) string {
	unit := time.Millisecond
	if c.Stages.Total() >= longInPlace {
		unit = time.Second
	}
	return joinStages(c.Stages.All(), unit, false)
}

// behindText describes the files that a container does not have yet.
func behindText(b state.Sending, now time.Time) string {
	line := "behind, " + Duration(now.Sub(b.Since))
	if files := Files(b.Files); files != "" {
		line += ": " + files
	}
	return line
}
