package screen

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// run is one run of a container, as its span names it: "pod:namespace/pod/container:run".
type run struct {
	span string
	// container is the span without the run, and its parts.
	container             string
	namespace, pod, named string
}

// runOf takes the name of a span apart; ok is false if it does not name a container's run.
func runOf(span string) (r run, ok bool) {
	rest, ok := strings.CutPrefix(span, "pod:")
	if !ok {
		return run{}, false
	}
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) != 3 {
		return run{}, false
	}
	named, id, ok := strings.Cut(parts[2], ":")
	return run{span: span, container: strings.TrimSuffix(span, id), namespace: parts[0], pod: parts[1], named: named}, ok
}

// run returns the run that the log shows: of the line with the cursor, or of the first one that is shown.
func (p *logPane) run() (name model.ManifestName, r run, ok bool) {
	it := p.item()
	if p.cursor == 0 && !p.follow && len(p.rows) > 0 {
		it = &p.rows[0].item.Item
	}
	if it == nil {
		return "", run{}, false
	}
	r, ok = runOf(it.Lines[0].Span)
	return it.Lines[0].Resource, r, ok
}

// jumpRun shows where the previous or the next run of a container begins. If the cursor is on a line of a container, it is that
// container. A previous run that the session has not seen is asked of the cluster.
func (u *ui) jumpRun(back bool) {
	p := u.log
	p.read()
	name, of, ok := p.run()
	if ok && back {
		u.previousRun(name, of)
		return
	}
	names := p.subject.names
	if ok {
		names = []model.ManifestName{name}
	} else if names == nil {
		names = p.resources
	}
	var runs []logstore.SpanInfo
	for _, name := range names {
		for _, span := range p.logs.Spans(name) {
			if r, is := runOf(span.Name); is && (!ok || r.container == of.container) {
				runs = append(runs, span)
			}
		}
	}
	if !p.jump(runs, back) {
		u.say(map[bool]string{true: "no earlier run of a container in this log", false: "no later run of the container in this log"}[back])
	}
}

// previousRun shows the run of the same container before one: from the log, or, if the session has not seen it, from the cluster.
func (u *ui) previousRun(name model.ManifestName, of run) {
	var before logstore.SpanInfo
	began := uint64(math.MaxUint64)
	spans := u.options.Logs.Spans(name)
	for _, s := range spans {
		if s.Name == of.span {
			began = s.First
		}
	}
	for _, s := range spans {
		if s.First >= began || s.First <= before.First {
			continue
		}
		if r, ok := runOf(s.Name); ok && r.container == of.container {
			before = s
		}
	}
	if before.Name != "" {
		u.showSpan(name, before.Name)
		return
	}
	if u.options.Previous == nil {
		u.say(fmt.Sprintf("the log has no earlier run of %s in %s", of.named, of.pod))
		return
	}
	u.say("asking the cluster for the previous run…")
	u.job(func(ctx context.Context) func() {
		lines, err := u.options.Previous(ctx, model.ContainerRef{Resource: name, Namespace: of.namespace, Pod: of.pod, Name: of.named})
		return func() {
			switch {
			case ctx.Err() != nil:
			case err != nil:
				u.tell(err)
			case len(lines) == 0:
				u.say(fmt.Sprintf("the previous run of %s in %s has written nothing", of.named, of.pod))
			default:
				u.message = ""
				u.showRun(of, lines)
			}
		}
	})
}

// showRun shows the lines of a run that is not in the log, from their end.
func (u *ui) showRun(of run, lines []string) {
	cells := make([]view.Cell, len(lines))
	for i, l := range lines {
		cells[i] = view.Cell{{Text: text.Clean(l)}}
	}
	r := newReader(u, fmt.Sprintf("previous run of %s in %s, %s", of.named, of.pod, countOf(len(lines))), func(int) []view.Cell { return cells })
	r.offset = math.MaxInt32 // its end says why it ended
	u.push(r)
}
