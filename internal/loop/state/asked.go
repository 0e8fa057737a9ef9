package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Asked holds the requests for a build other than changed files, each as the time of the request. A time is zero if there was no
// such request since the last build.
type Asked struct {
	// Declared is the time at which the manifest changed in a way that needs a build.
	Declared time.Time
	// Triggered is the time of the user's request for a build, and Rebuild of a request for a build from scratch.
	Triggered time.Time
	Rebuild   time.Time
	// Restore is the time of the user's request to apply the objects again as they are declared.
	Restore time.Time
	// Keep is the time at which hone noticed that others had changed objects that it keeps as they are declared.
	Keep time.Time
	// Confirmed is the time at which the user agreed to the next update, in a session that asks. It is no request by itself.
	Confirmed time.Time
	// By is the name of the token with which Triggered was requested, and ConfirmedBy of the one for Confirmed; empty for the owner.
	By, ConfirmedBy string
	// Adopt is the time at which the user let a build take over objects of others, always with Triggered or Restore.
	Adopt time.Time
	// Known is the time at which the user asked for the verdict of a test, which an earlier run may have given, always with Triggered.
	Known time.Time
	// Broken is the time at which an update in place that had fallen behind failed, so that only a new image helps.
	Broken time.Time
	// Retry is the time at which the retry of a build that failed for an external cause became due.
	Retry time.Time
}

// RetryDue reports that it is time to retry a build that failed for an external cause.
type RetryDue struct {
	Resource model.ManifestName
	Serial   int
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a RetryDue) {
		d.Update(string(a.Resource), func(u Update) Update {
			if u.Serial == a.Serial && !u.RetryAt.IsZero() {
				u.RetryAt, u.Retry = time.Time{}, d.Now()
			}
			return u
		})
	})
}

// answered clears the requests that are covered by a build that began at the given time.
func (a *Asked) answered(began time.Time) {
	for _, at := range []*time.Time{&a.Declared, &a.Triggered, &a.Rebuild, &a.Restore, &a.Keep, &a.Confirmed, &a.Adopt, &a.Known, &a.Broken, &a.Retry} {
		if !at.After(began) {
			*at = time.Time{}
		}
	}
	if a.Triggered.IsZero() {
		a.By = ""
	}
	if a.Confirmed.IsZero() {
		a.ConfirmedBy = ""
	}
}

// Outage describes builds that failed for an external cause that may pass.
type Outage struct {
	// RetryAt is the time of the next retry; zero if there is none. Outages counts the builds in a row that failed this way.
	RetryAt time.Time
	Outages int
}

// ended records the end of a build at the given time.
func (o *Outage) ended(passing bool, at time.Time) {
	if !passing {
		o.Outages = 0
		return
	}
	o.Outages++
	o.RetryAt = at.Add(RetryPause(o.Outages))
}

// RetryPause is the pause before a build is retried after the nth failure in a row for an external cause: 2 s, then twice
// as long each time, up to a minute.
func RetryPause(n int) time.Duration {
	return min(2*time.Second<<min(max(n-1, 0), 5), time.Minute)
}
