package buildcontroller

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// completed returns the action for the end of a build. A build that ended because the cluster or the engine does not answer
// counts as cancelled: it is repeated once that answers. The error of a build that was cancelled otherwise is dropped.
func (s *Subscriber) completed(ctx context.Context, req buildanddeploy.Request, b *build, r buildanddeploy.Result, err error, log *updateLog) state.BuildCompleted {
	done := state.BuildCompleted{Resource: req.Manifest.Name, Cluster: req.Manifest.Cluster(), Serial: b.serial, At: s.now(), Mode: r.Mode, FellBack: r.FellBack, Touched: r.Touched,
		Steps: r.Steps, LayersAhead: r.LayersAhead, Images: r.Images, Deployed: r.Deployed, Applied: r.Applied, Verdict: r.Verdict, Copies: r.Copies, Left: r.Left, Synced: r.Synced, Until: r.Until, Added: r.Added,
		Containers: r.Containers, Warnings: int(log.warnings.Load())}
	if len(r.Synced) == 0 {
		done.InPlaceBroken = r.FellBack // otherwise another way of updating in place succeeded
	}
	if r.FellBack != "" && r.Deployed {
		done.Synced = append(done.Synced, initialSyncs(req)...)
	}
	if r.Copies && cmp.Or(r.FellBack, req.FellBack) != "" { // their pods end, or have the files by the command
		for _, l := range req.Lacking {
			done.Stuck = append(done.Stuck, l.ID)
		}
	}
	log.updated(r.Containers)
	var away *buildanddeploy.Away
	var gone *buildanddeploy.Gone
	_, explained := problem.Of(err)
	needsEngine := !req.InPlace && req.Manifest.NeedsEngine()
	switch {
	case err == nil && (b.basis == nil || ctx.Err() == nil):
	case ctx.Err() == nil && errors.As(err, &away):
		done.Cancelled, done.ClusterErr = true, problem.Text(err)
		logstore.Infof(log, "%v. The update continues when it does", err)
	case ctx.Err() == nil && errors.As(err, &gone) && !explained: // what replaces them gets the change
		done.Cancelled, done.Stuck = len(r.Synced)+len(r.Behind) == 0, stuck(req, r, err, b.underway.Part)
		logstore.Infof(log, "Interrupted: %v", gone)
	case ctx.Err() == nil && docker.IsUnreachable(err) && needsEngine:
		done.Cancelled, done.EngineErr = true, problem.Text(err)
		logstore.Infof(log, "%s\nThe update continues when it answers", done.EngineErr)
	case b.basis != nil && ctx.Err() != nil:
		done.Cancelled, done.Verdict = true, nil
		logstore.Infof(log, "No verdict: something that it depends on has changed, or the test has")
	case ctx.Err() != nil: // an error that only reports the cancellation would be retried without end
		done.Cancelled = true
		logstore.Infof(log, "Build cancelled")
	default:
		why := state.ProblemOf(err)
		done.Err, done.Problem, done.Stuck = problem.Text(err), &why, stuck(req, r, err, b.underway.Part)
		logstore.Flush(log)
		done.Output = s.output(req.Manifest.Name, b.span, log)
		logstore.Errorf(log, "Build Failed: %s", done.Err)
		done.Passing = buildanddeploy.IsPassing(err)
	}
	logstore.Flush(log)
	return done
}

// shownOutput is the most lines of a failed build's log that its record repeats, and longestLine the most characters of each.
const (
	shownOutput = 20
	longestLine = 500
)

// output returns the last lines of a build's log, after the last command or step that hone announced. The log has no secrets
// in it.
func (s *Subscriber) output(name model.ManifestName, span string, log *updateLog) []string {
	headline := log.headline()
	var out []string
	for _, l := range s.logs.Tail(logstore.Filter{Resources: []model.ManifestName{name}, Span: span, MinLevel: logstore.LevelInfo}, shownOutput) {
		text := strings.TrimRight(l.Text, " \r\n")
		if logline.Announces(text) || strings.TrimSpace(text) == headline {
			out = nil
			continue
		}
		out = append(out, words.ClipChars(text, longestLine))
	}
	return out
}

// stuck returns the containers that could not be updated in place and for which no other way would succeed, or may be tried yet: they are
// tried again with the next change, or are gone.
func stuck(req buildanddeploy.Request, r buildanddeploy.Result, err error, part bool) []string {
	if !part && liveupdate.Classify(err) != liveupdate.Blocked && !errors.As(err, new(*buildanddeploy.Gone)) {
		return nil
	}
	behind := func(id string) bool {
		return slices.ContainsFunc(r.Behind, func(s *buildanddeploy.Lane) bool { return s.Container.ID == id })
	}
	var ids []string
	for _, c := range req.Containers {
		if !slices.Contains(r.Synced, c.ID) && !behind(c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// initialSyncs returns the containers that should have got an initial sync. A container that has survived the deploy made
// instead counts as synced: the initial sync is not tried again and again.
func initialSyncs(req buildanddeploy.Request) []string {
	var ids []string
	for _, c := range req.Containers {
		if steps, _, _ := req.Manifest.LiveUpdateOf(c.Ref); steps.InitialSync && c.New {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
