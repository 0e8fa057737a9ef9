package projection

import (
	"cmp"
	"iter"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const kindCmd = "Cmd"

func cmd() Kind {
	type object = *v1alpha1.Cmd
	return Kind{
		Name:   kindCmd,
		Doc:    "Cmd is a command on this machine: a declared one, or the update or the server of a local resource.",
		Tables: tables(state.Commands, state.ConfigMaps, state.Resources, state.Updates, state.Processes),
		Items:  cmds,
		New:    func() Object { return &v1alpha1.Cmd{} },
		Columns: []Column{
			column("Status", "Its status.", func(o object) any { return cmdWord(o.Status) }),
			column("Ready", "Whether it runs and passes its probe.", func(o object) any { return o.Status.Ready }),
			column("Command", "The command line.", func(o object) any { return model.Cmd{Argv: o.Spec.Args}.String() }),
		},
		Write: writeCmd,
	}
}

func cmdWord(st v1alpha1.CmdStatus) string {
	switch {
	case st.DisableStatus != nil && st.DisableStatus.Disabled:
		return "disabled"
	case st.Running != nil:
		return "running"
	case st.Terminated != nil && st.Terminated.Reason != "":
		return "error"
	case st.Terminated != nil:
		return "ok"
	}
	return "waiting"
}

func cmds(v store.View) iter.Seq[Item] {
	s := sourceOf(v)
	var items []Item
	for e := range state.Commands.In(v).Refs() {
		if e.Phase == store.Running {
			off := state.Off(v, e.Value.Disable)
			items = append(items, item(s, kindCmd, e.ID, switchable(&e.Meta, off), func() *v1alpha1.Cmd { return makeCmd(e, off) }))
		}
	}
	for _, r := range rowsOf(v, 0) {
		if l := r.Value.Manifest.Local; l != nil {
			items = append(items, cmdsOf(s, &r, l)...)
		}
	}
	return inOrder(items)
}

// switchable returns the digest of an entry that config maps may disable.
func switchable(m *store.Meta, off bool) digest {
	d := digest(0).entry(m)
	if off {
		d = d.number(1)
	}
	return d
}

// cmdsOf returns the commands of a local resource.
func cmdsOf(s *source, r *row, l *model.LocalTarget) []Item {
	var out []Item
	if !l.Update.Empty() {
		out = append(out, item(s, kindCmd, r.ID+":update", r.made, func() *v1alpha1.Cmd {
			o := &v1alpha1.Cmd{ObjectMeta: metaOfResource(r.Entry), Spec: cmdSpec(l.Update)}
			o.Spec.DisableSource, o.Status = disableOfResource(r.ID), updateCmdStatus(r)
			return o
		}))
	}
	if !l.Serve.Empty() {
		p := cmp.Or(state.Processes.In(s.View).Ref(r.ID), &store.Entry[state.Process]{})
		out = append(out, item(s, kindCmd, r.ID+":serve", digest(0).entry(&r.Meta).entry(&p.Meta), func() *v1alpha1.Cmd {
			o := &v1alpha1.Cmd{ObjectMeta: metaOfResource(r.Entry), Spec: cmdSpec(l.Serve)}
			o.Spec.ReadinessProbe = probe(l.Readiness)
			o.Spec.DisableSource, o.Status = disableOfResource(r.ID), serveCmdStatus(r, p.Value)
			return o
		}))
	}
	return out
}

func cmdSpec(c model.Cmd) v1alpha1.CmdSpec {
	return v1alpha1.CmdSpec{Args: slices.Clone(c.Argv), Dir: c.Dir, Env: slices.Clone(c.Env)}
}

func updateCmdStatus(r *row) v1alpha1.CmdStatus {
	st := v1alpha1.CmdStatus{DisableStatus: disableStatusOf(r.Entry)}
	last, built := r.update.Value.Last()
	switch c := r.update.Value.Current; {
	case c != nil:
		st.Running = &v1alpha1.CmdStateRunning{StartedAt: micro(c.StartedAt)}
	case built:
		st.Terminated = &v1alpha1.CmdStateTerminated{StartedAt: micro(last.StartedAt), FinishedAt: micro(last.FinishedAt), Reason: last.Err}
		if last.Err != "" {
			st.Terminated.ExitCode = 1
		}
	default:
		st.Waiting = &v1alpha1.CmdStateWaiting{}
	}
	return st
}

func serveCmdStatus(r *row, p state.Process) v1alpha1.CmdStatus {
	st := v1alpha1.CmdStatus{DisableStatus: disableStatusOf(r.Entry), Ready: p.Ready}
	switch p.State {
	case state.ProcessStarting, state.ProcessRunning, state.ProcessStopping:
		st.Running = &v1alpha1.CmdStateRunning{PID: int32(p.PID), StartedAt: micro(p.StartedAt)}
	case state.ProcessFailed, state.ProcessStopped:
		st.Terminated = &v1alpha1.CmdStateTerminated{ExitCode: int32(p.ExitCode), StartedAt: micro(p.StartedAt), Reason: p.Err}
	default:
		st.Waiting = &v1alpha1.CmdStateWaiting{Reason: "waiting-for-update"}
	}
	return st
}

func makeCmd(e *store.Entry[state.DeclaredCommand], off bool) *v1alpha1.Cmd {
	c := &e.Value
	o := &v1alpha1.Cmd{ObjectMeta: metaOf(&e.Meta, c.Annotations), Spec: cmdSpec(c.Cmd)}
	o.Spec.ReadinessProbe, o.Spec.RestartOn, o.Spec.DisableSource = probe(c.Readiness), restartOn(c.RestartOn), disableSource(c.Disable)
	if c.StartOn != nil {
		o.Spec.StartOn = &v1alpha1.StartOnSpec{StartAfter: metav1.NewTime(c.StartOn.After), UIButtons: c.StartOn.Buttons}
	}
	o.Status.Ready, o.Status.DisableStatus = c.Ready, disableStatus(off)
	switch c.State {
	case state.CommandRunning:
		o.Status.Running = &v1alpha1.CmdStateRunning{PID: int32(c.PID), StartedAt: micro(c.StartedAt)}
	case state.CommandSucceeded, state.CommandFailed, state.CommandStopped:
		o.Status.Terminated = &v1alpha1.CmdStateTerminated{ExitCode: int32(c.ExitCode), StartedAt: micro(c.StartedAt),
			FinishedAt: micro(c.EndedAt), Reason: c.Err}
	default:
		o.Status.Waiting = &v1alpha1.CmdStateWaiting{}
		if c.StartOn != nil {
			o.Status.Waiting.Reason = "waiting for a click"
		}
	}
	return o
}

func restartOn(t model.Triggers) *v1alpha1.RestartOnSpec {
	if len(t.FileWatches)+len(t.Buttons) == 0 {
		return nil
	}
	return &v1alpha1.RestartOnSpec{FileWatches: t.FileWatches, UIButtons: t.Buttons}
}

func probe(p *model.Probe) *v1alpha1.Probe {
	if p == nil {
		return nil
	}
	seconds := func(d time.Duration) int32 { return int32(d / time.Second) }
	out := &v1alpha1.Probe{InitialDelaySeconds: seconds(p.InitialDelay), TimeoutSeconds: seconds(p.Timeout), PeriodSeconds: seconds(p.Period),
		SuccessThreshold: int32(p.SuccessThreshold), FailureThreshold: int32(p.FailureThreshold)}
	switch {
	case p.Exec != nil:
		out.Exec = &v1alpha1.ExecAction{Command: slices.Clone(p.Exec.Argv)}
	case p.HTTP != nil:
		out.HTTPGet = &v1alpha1.HTTPGetAction{Path: p.HTTP.Path, Port: int32(p.HTTP.Port), Host: p.HTTP.Host, Scheme: p.HTTP.Scheme}
		for _, h := range p.HTTP.Headers {
			out.HTTPGet.HTTPHeaders = append(out.HTTPGet.HTTPHeaders, v1alpha1.HTTPHeader(h))
		}
	case p.TCP != nil:
		out.TCPSocket = &v1alpha1.TCPSocketAction{Port: int32(p.TCP.Port), Host: p.TCP.Host}
	}
	return out
}
