package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
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
		r.Status, r.Update = Failed, Cell{{firstLine(t.Err), Bad}}
	case t.Pending():
		r.Status, r.Update = Waiting, Cell{{"is about to be evaluated", Warn}}
	case len(t.Warnings) > 0:
		r.Status = Warning
		r.Update = Cell{{"ok  " + Duration(took), Plain}, {"  " + firstLine(t.Warnings[0]) + more(len(t.Warnings)-1), Warn}}
	default:
		r.Status, r.Update = Well, plain("ok  "+Duration(took))
	}
	r.Age = Age(r.Changed, b.now)
	return r
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
		case f.State == state.ForwardFailed:
			if b.forwardFails(f, pods) {
				p.State = PortFailed
			}
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Port) int { return a.Number - b.Number })
	return out
}

// forwardPatience is how long a pod may refuse the connections of a forward before the port counts as failed: an app that
// restarts is back by then.
const forwardPatience = time.Second

// forwardFails reports whether a forward whose last connection failed is broken. It only waits while its pod is not ready
// yet. A port that could not be opened has no pod, and is broken at once.
func (b *builder) forwardFails(f state.Forward, pods []state.Pod) bool {
	if f.Pod == "" {
		return true
	}
	ready := slices.ContainsFunc(pods, func(p state.Pod) bool {
		return p.Ready && !p.Deleting && strings.HasPrefix(f.Pod, p.Namespace+"/"+p.Name+":")
	})
	left := forwardPatience - b.now.Sub(f.Since)
	if ready && left > 0 {
		b.changesIn(left)
	}
	return ready && left <= 0
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

// endpoints returns the addresses of a resource: its forwards in the order of the Tiltfile, its Services, its links.
func (b *builder) endpoints(m model.Manifest) []Endpoint {
	var out []Endpoint
	add := func(url, name string) {
		if url != "" && !slices.ContainsFunc(out, func(e Endpoint) bool { return e.URL == url }) {
			out = append(out, Endpoint{url, name})
		}
	}
	forwards := slices.Clone(b.forwards[m.Name])
	if m.K8s != nil {
		place := func(f state.Forward) int { return slices.Index(m.K8s.PortForwards, f.Spec) }
		slices.SortStableFunc(forwards, func(a, b state.Forward) int { return place(a) - place(b) })
	}
	for _, f := range forwards {
		add(f.URL, f.Spec.Name)
	}
	for _, s := range b.services[m.Name] {
		add(s.URL, s.Name)
	}
	for _, links := range linksOf(m) {
		for _, l := range links {
			add(l.URL, l.Name)
		}
	}
	for _, p := range state.Published(m, b.pods[m.Name]) {
		add(p.URL(), p.Name)
	}
	return out
}

func linksOf(m model.Manifest) [][]model.Link {
	out := [][]model.Link{m.Links}
	if m.K8s != nil {
		out = append(out, m.K8s.Links)
	}
	if m.Local != nil {
		out = append(out, m.Local.Links)
	}
	return out
}
