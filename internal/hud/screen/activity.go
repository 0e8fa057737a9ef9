package screen

import (
	"slices"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// glanceTime is the minimum time between two readings of the output's size. It bounds the cost of lines that are not shown.
	glanceTime = time.Second
	// quietTime is the length of a pause after which a new line counts as activity. Programs that write all the time would be marked
	// all the time.
	quietTime = time.Minute
	// steadyMinutes is the number of minutes, one after another, in which a program must have written for its silence to mean
	// something. silentTime is the pause after which it counts as silent, and usualTime the pause after which silence counts as its
	// normal state.
	steadyMinutes = 5
	silentTime    = 2 * time.Minute
	usualTime     = time.Hour
)

// activity knows the programs that have written something that the user has not seen, and the programs that have fallen silent.
// It is safe for use by several goroutines.
type activity struct {
	logs Logs

	mu      sync.Mutex
	outputs map[model.ManifestName]*output
	volumes []logstore.Volume
	looked  time.Time // zero before the first look: earlier output counts as seen
	shown   []model.ManifestName
}

// output counts the lines that the program of a resource has written.
type output struct {
	volume logstore.Volume
	unseen view.Unseen
	last   time.Time // when the newest line was noticed
	minute int64     // of last
	steady int       // minutes, one after another, with lines
	silent int       // the minutes of silence that are shown
}

func newActivity(logs Logs) *activity {
	return &activity{logs: logs, outputs: map[model.ManifestName]*output{}}
}

// look reads the output since the last look, and reports whether a badge changes. It returns the latest time for the next look,
// unless lines are stored before then; zero for never.
func (a *activity) look(now time.Time) (changed bool, next time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := a.looked.IsZero()
	a.looked = now
	a.volumes = a.logs.Volumes(logstore.SourceRuntime, a.volumes[:0])
	for _, v := range a.volumes {
		o := a.outputs[v.Resource]
		if o == nil {
			o = &output{}
			a.outputs[v.Resource] = o
		}
		if first || v.Lines < o.volume.Lines { // its log was dropped
			o.volume, o.last = v, now
		}
		before, was := o.unseen, o.silent
		if v.Lines > o.volume.Lines {
			o.take(v, now, slices.Contains(a.shown, v.Resource))
		}
		o.silent = o.minutesSilent(now)
		changed = changed || o.unseen != before || o.silent != was
		next = earliest(next, o.changes())
	}
	return changed, next
}

// take takes in new lines.
func (o *output) take(v logstore.Volume, now time.Time, shown bool) {
	minute := now.Unix() / 60
	switch minute - o.minute {
	case 0:
	case 1:
		o.steady++
	default:
		o.steady = 1
	}
	switch {
	case shown:
	case v.Errors > o.volume.Errors:
		o.unseen = view.UnseenErrors
	case !o.last.IsZero() && now.Sub(o.last) >= quietTime:
		o.unseen = max(o.unseen, view.UnseenLines)
	}
	o.volume, o.last, o.minute = v, now, minute
}

// minutesSilent returns the whole minutes for which a program that used to write has been silent; 0 if it is not silent.
func (o *output) minutesSilent(now time.Time) int {
	since := now.Sub(o.last)
	if o.steady >= steadyMinutes && since >= usualTime {
		o.steady = 0
	}
	if o.steady < steadyMinutes || since < silentTime {
		return 0
	}
	return int(since / time.Minute)
}

// changes returns the time at which the silence begins, or is a minute longer; zero for never.
func (o *output) changes() time.Time {
	switch {
	case o.steady < steadyMinutes:
		return time.Time{}
	case o.silent == 0:
		return o.last.Add(silentTime)
	}
	return o.last.Add(time.Duration(o.silent+1) * time.Minute)
}

// annotate marks the rows of programs that have fallen silent. Silence means something only while the program should run, and
// from the end of its last update on.
func (a *activity) annotate(rows []view.Row) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range rows {
		r := &rows[i]
		o := a.outputs[r.Name]
		if o == nil {
			continue
		}
		if r.Status != view.Well && r.Status != view.Warning || r.Changed.After(o.last) {
			o.steady, o.silent = 0, 0
		}
		r.Silent = time.Duration(o.silent) * time.Minute
	}
}

// see notes the resources that the user looks at.
func (a *activity) see(names []model.ManifestName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shown = names
	for _, name := range names {
		if o := a.outputs[name]; o != nil {
			o.unseen = view.UnseenNone
		}
	}
}

// unseen returns the part of a resource's log that the user has not seen.
func (a *activity) unseen(name model.ManifestName) view.Unseen {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := a.outputs[name]; o != nil {
		return o.unseen
	}
	return view.UnseenNone
}
