package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/model"
)

// containerWidth is the number of columns that the names of containers fill, so that their states are aligned.
const containerWidth = 16

// podsTab shows the processes of a resource: pods with their containers, the containers of a Compose service, or the process of a
// local resource; and the ports of this machine that lead there.
func (b *builder) podsTab(s *status.Resource) Tab {
	m, u := *s.Manifest, *s.Updates
	t := Tab{Kind: TabPods, Title: "pods", Empty: "it has no pods"}
	p := page{now: b.now}
	pods := b.pods[m.Name].Values()
	switch {
	case m.IsLocal():
		t.Title, t.Empty = "process", "it has no serve_cmd, so nothing keeps running"
		b.processLines(&p, m)
	case m.IsCompose():
		t.Title, t.Empty = "containers", "it has no containers yet"
		p.composed(m, pods, u)
	default:
		if w, blind := state.Blinding(b.v, m.Name); blind {
			p.add(2, Span{firstLine(w.Problem.Summary), Bad}, Span{"  for " + Elapsed(b.now.Sub(w.Since)), Dim})
			p.lines = append(p.lines, foreign(w.Problem.Mend, 2, Plain)...)
		}
		for _, pod := range pods {
			p.pod(pod, u)
		}
	}
	p.portLines(s)
	t.Lines = p.lines
	return t
}

// pod adds a pod with its containers. Pods of older deploys are dim.
func (p *page) pod(pod state.Pod, u state.Update) {
	long, _ := status.Words(pod.Status)
	tone := Plain
	_, failing := state.PodFailure(pod.Pod)
	switch {
	case pod.Deleting:
		long, tone = "being deleted", Dim
	case !pod.Current:
		long, tone = long+", of an older deploy", Dim
	case pod.Ready:
		long, tone = "ready", Good
	case failing:
		tone = Bad
	}
	old := pod.Deleting || !pod.Current
	line := p.add(2, Span{pod.Name, dimIf(old)}, Span{"  " + long, tone}, Span{"  " + Age(pod.CreatedAt, p.now), Dim})
	for _, s := range []string{pod.NodeName, pod.IP} {
		line.Cell = append(line.Cell, Span{spaced(s), Dim})
	}
	line.Target.Object = model.AppliedObject{ObjectID: model.ObjectID{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}, APIVersion: "v1", UID: pod.UID}
	if why := state.NotReady(pod); why != "" && !old && !failing {
		p.lines = append(p.lines, foreign(why, 4, Warn)...)
	} else if pod.Message != "" {
		p.lines = append(p.lines, foreign(pod.Message, 4, Dim)...)
	}
	for _, c := range pod.AllContainers() {
		p.container(pod, c, old)
		if behind := u.Lanes[c.ID].Sending; behind != nil {
			p.add(6, Span{"      " + behindText(*behind, p.now), Warn})
		}
		if fault := u.Lanes[c.ID].Fault; fault != "" && !old {
			p.add(6, Span{"      the last update in place failed: " + firstLine(fault), Warn})
		}
	}
}

func dimIf(old bool) Tone {
	if old {
		return Dim
	}
	return Plain
}

// composed adds the containers of a Compose service, which have no pods around them.
func (p *page) composed(m model.Manifest, containers []state.Pod, u state.Update) {
	for _, pod := range containers {
		old := pod.Deleting || !pod.Current
		for _, c := range pod.Containers {
			c.Name = pod.Name
			if c.State == model.ContainerRunning && pod.Health != "" {
				c.Reason = pod.Health
			}
			p.container(pod, c, old)
			if b := u.Lanes[c.ID].Sending; b != nil {
				p.add(6, Span{"      " + behindText(*b, p.now), Warn})
			}
		}
		if pod.Message != "" {
			p.lines = append(p.lines, foreign(pod.Message, 6, Dim)...)
		}
		for _, port := range state.Published(m, []state.Pod{pod}) {
			p.add(6, Span{fmt.Sprintf("      port %d → %d/%s", port.Published, port.Target, port.Protocol), Dim}).Target.URL = port.URL()
		}
	}
}

// container adds the lines of one container: state, exit code with its meaning, restarts, the run before, and image.
func (p *page) container(pod state.Pod, c model.Container, old bool) {
	name := c.Name
	switch {
	case c.Sidecar:
		name += " (sidecar)"
	case c.Init:
		name += " (init)"
	}
	tone := dimIf(old)
	done := c.State == model.ContainerTerminated && c.ExitCode == 0
	switch {
	case old:
	case model.PodErrorReasons[c.Reason] && c.State != model.ContainerRunning, c.State == model.ContainerTerminated && c.ExitCode != 0:
		tone = Bad
	case c.State == model.ContainerRunning && c.Ready, done:
		tone = Good
	}
	what := cmp.Or(string(c.State), "unknown")
	if c.State == model.ContainerRunning && !c.Ready && !pod.OfCompose() {
		what += ", not ready"
	}
	if c.Reason != "" {
		what += ", " + c.Reason
	}
	if c.State == model.ContainerTerminated {
		what += ", " + exit(c.ExitCode)
	}
	line := p.add(4+containerWidth+2, Span{"    " + text.PadRight(name, containerWidth), dimIf(old)}, Span{"  " + what, tone})
	line.Target.Span = state.LogSpan(pod.Pod, c.Name, state.RunOf(pod.Pod, c))
	if pod.OfCompose() {
		line.Target.Span = state.LogSpan(pod.Pod, pod.Containers[0].Name, state.RunOf(pod.Pod, c))
	}
	switch at := c.FinishedAt; {
	case c.State == model.ContainerTerminated && !at.IsZero():
		line.Cell = append(line.Cell, Span{"  " + ago(at, p.now), Dim})
	case c.State == model.ContainerRunning && !c.StartedAt.IsZero():
		line.Cell = append(line.Cell, Span{"  " + Age(c.StartedAt, p.now), Dim})
	}
	if c.Restarts > 0 {
		line.Cell = append(line.Cell, Span{"  " + words.Count(c.Restarts, "restart"), warnUnless(old)})
	}
	if c.LastReason != "" {
		last := p.add(8, Span{"      last run: " + c.LastReason + ", " + exit(c.LastExitCode), Dim})
		if c.LastID != "" {
			last.Target.Span = state.LogSpan(pod.Pod, c.Name, c.LastID)
		}
	}
	if c.Image != "" {
		p.add(8, Span{"      image " + c.Image, Dim})
	}
	for _, f := range pod.Unhealthy {
		if f.Container == c.Name && !old {
			p.add(8, Span{fmt.Sprintf("      %s probe failed: %s", f.Kind, text.Clean(f.Answer)), Warn}, Span{"  " + ago(f.At, p.now), Dim})
		}
	}
	if c.Message != "" {
		p.lines = append(p.lines, foreign(c.Message, 6, Dim)...)
	}
}

func warnUnless(old bool) Tone {
	if old {
		return Dim
	}
	return Warn
}

// exits are the exit codes whose meaning does not depend on the program.
var exits = map[int]string{
	125: "the container could not be run",
	126: "the command cannot be executed",
	127: "the command was not found",
	129: "hung up, SIGHUP",
	130: "interrupted, SIGINT",
	131: "quit, SIGQUIT",
	132: "illegal instruction, SIGILL",
	134: "aborted, SIGABRT",
	135: "bus error, SIGBUS",
	136: "arithmetic error, SIGFPE",
	137: "killed, SIGKILL",
	139: "segmentation fault, SIGSEGV",
	141: "broken pipe, SIGPIPE",
	143: "asked to end, SIGTERM",
}

// exit formats an exit code with its meaning, if that does not depend on the program: "exit 137 (killed, SIGKILL)".
func exit(code int) string {
	s := fmt.Sprintf("exit %d", code)
	switch meaning := exits[code]; {
	case meaning != "":
		return s + " (" + meaning + ")"
	case code > 128 && code < 128+65:
		return fmt.Sprintf("%s (signal %d)", s, code-128)
	}
	return s
}

// processLines adds the server of a local resource.
func (b *builder) processLines(p *page, m model.Manifest) {
	if m.Local.Serve.Empty() {
		return
	}
	proc, ok := b.process(m)
	state1, tone := "not started", Dim
	if ok {
		state1, tone = string(proc.State), Plain
		switch {
		case proc.State == state.ProcessFailed:
			state1, tone = "failed, "+exit(proc.ExitCode), Bad
		case proc.Ready:
			state1, tone = state1+", ready", Good
		case proc.State == state.ProcessRunning:
			state1, tone = state1+", not ready", Warn
		}
	}
	line := p.field("process", Cell{{state1, tone}})
	if proc.PID > 0 {
		line.Cell = append(line.Cell, Span{fmt.Sprintf("  pid %d", proc.PID), Plain})
	}
	if !proc.StartedAt.IsZero() {
		line.Cell = append(line.Cell, Span{"  " + Age(proc.StartedAt, b.now), Dim})
	}
	for _, why := range []string{proc.Err, proc.Detail} {
		if why != "" {
			p.lines = append(p.lines, foreign(why, fieldWidth, Warn)...)
		}
	}
	p.field("command", plain(words.OneLine(text.Clean(m.Local.Serve.String()))))
	if m.Local.Serve.Dir != "" {
		p.field("folder", plain(b.relative(m.Local.Serve.Dir)))
	}
	if probe := m.Local.Readiness; probe != nil {
		p.field("readiness", plain(probeText(*probe)))
	}
}

// probeText describes a probe: "GET http://localhost:8080/health, every 5 s".
func probeText(p model.Probe) string {
	what := ""
	switch {
	case p.Exec != nil:
		what = "exec " + words.OneLine(text.Clean(p.Exec.String()))
	case p.HTTP != nil:
		what = fmt.Sprintf("GET %s://%s:%d/%s", strings.ToLower(cmp.Or(p.HTTP.Scheme, "http")), cmp.Or(p.HTTP.Host, "localhost"), p.HTTP.Port, strings.TrimPrefix(p.HTTP.Path, "/"))
	case p.TCP != nil:
		what = fmt.Sprintf("connect to %s:%d", cmp.Or(p.TCP.Host, "localhost"), p.TCP.Port)
	}
	if p.Period > 0 {
		what += ", every " + Elapsed(p.Period)
	}
	return what
}

// portLines adds the port forwards of the resource, and why one does not work.
func (p *page) portLines(s *status.Resource) {
	if len(s.Ports) == 0 || !s.Manifest.IsK8s() {
		return
	}
	p.title("port forwards")
	for _, port := range s.Ports {
		tone := portMarks[port.State].tone
		line := p.add(4, Span{fmt.Sprintf("  %d", port.Number), Plain}, Span{" → " + cmp.Or(port.Pod, "no pod"), Dim}, Span{"  " + string(port.State), tone}, Span{spaced(port.URL), Accent},
			Span{spaced(port.Name), Dim})
		line.Target.URL = port.URL
		if port.Err != "" {
			p.lines = append(p.lines, foreign(port.Err, 4, tone)...)
		}
	}
}
