package status

import (
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Notice is a problem of the session as a whole.
type Notice struct {
	About About
	// Severe is set for an error; any other is a warning.
	Severe bool
	// Text names the problem in a few words. Problem has all known facts; its Mend is empty if it depends on the place that shows
	// the notice, which then chooses one by About.
	Text    string
	Problem state.Problem
	// Since is the start of the problem; zero if unknown.
	Since time.Time
}

// About is the subject of a notice.
type About string

// The subjects.
const (
	AboutEnd        About = "end"
	AboutCluster    About = "cluster"
	AboutEngine     About = "engine"
	AboutComponent  About = "component"
	AboutPause      About = "pause"
	AboutPrune      About = "prune"
	AboutConfirm    About = "confirm"
	AboutDeployLock About = "turn"
	AboutWatch      About = "watch"
)

// Notices returns the problems of the session as a whole, the worst first.
func Notices(v store.View) []Notice {
	var out []Notice
	add := func(about About, severe bool, text string, since time.Time) {
		p := problemIn(text)
		out = append(out, Notice{about, severe, p.Summary, p, since})
	}
	s := state.TheSession(v)
	if e := s.Ended; e != nil && e.Failure != "" {
		add(AboutEnd, true, e.Failure, e.At)
	}
	for _, on := range state.NeededClusters(v) {
		if c := state.ClusterOn(v, on); c.Err != "" && !c.Connected {
			out = append(out, away(AboutCluster, "cluster "+state.ClusterTitle(v, on), c.Err, c.Problem, c.Lost))
		}
	}
	if e := state.TheEngine(v); e.Err != "" && !e.Connected && state.NeedsEngine(v) {
		out = append(out, away(AboutEngine, e.Title(), e.Err, e.Problem, e.Lost))
	}
	for e := range state.Subscribers.In(v).Refs() {
		if e.Value.State == store.SubscriberBackingOff {
			add(AboutComponent, true, "hone's "+e.ID+" failed and is being restarted: "+e.Value.Err, e.Updated)
		}
	}
	if p, paused := buildcontrol.PausedOf(v); paused {
		add(AboutPause, false, pauseText(p), p.Since)
	}
	if s.PruneGuard.Why != "" {
		add(AboutPrune, false, s.PruneGuard.Why, time.Time{})
	}
	if waits := intent.UnconfirmedText(v); waits != "" {
		add(AboutConfirm, false, waits, time.Time{})
	}
	for _, t := range s.DeployLocks {
		add(AboutDeployLock, false, t.By+" deploys this project: updates wait until it has ended", t.Since)
	}
	if w := state.Watches.In(v).Value(state.Only); w.Problem != "" {
		add(AboutWatch, false, w.Problem, time.Time{})
	}
	return out
}

func pauseText(p buildcontrol.Paused) string {
	text := "updates are paused"
	if p.Files == 0 {
		return text
	}
	verb := "wait"
	if p.Files == 1 {
		verb = "waits"
	}
	return fmt.Sprintf("%s: %s of %s %s", text, words.Count(p.Files, "file"), words.Count(len(p.Resources), "resource"), verb)
}

// away returns the notice about a cluster or engine that does not answer. Its problem is p, or else text.
func away(about About, what, text string, p state.Problem, since time.Time) Notice {
	if p.Summary == "" {
		p = problemIn(text)
	}
	away := strings.TrimSpace(what) + " does not answer"
	if p.Cause == "" {
		p.Summary, p.Cause = away, p.Summary
	}
	return Notice{about, true, away, p, since}
}

// problemIn splits a problem in text form, as problem.Text writes it, into its summary and the rest.
func problemIn(s string) state.Problem {
	summary, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	var mend []string
	for line := range strings.Lines(rest) {
		mend = append(mend, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return state.Problem{Summary: summary, Mend: strings.Join(mend, "\n")}
}
