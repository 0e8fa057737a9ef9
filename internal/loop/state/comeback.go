package state

import (
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// startSlack is the delay that the kubelet may add to the back-off that it announces for a container: it looks at its pods every
// few seconds.
const startSlack = 15 * time.Second

// StartOverdue reports that a crashed container of a pod has not started again in time. Since is the time of its end, by this
// machine's clock.
type StartOverdue struct {
	UID   string
	Since time.Time
}

func init() {
	store.On(Pods, func(d *store.Draft[Pod], a StartOverdue) {
		if e := d.Ref(a.UID); e != nil && e.Value.DownSince.Equal(a.Since) {
			p := e.Value
			p.Overdue = true
			d.PutOwned(a.UID, string(p.Resource), nil, p)
		}
	})
}

// Crashed returns a container of a pod that has failed and that the kubelet starts again.
func Crashed(p model.Pod) (c model.Container, ok bool) {
	if p.OfCompose() || p.Phase == "Failed" {
		return c, false
	}
	for _, c := range p.LastingContainers() {
		ended := c.State == model.ContainerTerminated && (c.ExitCode != 0 || c.Reason == "OOMKilled")
		if ended || c.State == model.ContainerWaiting && c.Reason == "CrashLoopBackOff" {
			return c, true
		}
	}
	return c, false
}

// BackOff returns how long the kubelet pauses after the end of a container before it starts it again; zero if it does not pause.
func BackOff(c model.Container) time.Duration {
	_, text, _ := strings.Cut(c.Message, "back-off ") // back-off 10s restarting failed container=main …
	text, _, ok := strings.Cut(text, " restarting ")
	pause, err := time.ParseDuration(text)
	if !ok || err != nil {
		return 0
	}
	return pause
}

// Start is the start of a crashed container.
type Start struct {
	// UID is the pod's; empty for no start.
	UID string
	// Since is the time of the crash, and By the time by which the container should run again.
	Since, By time.Time
}

// NextStart returns the start of a crashed container that is awaited until the earliest time, of those that are not overdue.
func NextStart(v store.View) Start { return nextStart.In(v) }

var nextStart = store.Derive(Schema, "next start", func(v store.View) (next Start) {
	for e := range Pods.In(v).Refs() {
		if by := e.Value.startsBy(); !by.IsZero() && (next.UID == "" || by.Before(next.By)) {
			next = Start{e.ID, e.Value.DownSince, by}
		}
	}
	return next
}, Pods)

// startsBy returns the time by which a crashed container of the pod should run again; zero if there is none, or if it is overdue.
func (p *Pod) startsBy() time.Time {
	if p.DownSince.IsZero() || p.Overdue {
		return time.Time{}
	}
	c, crashed := Crashed(p.Pod)
	if !crashed {
		return time.Time{}
	}
	return p.DownSince.Add(BackOff(c) + startSlack)
}

// down returns the time of the crash of a container that is down, and whether its start is overdue, given the pod before. Each
// further crash starts the wait again.
func down(was Pod, next model.Pod, now time.Time) (since time.Time, overdue bool) {
	_, crashed := Crashed(next)
	switch {
	case !crashed:
		return time.Time{}, false
	case was.DownSince.IsZero(), was.Restarts() != next.Restarts():
		return now, false
	}
	return was.DownSince, was.Overdue
}
