package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/buildcontrol"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/pkg/model"
)

// shownContainers is how many containers of the newest update the details list.
const shownContainers = 8

// took is how long a build took: for an update in place, from the save until the slowest of the containers that have it was
// done.
func took(b state.Build) time.Duration {
	if c, ok := slowest(b.Containers); ok {
		return c.Stages.Total()
	}
	return b.Duration(b.FinishedAt)
}

// slowest returns the container whose update took longest, of those that are done.
func slowest(list []model.ContainerUpdate) (slow model.ContainerUpdate, ok bool) {
	for _, c := range list {
		if !c.Behind && c.Stages.Total() > slow.Stages.Total() {
			slow, ok = c, true
		}
	}
	return slow, ok
}

// lag says which part of a resource's containers is behind, and for how long: "2 of 10 containers behind, 3.4 s". It is
// empty when none is.
func (b *builder) lag(m model.Manifest, u state.Update, pods []state.Pod) (n int, line string) {
	behind, of := buildcontrol.Behind(m, u, pods)
	if len(behind) == 0 {
		return 0, ""
	}
	since := behind[0].Since
	for _, c := range behind {
		if c.Since.Before(since) {
			since = c.Since
		}
	}
	return len(behind), fmt.Sprintf("%d of %s behind, %s", len(behind), plural(of, "container"), Duration(b.now.Sub(since)))
}

// containers adds what an update did in each container; of an older one only the slowest is shown.
func (p *page) containers(b state.Build, newest bool) {
	list := b.Containers
	if !newest {
		if slow, ok := slowest(list); ok {
			p.add(Span{"        ", Plain}, Span{plural(len(list), "container") + "  ", Dim}, Span{stages(slow), Dim})
		}
		return
	}
	width := 0
	for _, c := range list[:min(len(list), shownContainers)] {
		width = max(width, text.Width(c.Pod))
	}
	for _, c := range list[:min(len(list), shownContainers)] {
		name := Span{"        " + text.PadRight(c.Pod, width) + "  ", Plain}
		switch {
		case c.Behind:
			p.add(name, Span{"behind, " + Duration(p.now.Sub(b.StartedAt)), Warn})
		case c.Err != "":
			p.add(name, Span{firstLine(c.Err), Bad})
		default:
			p.add(name, Span{stages(c), Plain}, Span{"  " + c.What(), Dim})
		}
	}
	if n := len(list) - shownContainers; n > 0 {
		p.add(Span{fmt.Sprintf("        and %s", plural(n, "container")), Dim})
	}
}

// stages draws the way and how long each stage took: "synclet 2.1 ms ▏noticed 0.3 ▏sent 0.4 ▏applied 1.4".
func stages(c model.ContainerUpdate) string {
	total := c.Stages.Total()
	parts := []string{c.Mode + " " + Duration(total)}
	for _, s := range c.Stages.All() {
		number, _, _ := strings.Cut(Duration(s.Took), " ")
		switch {
		case number == "0.0":
			continue
		case s.Took >= 100*time.Millisecond:
			number = Duration(s.Took) // the unit is another one than that of what is usual
		}
		parts = append(parts, "▏"+s.Name+" "+number)
	}
	return strings.Join(parts, " ")
}

// behindText says of a container what it does not have yet.
func behindText(b state.Behind, now time.Time) string {
	line := "behind, " + Duration(now.Sub(b.Since))
	if files := Files(b.Files); files != "" {
		line += ": " + files
	}
	return line
}
