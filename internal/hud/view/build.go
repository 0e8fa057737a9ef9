package view

import (
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Tables returns the tables that Build and DetailsOf read.
func Tables() []store.Input {
	return append(status.Tables(), store.Reads(state.ClusterEvents, state.Watches, state.Subscribers, state.Buttons, state.Screens, state.Revisions)...)
}

// Build returns the view of a snapshot at the given time. Loop is the duration of the store's last batch.
func Build(v store.View, now time.Time, loop time.Duration) View {
	b := newBuilder(v, now)
	out := View{Header: b.header(loop), Notices: b.notices()}
	if b.session.Tiltfile == "" {
		out.Refresh = time.Minute
		return out
	}
	out.Rows = b.rows()
	out.Cards = b.cards(out.Rows)
	out.Header.Counts = count(out.Rows)
	out.Refresh = min(refresh(out.Rows, now), b.soonest)
	return out
}

// builder builds one view of a snapshot.
type builder struct {
	v        store.View
	now      time.Time
	session  state.Session
	tiltfile state.Tiltfile
	plan     buildcontrol.Plan
	pods     state.Groups[state.Pod]
	// known are the resources that the view has come across.
	known map[model.ManifestName]*status.Resource
	// soonest is the time after which the passage of time alone changes more than an age.
	soonest time.Duration
}

// changesIn notes that a row changes after d if nothing happens.
func (b *builder) changesIn(d time.Duration) { b.soonest = min(b.soonest, d) }

func newBuilder(v store.View, now time.Time) *builder {
	return &builder{v: v, now: now, session: state.TheSession(v), tiltfile: state.TheTiltfile(v), plan: buildcontrol.Decide(v, nil),
		pods: state.PodsByResource.In(v), known: map[model.ManifestName]*status.Resource{}, soonest: time.Hour}
}

func (b *builder) header(loop time.Duration) Header {
	h := Header{Loop: loop, Ending: b.session.Ended != nil}
	if b.session.Tiltfile != "" {
		h.Project = filepath.Base(filepath.Dir(b.session.Tiltfile))
	}
	if c := state.TheCluster(b.v); c.Context != "" {
		h.Target = c.Context
		if c.Namespace != "" {
			h.Target += "/" + c.Namespace
		}
	}
	h.Clusters = b.clusters()
	return h
}

func count(rows []Row) Counts {
	var c Counts
	for _, r := range rows {
		switch r.Status {
		case Well, Warning:
			c.Well++
		case Updating:
			c.Updating++
		case Waiting:
			c.Waiting++
		case Failed:
			c.Failed++
		case Unknown:
			c.Unknown++
		case Idle:
			c.Idle++
		}
	}
	return c
}

// refresh returns the time until an age of the view changes. Ages show seconds only for the first minute.
func refresh(rows []Row, now time.Time) time.Duration {
	for _, r := range rows {
		if r.Status == Updating || r.Behind > 0 || now.Sub(r.Changed) < time.Minute {
			return time.Second
		}
	}
	return 15 * time.Second
}
