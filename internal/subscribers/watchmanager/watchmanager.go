// Package watchmanager watches the files of all targets, of declared file watches and of the Tiltfile, and reports changes
// once they have settled.
package watchmanager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/model"
)

// Subscriber is the WatchManager. Run owns the process's one watcher, its settler, and the goroutines of both.
type Subscriber struct {
	options watch.Options
	on      bool
	working atomic.Pointer[parts] // nil unless Run runs
	// inPlace are the targets whose changes can be copied into running containers. Starting too early costs less there than
	// waiting each time.
	inPlace atomic.Pointer[map[model.TargetID]bool]
	// told is when the last changes were dispatched.
	told atomic.Pointer[time.Time]
}

// parts are the watcher and the settler of one Run.
type parts struct {
	watcher *watch.Watcher
	settler *watch.Settler
}

// New returns the subscriber. If on is false, it does not watch files, for sessions that end when everything is deployed.
func New(options watch.Options, on bool) *Subscriber { return &Subscriber{options: options, on: on} }

var _ store.Subscriber = (*Subscriber)(nil)

// configs is the target of the Tiltfile's own files.
var configs = model.TargetID{Type: model.TargetConfigs, Name: string(model.TiltfileName)}

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "WatchManager",
		Doc:       "Watches the files that targets, declared file watches and the Tiltfile depend on and reports settled changes.",
		Inputs:    store.Reads(state.Tiltfiles, state.Resources, state.FileWatches, state.ConfigMaps),
		Outputs:   store.Emits(state.FilesNoticed{}, state.FilesChanged{}, state.WatchReported{}),
		Externals: []string{"filesystem"},
		Stage:     store.StageWatch,
		Feedback:  "a change of a file does not alter what is watched until the Tiltfile is evaluated again",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if !s.on {
		<-ctx.Done()
		return nil
	}
	o := s.options
	o.OnProblems = func(all []*problem.Problem) { rt.Dispatch(reported(all)) }
	w, err := watch.New(o)
	if err != nil {
		return fmt.Errorf("start watching files: %w", err)
	}
	settler := watch.NewSettler(watch.SettlerOptions{LowLatency: s.isInPlace})
	s.working.Store(&parts{w, settler})
	defer s.working.Store(nil)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return ignoreCancel(ctx, w.Run(ctx, func(b watch.Batch) {
			rt.Dispatch(state.FilesNoticed(changed(b)))
			settler.Add(b)
		}))
	})
	g.Go(func() error {
		return ignoreCancel(ctx, settler.Run(ctx, func(b watch.Batch) {
			at := rt.Dispatch(changed(b))
			s.told.Store(&at)
		}))
	})
	g.Go(func() error { return s.follow(ctx, rt, w) })
	return g.Wait()
}

// reported describes the problems of the watcher.
func reported(all []*problem.Problem) state.WatchReported {
	var texts, unseen []string
	for _, p := range all {
		texts = append(texts, problem.Text(p))
		if !watch.IsLimit(p) {
			unseen = append(unseen, problem.Text(p))
		}
	}
	return state.WatchReported{Problem: strings.Join(texts, "\n"), Unseen: strings.Join(unseen, "\n")}
}

// Settled waits until file changes made before the call are known to the store, or ctx is done. It may be called by any goroutine.
func (s *Subscriber) Settled(ctx context.Context) {
	if _, err := s.settle(ctx, func(*watch.Settler) {}); err != nil {
		<-ctx.Done()
	}
}

// Settle waits until file changes made before the call have been dispatched, and returns when the last ones were; zero if none were
// yet. The caller has made all changes that belong together, so that these do not have to come to rest. It fails when ctx ends.
// It may be called by any goroutine.
func (s *Subscriber) Settle(ctx context.Context) (told time.Time, err error) {
	return s.settle(ctx, (*watch.Settler).Complete)
}

// settle waits as Settled and Settle do. noticed is called once the settler has all changes.
func (s *Subscriber) settle(ctx context.Context, noticed func(*watch.Settler)) (told time.Time, err error) {
	p := s.working.Load()
	if p == nil {
		return told, nil // nothing is watched, so no change is pending
	}
	if err := p.watcher.Sync(ctx); err != nil {
		return told, err
	}
	noticed(p.settler)
	if err := p.settler.Sync(ctx); err != nil {
		return told, err
	}
	if at := s.told.Load(); at != nil {
		told = *at
	}
	return told, nil
}

// follow keeps the watcher's set in step with the declarations.
func (s *Subscriber) follow(ctx context.Context, rt *store.Runtime, w *watch.Watcher) error {
	compared := 0 // the last evaluation of the Tiltfile whose files were compared with their contents at that time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		}
		v := rt.View()
		s.noteInPlace(v)
		specs, ignores := desired(v)
		if err := w.Set(specs, ignores); err != nil {
			if ctx.Err() == nil {
				rt.Dispatch(state.WatchReported{Problem: problem.Text(err), Unseen: problem.Text(err)})
			}
			continue
		}
		if t := state.TheTiltfile(v); t.Runs > compared && !t.Running() {
			compared = t.Runs
			if late := changedSince(t.Read); len(late) > 0 {
				rt.Dispatch(state.FilesChanged{At: time.Now(), Made: newestOf(late), Changes: []state.FileChange{{Target: configs, Paths: late}}})
			}
		}
		rt.Succeeded()
	}
}

// changedSince returns the files that differ from the contents that an evaluation of the Tiltfile read, sorted. The watcher
// takes the state that it finds as the initial one, so it does not report files that were saved after they were read and
// before they were watched.
func changedSince(read map[string]uint64) (changed []string) {
	for path, was := range read {
		now, err := contentHash(path)
		if err == nil && now != was {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}

// newestOf returns when the newest of the files was changed; zero if none of them exists.
func newestOf(paths []string) (newest time.Time) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest
}

// contentHash returns the hash of a file's content as model.Tiltfile.Read has it, and an error if the path is not a regular
// file.
func contentHash(path string) (uint64, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err == nil && !info.Mode().IsRegular():
		err = fs.ErrInvalid
	}
	if err != nil {
		return 0, err
	}
	data, err := os.ReadFile(path)
	return xxh3.Hash(data), err
}

func (s *Subscriber) isInPlace(id model.TargetID) bool {
	ids := s.inPlace.Load()
	return ids != nil && (*ids)[id]
}

func (s *Subscriber) noteInPlace(v store.View) {
	ids := map[model.TargetID]bool{}
	_, all := inPlace.In(v)
	for _, of := range all {
		for _, id := range of {
			ids[id] = true
		}
	}
	s.inPlace.Store(&ids)
}

// inPlace are the targets of each resource whose changes may go into its containers.
var inPlace = state.EachResource("targets that are updated in place", func(e *store.Entry[state.Resource]) (ids []model.TargetID) {
	m := &e.Value.Manifest
	if !m.HasLiveUpdate() {
		return nil
	}
	ids = append(ids, m.DeployID())
	for _, im := range m.Images { // including images on which an image with live update steps is based
		ids = append(ids, im.ID())
	}
	return ids
})

// watched are the paths to watch for each resource that is switched on.
var watched = state.EachOrdered("watched paths", func(e *store.Entry[state.Resource]) (specs []watch.Spec) {
	if e.Phase == store.TearingDown {
		return nil
	}
	// The inputs of a command of the user may be stamp files; an engine that builds an image looks at contents.
	add := func(id model.TargetID, w model.WatchSpec, touches bool) {
		if len(w.Paths) > 0 {
			specs = append(specs, watch.Spec{ID: id, WatchSpec: w, Touches: touches})
		}
	}
	m := &e.Value.Manifest
	for _, im := range m.Images {
		add(im.ID(), im.Watch, im.Custom != nil)
	}
	if m.Local != nil {
		add(m.DeployID(), m.Local.Watch, true)
	}
	if m.Compose != nil {
		add(m.DeployID(), m.Compose.Watch, false)
	}
	if d := m.CustomDeploy(); d != nil {
		add(m.DeployID(), d.Watch, true)
	}
	return specs
})

// desired returns the paths to watch: the Tiltfile's own files, each target's, once per target, and the files of the file
// watches that are on.
func desired(v store.View) ([]watch.Spec, []model.Ignore) {
	t := state.TheTiltfile(v)
	specs := []watch.Spec{{
		ID:        configs,
		WatchSpec: model.WatchSpec{Paths: t.ConfigFiles},
		Touches:   true,
	}}
	seen := map[model.TargetID]bool{}
	add := func(spec watch.Spec) {
		if len(spec.Paths) > 0 && !seen[spec.ID] {
			seen[spec.ID] = true
			specs = append(specs, spec)
		}
	}
	_, all := watched.In(v)
	for _, of := range all {
		for _, spec := range of {
			add(spec)
		}
	}
	for e := range state.FileWatches.In(v).Refs() {
		if !state.Off(v, e.Value.Disable) {
			add(watch.Spec{ID: e.Value.ID(), WatchSpec: e.Value.Watch})
		}
	}
	return specs, t.Ignores
}

func changed(b watch.Batch) state.FilesChanged {
	a := state.FilesChanged{At: b.At, Made: b.Made}
	for _, c := range b.Changes {
		a.Changes = append(a.Changes, state.FileChange{Target: c.ID, Paths: slices.Clone(c.Paths)})
	}
	return a
}

func ignoreCancel(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return nil //nolint:nilerr // the end of ctx is the ordinary end
	}
	return err
}
