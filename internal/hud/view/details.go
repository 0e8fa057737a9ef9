package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// shownBuilds is how many past updates the details list.
const shownBuilds = 12

// DetailsOf returns the lines of the screen about one resource, or about (Tiltfile), without line breaks: errors, addresses,
// pods and containers, last updates. It returns nil if the resource does not exist.
func DetailsOf(v store.View, name model.ManifestName, now time.Time) []Cell {
	b := newBuilder(v, now)
	if name == model.TiltfileName {
		return b.tiltfileDetails()
	}
	e, ok := state.Resources.In(v).Get(string(name))
	if !ok {
		return nil
	}
	u := state.Updates.In(v).Value(string(name))
	r := b.resourceRow(e, u)
	if !e.Value.Enabled {
		r = b.disabledRow(e.Value.Manifest)
	}
	p := page{now: now}
	p.field("update", r.Update)
	p.field("runtime", r.Runtime)
	p.field("trigger", plain(e.Value.Manifest.TriggerMode.String()))
	if deps := e.Value.Manifest.ResourceDeps; len(deps) > 0 {
		p.field("depends on", plain(join(deps)))
	}
	p.errors(r)
	p.endpoints(r)
	if m := e.Value.Manifest; m.IsCompose() {
		p.composed(m, b.pods[name], u)
	} else {
		p.pods(b.pods[name], u)
	}
	p.builds(u)
	return p.lines
}

func (b *builder) tiltfileDetails() []Cell {
	r := b.tiltfileRow()
	p := page{now: b.now}
	p.field("update", r.Update)
	p.field("file", plain(b.tiltfile.Path))
	p.field("resources", plain(number(len(b.tiltfile.Result.Manifests))))
	p.errors(r)
	if len(b.tiltfile.Warnings) > 0 {
		p.title("WARNINGS")
		for _, w := range b.tiltfile.Warnings {
			p.text(w, Warn)
		}
	}
	p.title("FILES")
	for _, f := range state.Relative(b.tiltfile.Path, b.tiltfile.ConfigFiles) {
		p.text(f, Plain)
	}
	return p.lines
}

// page collects lines.
type page struct {
	now   time.Time
	lines []Cell
}

func (p *page) add(spans ...Span) { p.lines = append(p.lines, spans) }

func (p *page) title(s string) {
	p.add()
	p.add(Span{s, Strong})
}

func (p *page) field(name string, value Cell) {
	p.lines = append(p.lines, append(Cell{{text.PadRight(name, 12), Dim}}, value...))
}

// text adds lines of foreign text.
func (p *page) text(s string, tone Tone) {
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		p.add(Span{"  " + text.Clean(strings.TrimRight(line, "\n")), tone})
	}
}

func (p *page) errors(r Row) {
	if r.UpdateErr != "" {
		p.title("UPDATE FAILED")
		p.text(r.UpdateErr, Bad)
	}
	if r.RuntimeErr != "" {
		p.title("RUNTIME FAILED")
		p.text(r.RuntimeErr, Bad)
	}
	for _, port := range r.Ports {
		if port.Err != "" && port.State == PortFailed {
			p.title(fmt.Sprintf("PORT %d", port.Number))
			p.text(port.Err, Bad)
		}
	}
}

func (p *page) endpoints(r Row) {
	if len(r.Endpoints) == 0 {
		return
	}
	p.title("ENDPOINTS")
	for _, e := range r.Endpoints {
		p.add(Span{"  " + e.URL, Accent}, Span{"  " + e.Name, Dim})
	}
}

func (p *page) pods(pods []state.Pod, u state.Update) {
	if len(pods) == 0 {
		return
	}
	p.title("PODS")
	for _, pod := range pods {
		long, _ := inWords(pod.Status)
		tone := Plain
		switch {
		case pod.Deleting:
			long, tone = "being deleted", Dim
		case !pod.Current:
			long, tone = long+", of an older deploy", Dim
		case pod.Ready:
			long, tone = "ready", Good
		}
		p.add(Span{"  " + pod.Name, Plain}, Span{"  " + long, tone}, Span{"  " + Age(pod.CreatedAt, p.now), Dim})
		if pod.Message != "" {
			p.add(Span{"    " + text.Clean(pod.Message), Dim})
		}
		for _, c := range pod.AllContainers() {
			p.container(c)
			if b := u.Containers[c.ID].Behind; b != nil {
				p.add(Span{"      " + behindText(*b, p.now), Warn})
			}
		}
	}
}

// composed adds the containers of a Compose service, which have no pods around them.
func (p *page) composed(m model.Manifest, containers []state.Pod, u state.Update) {
	if len(containers) == 0 {
		return
	}
	p.title("CONTAINERS")
	for _, pod := range containers {
		for _, c := range pod.Containers {
			c.Name = pod.Name
			if c.State == model.ContainerRunning && pod.Health != "" {
				c.Reason = pod.Health
			}
			p.container(c)
			if b := u.Containers[c.ID].Behind; b != nil {
				p.add(Span{"      " + behindText(*b, p.now), Warn})
			}
		}
		for _, port := range state.Published(m, []state.Pod{pod}) {
			p.add(Span{fmt.Sprintf("      port %d → %d/%s", port.Published, port.Target, port.Protocol), Dim})
		}
	}
}

func (p *page) container(c model.Container) {
	name := c.Name
	if c.Init {
		name += " (init)"
	}
	tone := Plain
	switch {
	case model.PodErrorReasons[c.Reason] && c.State != model.ContainerRunning, c.State == model.ContainerTerminated && c.ExitCode != 0:
		tone = Bad
	case c.State == model.ContainerRunning && c.Ready:
		tone = Good
	}
	what := cmp.Or(string(c.State), "unknown")
	if c.Reason != "" {
		what += ", " + c.Reason
	}
	if c.State == model.ContainerTerminated {
		what += fmt.Sprintf(", exit %d", c.ExitCode)
	}
	line := Cell{{"    " + text.PadRight(name, 16), Plain}, {"  " + what, tone}}
	if c.Restarts > 0 {
		line = append(line, Span{"  " + words.Count(c.Restarts, "restart"), Warn})
	}
	if c.LastReason != "" {
		line = append(line, Span{fmt.Sprintf("  last run: %s, exit %d", c.LastReason, c.LastExitCode), Dim})
	}
	p.lines = append(p.lines, line)
	if c.Message != "" {
		p.add(Span{"      " + firstLine(c.Message), Dim})
	}
}

func (p *page) builds(u state.Update) {
	all := u.Builds
	if u.Current != nil {
		all = append([]state.Build{*u.Current}, all...)
	}
	if len(all) == 0 {
		return
	}
	p.title("UPDATES")
	newest := true
	for _, b := range all[:min(len(all), shownBuilds)] {
		p.build(b)
		p.containers(b, newest)
		newest = newest && len(b.Containers) == 0
	}
}

func (p *page) build(b state.Build) {
	when, tone, result := Age(b.FinishedAt, p.now), Plain, cmp.Or(Mode(b.Mode), "ok")
	switch {
	case b.FinishedAt.IsZero():
		when, tone, result = "now", Accent, cmp.Or(b.Stage, "updating")
	case b.Cancelled:
		tone, result = Dim, "cancelled"
	case b.Err != "":
		tone, result = Bad, "failed"
	}
	line := Cell{{fmt.Sprintf("  #%-4d %-6s ", b.Serial, when), Dim}, {text.PadRight(result, 10), tone},
		{"  " + text.PadLeft(p.took(b), 8), Plain}, {"  " + b.Reason.String(), Dim}}
	if len(b.Files) > 0 {
		line = append(line, Span{": " + strings.Join(b.Files[:min(len(b.Files), 4)], ", ") + more(len(b.Files)-4), Plain})
	}
	if b.Warnings > 0 {
		line = append(line, Span{"  " + words.Count(b.Warnings, "warning"), Warn})
	}
	p.lines = append(p.lines, line)
	if b.Err != "" {
		p.add(Span{"        " + firstLine(b.Err), Bad})
	}
	if b.FellBack != "" {
		p.add(Span{"        fell back: " + firstLine(b.FellBack), Warn})
	}
}

func (p *page) took(b state.Build) string {
	if b.FinishedAt.IsZero() {
		return Duration(b.Duration(p.now))
	}
	return Duration(took(b))
}

func join(names []model.ManifestName) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}
