package cireport

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/pkg/api"
)

// notReady is the reason of a wait for an updated resource to become ready.
const notReady = "not-ready"

// Tally counts the facts that the tables do not keep. The zero value has counted nothing. It is for one goroutine.
type Tally struct {
	resources map[string]*counts
	missed    uint64
}

// counts are the counts of a resource.
type counts struct {
	builds   int
	building api.Milliseconds
	// ready is the time that the resource took to become ready; wasReady is set once it has been ready.
	ready    api.Milliseconds
	wasReady bool
	waits    []api.Wait
	// held is the current wait before an update; nil without one. deployed is the time since which an updated resource has not been
	// ready; zero without such a wait.
	held     *held
	deployed time.Time
	// restarts are the newest count of each pod.
	restarts map[string]int
	// problem is the newest one since the last update began.
	problem *api.ProblemEvent
}

// held is a wait that has not ended.
type held struct {
	wait  api.Wait
	since time.Time
}

// Take counts an event. They must come in order.
func (t *Tally) Take(e api.Event) {
	if e.Gap != nil {
		t.missed += e.Gap.Missed
	}
	if e.Resource != "" {
		t.of(e.Resource).take(e)
	}
}

// of returns the counts of a resource, and creates them if there are none.
func (t *Tally) of(name string) *counts {
	c := t.resources[name]
	if c == nil {
		if t.resources == nil {
			t.resources = map[string]*counts{}
		}
		c = &counts{restarts: map[string]int{}}
		t.resources[name] = c
	}
	return c
}

func (c *counts) take(e api.Event) {
	switch {
	case e.Hold != nil:
		c.hold(*e.Hold, e.Time)
	case e.Type == "update-started":
		c.builds++
		c.problem = nil
	case e.Type == "update-finished":
		c.building += e.Update.TookMs
		deployed := !e.Update.Cancelled && !e.Update.BuildOnly && e.Update.Error == ""
		if first := !c.wasReady && c.deployed.IsZero(); deployed && first {
			c.deployed = e.Time
		}
	case e.Ready != nil:
		c.ready, c.wasReady = e.Ready.AfterMs, true
		if !c.deployed.IsZero() {
			c.waited(api.Wait{Reason: notReady, Text: "waits to get ready", Ms: lasted(c.deployed, e.Time)})
		}
		c.deployed = time.Time{}
	case e.Pod != nil:
		c.restarts[e.Pod.Namespace+"/"+e.Pod.Name] = e.Pod.Restarts
	case e.Problem != nil:
		c.problem = e.Problem
	}
}

// hold ends the current wait, and begins the next one.
func (c *counts) hold(h api.HoldEvent, at time.Time) {
	if c.held != nil {
		c.held.wait.Ms = h.WasMs
		c.waited(c.held.wait)
		c.held = nil
	}
	if h.Reason != "" {
		c.held = &held{api.Wait{Reason: h.Reason, Text: h.Text, On: h.On}, at}
	}
}

// waited adds a wait that is long enough to report. Another wait for the same extends it, although its words may
// differ: meanwhile, the images may have been built.
func (c *counts) waited(w api.Wait) {
	if w.Ms < 1 && !w.Open {
		return
	}
	i := slices.IndexFunc(c.waits, func(o api.Wait) bool { return same(o, w) })
	if i < 0 {
		c.waits = append(c.waits, w)
		return
	}
	c.waits[i].Ms += w.Ms
	c.waits[i].Open = w.Open
}

// same reports whether two waits are for the same resources, or are described by the same words.
func same(a, b api.Wait) bool {
	onSame := a.Reason == b.Reason && len(a.On) > 0 && slices.Equal(a.On, b.On)
	return onSame || a.Text == b.Text
}

// lasted returns how long a wait lasted. It may have begun after its end, since the cause of a session's end is older than
// the newest event.
func lasted(since, end time.Time) api.Milliseconds { return max(0, events.Ms(end.Sub(since))) }

// until returns the waits up to the end of the session, including open ones, which count as ended if the resource is well.
// runtime is the runtime state of a resource that is not ready.
func (c *counts) until(end time.Time, well bool, runtime string) []api.Wait {
	out := *c
	out.waits = slices.Clone(c.waits)
	if c.held != nil {
		w := c.held.wait
		w.Ms, w.Open = lasted(c.held.since, end), !well
		out.waited(w)
	}
	if !c.deployed.IsZero() {
		w := api.Wait{Reason: notReady, Text: "waits to get ready", Ms: lasted(c.deployed, end), Open: !well}
		if runtime != "" && !well {
			w.Text += ": " + runtime
		}
		out.waited(w)
	}
	return out.waits
}
