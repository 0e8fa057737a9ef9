package view

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// rows returns all rows in the order of the screen.
func (b *builder) rows() []Row {
	rows := append([]Row{b.tiltfileRow()}, b.resourceRows()...)
	return Arrange(append(rows, b.disabledRows()...), ByGroup)
}

// resourceRows returns the rows of the session's resources, in the order of the Tiltfile.
func (b *builder) resourceRows() []Row {
	entries := state.InOrder(b.v)
	updates := state.Updates.In(b.v)
	rows := make([]Row, 0, len(entries))
	for _, e := range entries {
		rows = append(rows, b.resourceRow(e, updates.Value(e.ID)))
	}
	return rows
}

func (b *builder) resourceRow(e store.Entry[state.Resource], u state.Update) Row {
	m := e.Value.Manifest
	pods := b.pods[m.Name]
	runtime := buildcontrol.Runtime(b.v, m, u, pods)
	r := Row{Name: m.Name, Group: group(m), Ports: b.ports(m, pods), Endpoints: b.endpoints(m)}
	if last, ok := u.Last(); ok {
		r.Changed = last.FinishedAt
		if u.TakenDown == "" {
			r.UpdateErr = last.Err
		}
	}
	known := buildcontrol.Known(b.v, m, runtime)
	if known.Status == buildcontrol.RuntimeError {
		r.RuntimeErr = cmp.Or(runtime.Err, runtime.Text, "failed")
	}
	r.PortErr = portErr(r.Ports)
	r.Pod, r.Pods, r.Restarts = standing(pods)
	loop, looping := b.relapse(pods, runtime)
	if looping {
		b.relapses[m.Name] = loop
	}
	r.Runtime, r.RuntimeShort = b.runtimeCells(m, u, pods, runtime)
	unknown := known.Status == buildcontrol.RuntimeUnknown && runtime.Status != buildcontrol.RuntimeUnknown
	if since, away := buildcontrol.Away(b.v, m); unknown && away {
		r.Runtime, r.RuntimeShort = Cell{{buildcontrol.Unknown(since, r.Runtime.String()), Warn}}, Cell{{"unknown", Warn}}
	}
	hold, held := b.plan.Holds[m.Name]
	var lag string
	r.Behind, lag = b.lag(m, u, pods)
	if u.Current == nil {
		r.Drift = driftBadge(state.Drifts.In(b.v).Value(e.ID))
	}
	r.Status = b.status(e, u, runtime, held, unknown, r)
	if looping && (r.Status == Well || r.Status == Waiting && !held) {
		r.Status = Warning
	}
	switch {
	case e.Phase == store.TearingDown && slices.Contains(b.session.Confirmation.Leaving, m.Name):
		r.Update = Cell{{intent.LeavingText, Warn}}
	case e.Phase == store.TearingDown:
		r.Update = Cell{{leaving(e.Value), Dim}}
	case u.Current != nil:
		r.Update, r.Changed = b.building(*u.Current), b.now
	case held && hold.Reason != buildcontrol.HoldBuilding:
		r.Update = b.held(hold, u)
	case b.starting[m.Name]:
		r.Update = Cell{{"starting", Accent}}
	default:
		r.Update = b.past(m, u)
	}
	if r.Drift != "" {
		r.Update = append(Cell{{r.Drift + "  ", Warn}}, r.Update...)
	}
	if r.Behind > 0 {
		r.Update = append(Cell{{lag + "  ", Warn}}, r.Update...)
	}
	r.Age = Age(r.Changed, b.now)
	return r
}

// standing returns the pod to name of the newest deploy's pods, else of any, how many there are, and their restarts.
func standing(pods []state.Pod) (name string, n, restarts int) {
	failing := false
	for _, p := range pods {
		if !p.Current || p.Deleting {
			continue
		}
		_, fails := state.PodFailure(p.Pod)
		if name == "" || fails && !failing {
			name, failing = p.Name, fails
		}
		n++
		restarts += p.Restarts()
	}
	if n == 0 && len(pods) > 0 {
		name = pods[0].Name
	}
	return name, n, restarts
}

// leaving describes what happens to a resource that is being torn down.
func leaving(r state.Resource) string {
	switch {
	case r.Next == nil:
		return "is being removed"
	case r.Next.Enabled:
		return "is being removed, to start over"
	}
	return "is being disabled"
}

func (b *builder) status(e store.Entry[state.Resource], u state.Update, runtime buildcontrol.RuntimeState, held, unknown bool, r Row) Status {
	last, built := u.Last()
	switch {
	case u.Current != nil:
		return Updating
	case e.Phase == store.TearingDown:
		return Waiting
	case r.Err() != "":
		return Failed
	case unknown && built && u.TakenDown == "":
		return Unknown
	case held:
		return Waiting
	case b.starting[r.Name]:
		return Updating
	case !built, u.TakenDown != "":
		return Idle
	case runtime.Status == buildcontrol.RuntimePending, runtime.Status == buildcontrol.RuntimeUnknown:
		return Waiting
	case last.Warnings > 0, r.Behind > 0, r.Drift != "":
		return Warning
	}
	return Well
}

func group(m model.Manifest) string {
	if len(m.Labels) == 0 {
		return ""
	}
	return m.Labels[0]
}

// disabledRows returns the rows of the disabled resources.
func (b *builder) disabledRows() []Row {
	off := slices.SortedStableFunc(state.Disabled(b.v), func(x, y *store.Entry[state.Resource]) int { return x.Value.Order - y.Value.Order })
	rows := make([]Row, len(off))
	for i, e := range off {
		rows[i] = b.disabledRow(e.Value.Manifest)
	}
	return rows
}

func (b *builder) disabledRow(m model.Manifest) Row {
	return Row{Name: m.Name, Group: group(m), Update: Cell{{"disabled", Dim}}, Runtime: none, RuntimeShort: none,
		Age: Age(time.Time{}, b.now)}
}

// tiltfileRow returns the row of the Tiltfile's evaluation.
func (b *builder) tiltfileRow() Row {
	t := b.tiltfile
	r := Row{Name: model.TiltfileName, Runtime: none, RuntimeShort: none,
		Changed: t.FinishedAt, UpdateErr: t.Err}
	took := t.FinishedAt.Sub(t.StartedAt)
	switch {
	case t.Running():
		r.Status, r.Changed = Updating, b.now
		r.Update = Cell{{"evaluating", Accent}, {"  " + Elapsed(b.now.Sub(t.StartedAt)), Plain}}
	case t.Err != "":
		r.Status, r.Update = Failed, Cell{{b.below(firstLine(t.Err)), Bad}}
	case t.Pending():
		r.Status, r.Update = Waiting, Cell{{"is about to be evaluated", Warn}}
	case len(t.Warnings) > 0:
		r.Status = Warning
		r.Update = Cell{{"ok  " + Duration(took), Plain}, {"  " + b.below(firstLine(t.Warnings[0])) + more(len(t.Warnings)-1), Warn}}
	default:
		r.Status, r.Update = Well, plain("ok  "+Duration(took))
	}
	r.Age = Age(r.Changed, b.now)
	return r
}

// below shortens the paths in a text to what follows the folder of the Tiltfile: a column has no room for more.
func (b *builder) below(text string) string {
	root := filepath.Dir(b.tiltfile.Path)
	if len(root) <= 1 {
		return text
	}
	return strings.ReplaceAll(text, root+string(filepath.Separator), "")
}

func (b *builder) ports(m model.Manifest, pods []state.Pod) []Port {
	var out []Port
	_, away := buildcontrol.Away(b.v, m)
	for _, p := range state.Published(m, pods) {
		port := Port{Number: p.Published}
		if slices.ContainsFunc(pods, func(o state.Pod) bool { return o.Current && o.Ready }) {
			port.State = PortReady
		}
		if away {
			port.State = PortUnknown
		}
		out = append(out, port)
	}
	for _, f := range b.forwards[m.Name] {
		p := Port{Number: f.Spec.LocalPort, Err: f.Err}
		switch {
		case away && (f.State == state.ForwardReady || f.Pod != ""):
			p.State = PortUnknown
		case f.State == state.ForwardReady:
			p.State = PortReady
		case b.forwardFails(f, pods):
			p.State = PortFailed
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Port) int { return a.Number - b.Number })
	return out
}

// forwardFails reports whether a forward is broken, and has the screen drawn again when it will be.
func (b *builder) forwardFails(f state.Forward, pods []state.Pod) bool {
	at, ok := f.FailsFrom(pods)
	left := at.Sub(b.now)
	if ok && left > 0 {
		b.changesIn(left)
	}
	return ok && left <= 0
}

// portErr returns the error of the first port that failed.
func portErr(ports []Port) string {
	for _, p := range ports {
		if p.State == PortFailed {
			return "port " + number(p.Number) + ": " + cmp.Or(p.Err, "failed")
		}
	}
	return ""
}

// endpoints returns the addresses of a resource.
func (b *builder) endpoints(m model.Manifest) []Endpoint {
	return state.Endpoints(m, b.forwards[m.Name], b.services[m.Name], b.pods[m.Name])
}
