package state

import (
	"slices"

	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TiltfileRun is an evaluation of the Tiltfile: how it began, or how it ended.
type TiltfileRun struct {
	// Reason is why it began, in the words of the log.
	Reason string
	// Took, Resources, Warnings and Err describe its end.
	Took                time.Duration
	Resources, Warnings int
	Err                 string
}

func init() {
	store.Follow(Events, Sessions, func(d *store.Draft[Event], was, is *store.Entry[Session]) {
		switch {
		case is == nil:
		case was == nil:
			happened(d, EventSessionStarted, "", is.Value)
		case was.Value.Ended == nil && is.Value.Ended != nil:
			happened(d, EventSessionEnded, "", is.Value)
		case !was.Value.Paused() && is.Value.Paused():
			happened(d, EventSessionPaused, "", is.Value)
		case was.Value.Paused() && !is.Value.Paused():
			happened(d, EventSessionResumed, "", is.Value)
		}
	})
	store.Follow(Events, Tiltfiles, func(d *store.Draft[Event], was, is *store.Entry[Tiltfile]) {
		if was == nil || is == nil {
			return
		}
		before, now := was.Value, is.Value
		if now.Triggered.After(before.Triggered) {
			happened(d, EventTriggered, model.TiltfileName, nil)
		}
		if added := slices.Sorted(now.Changed.Since(before.Changed)); len(added) > 0 {
			happened(d, EventFilesChanged, model.TiltfileName, settledFiles(added))
		}
		switch {
		case now.Runs > before.Runs:
			happened(d, EventTiltfileStarted, model.TiltfileName, TiltfileRun{Reason: before.Reason()})
		case before.Running() && !now.Running() && !now.Evaluations[0].Overtaken:
			tiltfileEnded(d, now)
		}
	})
}

func tiltfileEnded(d *store.Draft[Event], t Tiltfile) {
	run := TiltfileRun{Took: t.FinishedAt.Sub(t.StartedAt), Warnings: len(t.Warnings), Err: t.Err}
	if t.Err != "" {
		happened(d, EventTiltfileFailed, model.TiltfileName, run)
		happened(d, EventProblem, model.TiltfileName, ProblemText(t.Err))
		return
	}
	run.Resources = len(t.Result.Manifests)
	happened(d, EventTiltfileLoaded, model.TiltfileName, run)
}
