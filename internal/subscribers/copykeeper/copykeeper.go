// Package copykeeper records for the project's next session which files were copied into containers. Without a record, files that
// were changed, changed back or deleted while hone was stopped would stay as they are in containers that outlive the session: their
// image is the same, or does not contain them.
//
// # Concurrency
//
// Run owns no goroutine.
package copykeeper

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/model"
)

// lag is the time that a new time of a container may wait to be recorded: an older one only means that more files are compared. A
// new file does not wait.
const lag = 2 * time.Second

// Subscriber is the CopyKeeper.
type Subscriber struct {
	path string
	log  *slog.Logger
}

// New returns the subscriber, which keeps its record in the file at path; it does nothing if path is empty.
func New(path string, log *slog.Logger) *Subscriber { return &Subscriber{path, log} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (*Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "CopyKeeper",
		Doc:       "Records which files were copied into containers, so that the next session compares them with those of this machine.",
		Inputs:    store.Reads(state.Sessions, state.Tiltfiles, state.Resources, state.Updates, state.Pods),
		Outputs:   store.Emits(state.ContainersRecognized{}, state.ContainersRecalled{}),
		Externals: []string{"filesystem"},
		Stage:     store.StageController,
		Feedback:  "a container is recognized once, and a resource recalled once",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.path == "" {
		<-ctx.Done()
		return nil
	}
	k := newKeeper(s.path)
	later := time.NewTimer(time.Hour)
	later.Stop()
	defer later.Stop()
	write := func() {
		if err := k.record.write(s.path, time.Now()); err != nil {
			s.log.Warn("what was copied into containers is not recorded", "err", err)
		}
		k.due = never
		later.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			if k.due != never {
				write()
			}
			return nil
		case <-rt.Wake():
			for _, a := range k.look(rt.View()) {
				rt.Dispatch(a)
			}
		case <-later.C:
			k.due = atOnce
		}
		switch k.due {
		case atOnce:
			write()
		case soon:
			k.due = waiting
			later.Reset(lag)
		case never, waiting:
		}
		rt.Succeeded()
	}
}

// due is the urgency of writing the record.
type due int

const (
	never due = iota
	soon
	waiting // for the timer
	atOnce
)

// keeper compares snapshots with the record.
type keeper struct {
	record record
	due    due
	// recalled are the resources whose containers have been reported, before their first update, which decides about their files.
	recalled map[model.ManifestName]bool
	// owed has an entry for each container that this session has seen. Containers of earlier sessions have been reported, with the
	// files that they get now.
	owed map[string][]string
	// synced is, by container, the time up to which its copies are in the record.
	synced map[string]time.Time
}

func newKeeper(path string) keeper {
	return keeper{record: load(path), recalled: map[model.ManifestName]bool{}, owed: map[string][]string{}, synced: map[string]time.Time{}}
}

// look records the files that have been copied since the last look, and returns news about containers of earlier sessions.
func (k *keeper) look(v store.View) (out []store.Action) {
	ignores := state.TheTiltfile(v).Ignores
	for e := range state.Enabled(v) {
		m, name := e.Value.Manifest, model.ManifestName(e.ID)
		if !m.HasLiveUpdate() {
			continue
		}
		u := state.Updates.In(v).Value(e.ID)
		if has := k.record.has(name); !k.recalled[name] && len(has) > 0 {
			out = append(out, state.ContainersRecalled{Resource: name, Has: has})
		}
		k.recalled[name] = true
		owed, copied := map[string][]string{}, []string(nil)
		pods := state.PodsOf(v, name)
		lanes := buildcontrol.LanesOf(&m, &u, pods)
		for _, c := range buildcontrol.Live(m, u, pods) {
			if _, seen := k.owed[c.ID]; !seen {
				before, known := k.record.Containers[c.ID]
				if !known {
					k.note(name, c.ID, nil, cmp.Or(u.Running[c.Ref].StartedAt, u.AppliedAt)) // later changes are not in its image
				} else if files := unknown(u, before.owed(m, c, ignores)); len(files) > 0 {
					owed[c.ID] = files
				}
				if len(before.Files) > 0 {
					copied = append(copied, c.ID)
				}
				k.owed[c.ID] = owed[c.ID]
			}
			at, was := u.Lanes[c.ID].Has, k.synced[c.ID]
			if at.Equal(was) {
				continue
			}
			files := slices.Concat(k.owed[c.ID], lanes.Had(c.ID, was))
			if steps, _, _ := m.LiveUpdateOf(c.Ref); steps.InitialSync && was.IsZero() {
				files = append(files, synced(m, c, ignores)...)
			}
			k.note(name, c.ID, files, at)
			k.synced[c.ID] = at
		}
		if len(owed)+len(copied) > 0 {
			out = append(out, state.ContainersRecognized{Resource: name, Owed: owed, Copied: copied})
		}
	}
	k.forget(v)
	return out
}

// note records that a container has had files, and was up to date at a time.
func (k *keeper) note(resource model.ManifestName, id string, files []string, at time.Time) {
	c := k.record.Containers[id]
	k.due = max(k.due, soon)
	for _, f := range files {
		if i, known := slices.BinarySearch(c.Files, f); !known {
			c.Files = slices.Insert(c.Files, i, f)
			k.due = atOnce
		}
	}
	c.Resource, c.At = resource, at
	k.record.Containers[id] = c
}

// forget removes the containers of this session that are gone.
func (k *keeper) forget(v store.View) {
	for id := range k.owed {
		there := func(p state.Pod) bool {
			return slices.ContainsFunc(p.AllContainers(), func(c model.Container) bool { return c.ID == id })
		}
		if !slices.ContainsFunc(state.PodsOf(v, k.record.Containers[id].Resource), there) {
			delete(k.owed, id)
			delete(k.synced, id)
			delete(k.record.Containers, id)
			k.due = max(k.due, soon)
		}
	}
}

// unknown returns the files whose changes the session does not know: it compares the others with the time of each container.
func unknown(u state.Update, files []string) []string {
	return slices.DeleteFunc(files, func(f string) bool {
		for _, changes := range u.Changes {
			if _, known := changes.At(f); known {
				return true
			}
		}
		return false
	})
}

// owed returns the files of a container that may differ from the files of this machine: those that have changed, or are gone, since it
// was up to date.
func (c container) owed(m model.Manifest, ref model.ContainerRef, ignores []model.Ignore) (files []string) {
	for _, f := range c.Files {
		if watch.ChangedOrGoneAt(f).After(c.At) {
			files = append(files, f)
		}
	}
	for _, f := range synced(m, ref, ignores) {
		if watch.ChangedAt(f).After(c.At) {
			files = append(files, f)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// synced returns all files of this machine that belong into a container.
func synced(m model.Manifest, ref model.ContainerRef, ignores []model.Ignore) (files []string) {
	spec, own, _ := m.LiveUpdateOf(ref.Ref)
	matcher, err := watch.NewMatcher(slices.Concat(ignores, own))
	if err != nil {
		return nil
	}
	all, err := liveupdate.InitialPlan(liveupdate.Input{Spec: spec, Ignore: matcher.Matches})
	if err != nil {
		return nil
	}
	for _, f := range all.Copies {
		if !f.IsDir {
			files = append(files, f.Local)
		}
	}
	return files
}
