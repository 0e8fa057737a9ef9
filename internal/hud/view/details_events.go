package view

import (
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// eventsTab lists Kubernetes' events about the objects and pods of a resource, newest first.
func (b *builder) eventsTab(m model.Manifest) Tab {
	t := Tab{Kind: TabEvents, Title: "events", Empty: "Kubernetes has reported nothing about its objects; it forgets events after an hour"}
	switch {
	case m.IsLocal():
		t.Empty = "a local resource has no events of Kubernetes; the process's own messages are in the log"
		return t
	case m.IsCompose():
		t.Empty = "a Compose service has no events of Kubernetes; its containers' messages are in the log"
		return t
	case state.Updates.In(b.v).Value(string(m.Name)).AppliedAt.IsZero():
		t.Empty = "nothing has been applied yet"
	}
	p := page{now: b.now}
	for _, e := range summed(state.ClusterEvents.In(b.v).Value(string(m.Name)).List) {
		p.event(e)
	}
	t.Lines = p.lines
	return t
}

// summed returns the events, with equal messages about the same object as one: Kubernetes reports each answer of a probe, and
// each try after a restart of a node's kubelet, as an event of its own.
func summed(list []state.KubeEvent) []state.KubeEvent {
	type topic struct {
		uid, container, reason, message string
	}
	at := map[topic]int{}
	var out []state.KubeEvent
	for _, e := range list {
		about := topic{e.ObjectUID, e.Container, e.Reason, e.Message}
		i, known := at[about]
		if !known {
			at[about] = len(out)
			out = append(out, e)
			continue
		}
		out[i].Count += e.Count
		out[i].FirstSeen = firstTime(out[i].FirstSeen, e.FirstSeen)
	}
	return out
}

// eventIndent is the column where the message of an event begins.
const eventIndent = 38

func (p *page) event(e state.KubeEvent) {
	kind, tone := "normal", Plain
	if e.Warning {
		kind, tone = "warning", Warn
	}
	line := p.add(eventIndent, Span{text.PadRight(Age(e.LastSeen, p.now), 6), Dim}, Span{text.PadRight(kind, 9), tone},
		Span{text.PadRight(e.Reason, 22) + " ", tone}, Span{text.Clean(strings.Join(strings.Fields(e.Message), " ")), toneUnless(e.Warning)})
	if e.Count > 1 {
		line.Cell = append(line.Cell, Span{fmt.Sprintf("  ×%d in %s", e.Count, Elapsed(e.LastSeen.Sub(e.FirstSeen))), Warn})
	}
	about := strings.ToLower(e.Object.Kind) + " " + e.Object.Name
	if e.Container != "" {
		about += ", container " + e.Container
	}
	line.Cell = append(line.Cell, Span{"  " + about, Dim})
	line.Folded = foreign(e.Message, 0, Plain)
	if e.Source != "" {
		line.Folded = append(line.Folded, Line{Cell: Cell{{"reported by " + e.Source, Dim}}})
	}
}

func toneUnless(warning bool) Tone {
	if warning {
		return Plain
	}
	return Dim
}
