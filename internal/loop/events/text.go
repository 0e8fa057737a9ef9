package events

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/api"
)

// timeLayout is the layout of the time of an event in text.
const timeLayout = "15:04:05.000"

// Text returns an event as one line for people: the time, the resource, and the event in words.
func Text(e api.Event, zone *time.Location) string {
	return strings.TrimRight(fmt.Sprintf("%s %-16s %s", e.Time.In(zone).Format(timeLayout), cmp.Or(e.Resource, "·"), OneLine(Words(e))), " ")
}

// OneLine returns the first line of a text without terminal control characters, with a mark if there are further lines.
func OneLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, line)
	if more {
		line = strings.TrimRight(line, " ") + " …"
	}
	return line
}

// Words describes an event without its time and resource. It may have several lines.
func Words(e api.Event) string {
	what := strings.ReplaceAll(e.Type, "-", " ")
	switch {
	case e.Session != nil:
		return sessionWords(e)
	case e.Tiltfile != nil:
		return tiltfileWords(what, *e.Tiltfile)
	case e.Files != nil:
		return filesWords(*e.Files)
	case e.Hold != nil:
		return holdWords(*e.Hold)
	case e.Update != nil:
		return updateWords(e)
	case e.Container != nil:
		return "caught up: " + containerWords(*e.Container)
	case e.Pull != nil:
		return fmt.Sprintf("%s was pulled for pod %s in %s", e.Pull.Image, e.Pull.Pod, Took(e.Pull.TookMs))
	case e.Ready != nil:
		return "ready for the first time, after " + Took(e.Ready.AfterMs)
	case e.Gap != nil:
		return fmt.Sprintf("%d events are missing", e.Gap.Missed)
	case e.Problem != nil:
		return problemWords(*e.Problem)
	case e.Request != nil:
		return join(fmt.Sprintf("%s requested %s", e.Request.By, e.Request.Request), strings.Join(e.Request.Resources, ", "))
	}
	return cmp.Or(runningWords(what, e), map[string]string{"resource triggered": "triggered", "resource enabled": "enabled",
		"resource disabled": "disabled"}[what], what)
}

func sessionWords(e api.Event) string {
	switch e.Type {
	case "session-started":
		return fmt.Sprintf("session started: %s %s", e.Session.Command, e.Session.Tiltfile)
	case "session-paused":
		return "session paused: updates start only on request"
	case "session-resumed":
		return "session resumed"
	}
	return join("session ended", e.Session.Failure)
}

func tiltfileWords(what string, t api.TiltfileEvent) string {
	if t.Error != "" || t.TookMs == 0 {
		return join(what, cmp.Or(t.Error, t.Reason))
	}
	return join(fmt.Sprintf("%s in %s: %s", what, Took(t.TookMs), words.Count(t.Resources, "resource")), warnings(t.Warnings))
}

func filesWords(f api.FilesEvent) string {
	s := fmt.Sprintf("%s changed: %s", words.Count(f.Total, "file"), list(f.Files, f.Total))
	if f.Watch != "" {
		s += " (watch " + f.Watch + ")"
	}
	return s
}

func holdWords(h api.HoldEvent) string {
	after := ""
	if h.Was != "" {
		after = fmt.Sprintf("waited %s: %s", Took(h.WasMs), h.Was)
	}
	return cmp.Or(h.Text, after)
}

func updateWords(e api.Event) string {
	u := e.Update
	if e.Type == "update-started" {
		files := ""
		if u.Total > 0 {
			files = list(u.Files, u.Total)
		}
		return join(fmt.Sprintf("update %d started", u.Serial), u.Reason, files)
	}
	result := "finished"
	switch {
	case u.Cancelled:
		result = "cancelled"
	case u.Error != "":
		result = "failed"
	}
	s := fmt.Sprintf("update %d %s after %s", u.Serial, result, Took(u.TookMs))
	if u.Mode != "" {
		s += " (" + u.Mode + ")"
	}
	var containers []string
	for _, c := range u.Containers {
		containers = append(containers, containerWords(c))
	}
	return join(s, cmp.Or(u.Error, strings.Join(containers, "; ")), warnings(u.Warnings))
}

func containerWords(c api.ContainerUpdate) string {
	where := c.Pod + "/" + c.Container
	switch {
	case c.Error != "":
		return where + " failed: " + c.Error
	case c.Behind:
		return where + " is behind"
	}
	var stages []string
	for _, s := range []struct {
		name string
		ms   api.Milliseconds
	}{{"noticed", c.Stages.NoticedMs}, {"waited", c.Stages.WaitedMs}, {"sent", c.Stages.SentMs}, {"applied", c.Stages.AppliedMs},
		{"ran", c.Stages.RanMs}, {"restarted", c.Stages.RestartedMs}} {
		if s.ms > 0 {
			stages = append(stages, s.name+" "+Took(s.ms))
		}
	}
	return fmt.Sprintf("%s in %s (%s)", where, Took(c.TotalMs), strings.Join(stages, ", "))
}

func runningWords(what string, e api.Event) string {
	switch {
	case e.Pod != nil:
		name, state, _ := strings.Cut(what, " ")
		return join(fmt.Sprintf("%s %s %s", name, e.Pod.Name, state), cmp.Or(e.Pod.Why, e.Pod.Status))
	case e.Restart != nil:
		kind := map[bool]string{true: "pods", false: "processes"}[e.Restart.Pods]
		return join(what, cmp.Or(e.Restart.Error, strings.Join(e.Restart.Done, ", "), kind))
	case e.Program != nil:
		code := ""
		if e.Program.ExitCode != nil {
			code = fmt.Sprintf("code %d", *e.Program.ExitCode)
		}
		return join(fmt.Sprintf("%s in %s/%s", what, e.Program.Pod, e.Program.Container), code)
	case e.Server != nil:
		return join(what, cmp.Or(e.Server.Error, e.Server.Detail))
	case e.Forward != nil:
		return join(what, fmt.Sprintf("port %d", e.Forward.LocalPort), cmp.Or(e.Forward.Error, e.Forward.Pod))
	case e.Connection != nil:
		return join(what, cmp.Or(e.Connection.Error, e.Connection.Name))
	case e.Button != nil:
		return join(what, e.Button.Name)
	case e.Command != nil:
		return join(what, e.Command.Name, e.Command.Error)
	case e.Controller != nil:
		return join("hone's "+e.Controller.Name+" failed and is being restarted", e.Controller.Error)
	}
	return ""
}

func problemWords(p api.ProblemEvent) string {
	s := "✖ " + join(p.Summary, p.Cause)
	if p.Mend != "" {
		s += "; to fix it: " + p.Mend
	}
	return s
}

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, ": ")
}

func warnings(n int) string {
	if n == 0 {
		return ""
	}
	return words.Count(n, "warning")
}

// list names the first things of a list.
func list(names []string, total int) string {
	const most = 5
	s := strings.Join(names[:min(len(names), most)], " ")
	if total > most {
		s += " …"
	}
	return s
}

// Took returns a duration in words of about three digits.
func Took(ms api.Milliseconds) string {
	d := time.Duration(float64(ms) * float64(time.Millisecond))
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
