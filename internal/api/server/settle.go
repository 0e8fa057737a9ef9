package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/rawfile"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/settle"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// mostWithin is the longest time for which a request may wait for files to be live.
	mostWithin = 60 * takeTimeout
	// settleShare is the least number of times that the session rests for as long as a judgement took, so that a judgement of many
	// resources leaves the processor to the updates that it waits for.
	settleShare = 4
	// answerTimeout limits the wait for the answers of containers, and answerPause is the time until they are asked again.
	answerTimeout, answerPause = takeTimeout / 10, takeTimeout / 200
	// explaining is the number of lines of a failure that are sent, and explained the number among which they are chosen.
	explaining, explained = 12, 200
	// knownErrors is the number of earlier error lines of a resource that tell whether one is new.
	knownErrors = 500
)

// SettleBy sets what waits until changes of files that were made before the call have been dispatched, and returns when the last
// ones were. Call it before Run.
func (s *Subscriber) SettleBy(settled func(context.Context) (time.Time, error)) *Subscriber {
	s.settled = settled
	return s
}

// AnswerBy sets the function that asks a container, by its id, whether the run that was updated in place goes on, before ctx is done; known
// is false if nothing in it can tell. One that is synced has a synclet, which has to answer. The function is called by several goroutines.
// Call it before Run.
func (s *Subscriber) AnswerBy(goesOn func(ctx context.Context, id string, synced bool) (goesOn, known bool)) *Subscriber {
	s.goesOn = goesOn
	return s
}

// Unwatched finds inputs that nothing watches, as settle.Question has them.
type Unwatched struct {
	Changed func(m *model.Manifest, ignores []model.Ignore, built func(model.TargetID) (began, ended time.Time)) []string
	Since   func(files []string, since time.Time) []string
}

// FindUnwatchedBy sets what finds inputs that nothing watches. Call it before Run.
func (s *Subscriber) FindUnwatchedBy(u Unwatched) *Subscriber {
	s.unwatched = u
	return s
}

// settle handles POST /api/settle.
func (s *Subscriber) settle(src *source, w http.ResponseWriter, r *http.Request) {
	var req struct{}
	if !decode(w, r, &req) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), takeTimeout)
	defer cancel()
	respond(w, api.Settled{Known: s.known(ctx, src) == nil})
}

// fence waits until the state has the changes of files that were made before the call. A request that does not wait for more gets the time for
// that, too.
func (s *Subscriber) fence(ctx context.Context, src *source) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), max(time.Until(deadline), takeTimeout))
		defer cancel()
	}
	return s.known(ctx, src)
}

// known waits until the state has the changes of files that were made before the call.
func (s *Subscriber) known(ctx context.Context, src *source) error {
	if s.settled == nil {
		return nil
	}
	at, err := s.settled(ctx)
	if err == nil {
		_, err = src.writer.Reduced(ctx, at)
	}
	return err
}

// settleReport handles POST /api/settle/report.
func (s *Subscriber) settleReport(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.SettleRequest
	if !decode(w, r, &req) {
		return
	}
	q, err := s.settleQuestion(src.View(), req)
	if err != nil {
		failBy(w, codeOf(err), err)
		return
	}
	q.Names = settle.WithCommands(src.View(), q.Names)
	ctx, cancel := context.WithTimeout(r.Context(), min(req.WithinMs.Duration(), mostWithin))
	defer cancel()
	rep, err := s.judged(ctx, src, q)
	switch {
	case r.Context().Err() != nil:
	case err != nil:
		failBy(w, http.StatusInternalServerError, err)
	default:
		respondRedacted(src, w, rep)
	}
}

// respondRedacted sends a document without the secrets of the session.
func respondRedacted(src *source, w http.ResponseWriter, doc any) {
	text, err := json.Marshal(doc)
	if err != nil {
		failBy(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(src.Redactor(src.View()).JSON(text))
}

// settling is a question with the line of a log that it waits for.
type settling struct {
	settle.Question
	line *logquery.Query
}

// settleQuestion checks a request.
func (s *Subscriber) settleQuestion(v store.View, req api.SettleRequest) (q settling, err error) {
	q.Window = settle.Window
	if w := req.WindowMs; w != nil {
		q.Window = w.Duration()
	}
	if q.Window < 0 || req.WithinMs < 0 {
		return q, &intent.Refusal{Reason: intent.Invalid, Err: errors.New("windowMs and withinMs are not negative")}
	}
	var all []string
	for _, t := range intent.Switchable(v) {
		all = append(all, t.Name)
	}
	for _, n := range req.Resources {
		if !slices.Contains(all, n) {
			return q, intent.NoResource(v, n, all)
		}
		q.Names = append(q.Names, model.ManifestName(n))
	}
	if req.Line != "" {
		line, err := logquery.Pattern(req.Line)
		if err != nil {
			return q, &intent.Refusal{Reason: intent.Invalid, Err: fmt.Errorf("line: %w", err)}
		}
		q.line = &line
	}
	if s.options.Logs != nil {
		q.Errors = s.newErrors
	}
	q.Unseen, q.Changed = s.unwatched.Changed, s.unwatched.Since
	return q, nil
}

// worked is the work of a session that may write files, by the versions of its tables.
type worked struct{ updates, tiltfiles uint64 }

func workedIn(v store.View) worked {
	return worked{v.Version(state.Updates.Name()), v.Version(state.Tiltfiles.Name())}
}

// judged waits until the answer is certain, or ctx is done, and returns it. A command that has ended may have written files whose changes are
// still on their way: after any work, saves count as live only if the changes of files are asked for once more.
func (s *Subscriber) judged(ctx context.Context, src *source, q settling) (rep api.SettleReport, err error) {
	logged := (<-chan struct{})(nil)
	if q.line != nil && s.options.Logs != nil {
		changed, cancel := s.options.Logs.Subscribe()
		defer cancel()
		logged = changed
	}
	asked := workedIn(src.View())
	fence := s.fence(ctx, src)
	for {
		changed, began := src.Changed(), time.Now()
		v, a := src.View(), settle.Answer{}
		if !s.work(context.WithoutCancel(ctx), func() { a = s.answer(v, q, fence) }) {
			return rep, ctx.Err()
		}
		if now := workedIn(v); a.Report.Result == api.SettleLive && now != asked {
			asked, fence = now, s.fence(ctx, src)
			continue
		}
		if a.Report.Result == api.SettleLive {
			s.askContainers(ctx, &a)
		}
		a.Report.ExitCode = a.Report.Result.ExitCode()
		if a.Report.Result != api.SettleWaiting || ctx.Err() != nil {
			return a.Report, nil
		}
		rest := time.After(settleShare * time.Since(began))
		var again <-chan time.Time
		if !a.Again.IsZero() {
			again = time.After(time.Until(a.Again))
		}
		select {
		case <-changed:
		case <-logged:
		case <-again:
		case <-ctx.Done():
			continue
		}
		select {
		case <-rest:
		case <-ctx.Done():
		}
	}
}

// askContainers makes an answer certain: each container that has files of updates in place is asked whether its run goes on, all at once. A
// request that does not wait asks, too.
func (s *Subscriber) askContainers(ctx context.Context, a *settle.Answer) {
	if s.goesOn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	var ended, mute atomic.Int32
	var asked sync.WaitGroup
	for _, id := range a.Overlaid {
		asked.Go(func() {
			switch goesOn, known := s.goesOn(ctx, id, slices.Contains(a.Synced, id)); {
			case !known:
				mute.Add(1)
			case !goesOn:
				ended.Add(1)
			}
		})
	}
	asked.Wait()
	rep := &a.Report
	switch {
	case ended.Load() > 0:
		a.Again = time.Now().Add(answerPause)
		rep.Result, rep.Text = api.SettleWaiting, "a container does not answer"
	case mute.Load() > 0:
		rep.Result, rep.Text = api.SettleUnknown, "a container was updated in place, and has neither a synclet nor cat: it cannot tell whether it was started again since, without the files"
	}
}

// answer judges a snapshot, and adds the parts that the log knows.
func (s *Subscriber) answer(v store.View, q settling, fence error) settle.Answer {
	a := settle.Judge(v, q.Question, s.now())
	rep := &a.Report
	switch {
	case fence != nil && rep.Result == api.SettleLive:
		rep.Result, rep.Text = api.SettleWaiting, "files keep changing"
	case rep.Result == api.SettleLive && q.line != nil:
		if rep.Line = s.lineSince(q, rep.SavedAt); rep.Line == nil {
			rep.Result, rep.Text = api.SettleWaiting, "no resource has logged the line since the save"
		}
	}
	if s.options.Logs == nil {
		return a
	}
	if rep.Problem != nil {
		rep.Place = locate(v, model.TiltfileName, append([]string{rep.Problem.Summary}, s.lastLines(a.Spans[model.TiltfileName], model.TiltfileName, time.Time{})...))
	}
	for i := range rep.Resources {
		if r := &rep.Resources[i]; r.Problem != nil {
			s.explain(v, r, a.Spans[model.ManifestName(r.Name)])
		}
	}
	return a
}

// explain adds the lines that tell best why a resource fails, and the place that they name.
func (s *Subscriber) explain(v store.View, r *api.SettledResource, span string) {
	name := model.ManifestName(r.Name)
	all := r.Lines
	if len(all) == 0 {
		all = s.lastLines(span, name, r.SavedAt)
	}
	lines := make([]string, 0, explaining)
	for _, i := range logline.Essential(all, explaining) {
		if l := logline.Plain(all[i]); !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	r.Lines = lines
	r.Place = locate(v, name, append(lines, r.Problem.Summary, r.Problem.Cause, r.Problem.Detail))
}

// lastLines returns the newest lines of a log span: those since a time, if there are any; of an update only the output of its last step.
func (s *Subscriber) lastLines(span string, name model.ManifestName, since time.Time) []string {
	if span == "" {
		return nil
	}
	f := logstore.Filter{Resources: []model.ManifestName{name}, Span: span, MinLevel: logstore.LevelInfo, Since: since}
	found := s.options.Logs.Tail(f, explained)
	if len(found) == 0 {
		f.Since = time.Time{}
		found = s.options.Logs.Tail(f, explained)
	}
	if len(found) > 0 && found[0].Source == logstore.SourceBuild {
		from, to := logline.OutputIn(len(found), func(i int) string { return found[i].Text })
		found = found[from:to]
	}
	lines := make([]string, len(found))
	for i, l := range found {
		lines[i] = l.Text
	}
	return lines
}

// locate returns the first place that some text names, and that is in the source tree; nil if there is none.
func locate(v store.View, name model.ManifestName, texts []string) *api.SourcePlace {
	file, at, ok := status.FirstPlace(v, name, texts, rawfile.IsRegular)
	if !ok {
		return nil
	}
	return &api.SourcePlace{File: filepath.ToSlash(file), Line: at.Line, Column: at.Column}
}

// lineSince returns the first line that a question asks for; nil if there is none.
func (s *Subscriber) lineSince(q settling, since time.Time) *api.LogLine {
	if s.options.Logs == nil {
		return nil
	}
	f := logstore.Filter{Resources: q.Names, Sources: []logstore.Source{logstore.SourceRuntime}, Since: since}
	q.line.Narrow(&f, s.now())
	if found := s.options.Logs.ReadAfter(f, 0, 1); len(found) > 0 {
		l := snapshot.Line(found[0])
		return &l
	}
	return nil
}

// newErrors returns the lines at error level that a resource has logged between two times, and that no earlier line of it is like.
func (s *Subscriber) newErrors(name model.ManifestName, from, to time.Time) []logstore.Line {
	f := logstore.Filter{Resources: []model.ManifestName{name}, Sources: []logstore.Source{logstore.SourceRuntime}, MinLevel: logstore.LevelError}
	since := f
	since.Since = from
	found := slices.DeleteFunc(s.options.Logs.ReadAfter(since, 0, explained), func(l logstore.Line) bool { return l.Time.After(to) })
	if len(found) == 0 {
		return nil
	}
	known := map[uint64]bool{}
	for _, l := range s.options.Logs.ReadBefore(f, found[0].Seq, knownErrors) {
		known[logline.Pattern(l.Text)] = true
	}
	return slices.DeleteFunc(found, func(l logstore.Line) bool { return known[logline.Pattern(l.Text)] })
}
