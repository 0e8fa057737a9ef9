package events

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// keptFiles is the most files that an update names.
const keptFiles = 20

// Of returns an event of the store as the API documents it. Files are relative to the Tiltfile where they lie below it.
func Of(e *store.Entry[state.Event], tiltfile string) api.Event {
	out := api.Event{V: api.EventVersion, Seq: state.EventSeq(e.ID), Time: e.Created, Type: string(e.Value.Type), Resource: string(e.Value.Resource)}
	switch what := e.Value.What.(type) {
	case state.Session:
		out.Session = session(what)
	case state.TiltfileRun:
		out.Tiltfile = &api.TiltfileEvent{Reason: what.Reason, TookMs: Ms(what.Took), Resources: what.Resources, Warnings: what.Warnings, Error: what.Err}
	case state.SettledFiles:
		out.Files = &api.FilesEvent{Files: state.Relative(tiltfile, what.Files), Total: what.Total, Watch: what.Watch}
	case state.HoldChange:
		out.Hold = &api.HoldEvent{Reason: what.Reason, Text: what.Text, On: texts(what.On), Was: what.Was, WasMs: Ms(what.For)}
	case state.Build:
		out.Update = update(what)
	case model.ContainerUpdate:
		out.Container = &Containers([]model.ContainerUpdate{what})[0]
	case state.Readiness:
		out.Ready = &api.ReadyEvent{AfterMs: Ms(what.After)}
	case state.ButtonEvent:
		out.Button = &api.ButtonEvent{Name: what.Name, Text: what.Text, Clicks: what.Clicks}
	case state.DeclaredCommand:
		out.Command = command(what)
	case state.Breakdown:
		out.Controller = &api.ControllerEvent{Name: what.Name, Crashes: what.Crashes, Error: what.Err}
	case state.RequestMade:
		out.Request = &api.RequestEvent{By: what.By, Request: what.Request, Resources: texts(what.Resources)}
	case state.Problem:
		out.Problem = &api.ProblemEvent{Summary: what.Summary, Cause: what.Cause, Detail: what.Detail, Mend: what.Mend, Link: what.Link}
	default:
		running(&out, what)
	}
	return out
}

// running fills in the events of running things.
func running(out *api.Event, what any) {
	switch what := what.(type) {
	case state.Restart:
		out.Restart = &api.RestartEvent{Pods: what.Pods, Done: what.Done, Error: what.Err}
	case state.PodEvent:
		out.Pod = &api.PodEvent{Namespace: what.Namespace, Name: what.Name, Status: what.Status, Why: what.Why, Ready: what.Ready,
			Restarts: what.Restarts, Current: what.Current}
	case state.ImagePulled:
		out.Pull = &api.PullEvent{Pod: what.Pod, Image: what.Image, TookMs: Ms(what.Took)}
	case state.Synclet:
		out.Program = &api.ProgramEvent{Namespace: what.Namespace, Pod: what.Pod, Container: what.Container, Starts: what.Starts}
		if !what.Running {
			out.Program.ExitCode = &what.ExitCode
		}
	case state.Process:
		out.Server = &api.ServerEvent{PID: what.PID, Detail: what.Detail}
		if what.State == state.ProcessFailed {
			out.Server.ExitCode, out.Server.Error = &what.ExitCode, what.Err
		}
	case state.Forward:
		out.Forward = &api.ForwardEvent{LocalPort: what.Spec.LocalPort, URL: what.URL, Pod: what.Pod, Error: what.Err}
	case state.Connection:
		out.Connection = &api.ConnectionEvent{Name: what.Name, Error: what.Err}
	}
}

func session(s state.Session) *api.SessionEvent {
	out := &api.SessionEvent{Command: string(s.Command), Tiltfile: s.Tiltfile, URL: s.URL}
	if s.Ended != nil {
		out.Failure = s.Ended.Failure
	}
	return out
}

func update(b state.Build) *api.UpdateEvent {
	out := &api.UpdateEvent{Serial: b.Serial, Reason: b.Because(), Files: b.Files[:min(len(b.Files), keptFiles)], Total: len(b.Files),
		StartedAt: b.StartedAt, BuildOnly: b.BuildOnly}
	if !b.FinishedAt.IsZero() {
		out.Mode, out.TookMs, out.Error, out.Cancelled = b.Mode, Ms(b.Duration(b.FinishedAt)), b.Err, b.Cancelled
		out.Warnings, out.FellBack, out.Containers = b.Warnings, b.FellBack, Containers(b.Containers)
		for _, step := range b.Steps {
			out.Steps = append(out.Steps, api.UpdateStep{Kind: string(step.Kind), Image: step.What, TookMs: Ms(step.Took)})
		}
		for _, l := range b.LayersAhead {
			out.LayersAhead = append(out.LayersAhead, api.LayersAhead{Image: l.Image, FromMs: Ms(l.From), TookMs: Ms(l.Took)})
		}
	}
	return out
}

func command(c state.DeclaredCommand) *api.CommandEvent {
	out := &api.CommandEvent{Name: c.Name, Run: c.Runs, Error: c.Err, Stopped: c.State == state.CommandStopped}
	if !c.EndedAt.IsZero() {
		out.ExitCode = &c.ExitCode
	}
	return out
}

// Containers returns updates of containers as the API shows them; nil for none.
func Containers(list []model.ContainerUpdate) []api.ContainerUpdate {
	var out []api.ContainerUpdate
	for _, c := range list {
		s := c.Stages
		out = append(out, api.ContainerUpdate{Namespace: c.Namespace, Pod: c.Pod, Container: c.Container, ID: c.ID, Mode: c.Mode,
			Files: c.Files, Deletes: c.Deletes, Same: c.Same, Bytes: c.Bytes, TotalMs: Ms(s.Total()), Error: c.Err, Behind: c.Behind,
			Stages: api.Stages{NoticedMs: Ms(s.Noticed), WaitedMs: Ms(s.Waited), SentMs: Ms(s.Sent), AppliedMs: Ms(s.Applied),
				RanMs: Ms(s.Ran), RestartedMs: Ms(s.Restarted)}})
	}
	return out
}

// Ms returns a duration as the API shows it, exact to the microsecond.
func Ms(d time.Duration) api.Milliseconds {
	return api.Milliseconds(float64(d.Round(time.Microsecond)) / float64(time.Millisecond))
}

func texts(names []model.ManifestName) []string {
	var out []string
	for _, n := range names {
		out = append(out, string(n))
	}
	return out
}
