// Package syncletmanager keeps a synclet ready in every running container that can be updated in place, before the first
// change is made, and reports the state of each.
//
// # Concurrency
//
// Run owns no goroutine. The goroutines of the conversations belong to the pool; they report through actions, and share the
// record of logged messages under a lock.
package syncletmanager

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/synclet"
	"github.com/hone-dev/hone/pkg/model"
)

// Pool keeps the conversations.
type Pool interface {
	SetHomes(h map[string]synclet.Home)
	Keep(containers []model.ContainerRef)
	OnStatus(fn func(synclet.Status))
}

// Subscriber is the SyncletManager.
type Subscriber struct {
	pool Pool
	logs *logstore.Store

	mu sync.Mutex
	// ended holds, by container, the start number of the ended process that the log has reported; guarded by mu.
	ended map[string]uint64
	// said holds, by resource and name of a container, what was reported last; guarded by mu.
	said map[string]string
}

// New returns the subscriber; a nil pool keeps nothing ready.
func New(pool Pool, logs *logstore.Store) *Subscriber {
	return &Subscriber{pool: pool, logs: logs, ended: map[string]uint64{}, said: map[string]string{}}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "SyncletManager",
		Doc:       "Keeps a synclet ready in every running container that can be updated in place.",
		Inputs:    store.Reads(state.Sessions, state.Resources, state.Updates, state.Pods, state.Clusters, state.Engines, state.Tiltfiles),
		Outputs:   store.Emits(state.SyncletChanged{}, state.SyncletGone{}),
		Externals: []string{"kubernetes"},
		Stage:     store.StageController,
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.pool == nil {
		<-ctx.Done()
		return nil
	}
	s.pool.OnStatus(func(st synclet.Status) { s.report(rt, st) })
	kept := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			s.pool.Keep(nil)
			return nil
		case <-rt.Wake():
		}
		v := rt.View()
		s.pool.SetHomes(homes(v))
		containers := desired(v)
		s.pool.Keep(containers)
		now := map[string]bool{}
		for _, c := range containers {
			now[c.ID] = true
		}
		for id := range kept {
			if !now[id] {
				rt.Dispatch(state.SyncletGone{ID: id})
				s.forget(id)
			}
		}
		kept = now
		rt.Succeeded()
	}
}

// homes returns the clusters of the session.
func homes(v store.View) map[string]synclet.Home {
	tiltfile := state.TheTiltfile(v).Result
	out := map[string]synclet.Home{}
	for _, on := range append(slices.Clone(state.DeclaredClusters(v)), "") {
		out[on] = synclet.Home{Cluster: state.ClusterOn(v, on).Cluster, Registry: tiltfile.RegistryFor(on)}
	}
	return out
}

// desired returns the containers that can be updated in place, if the update mode allows the synclet. A session that ends
// when everything is deployed updates nothing.
func desired(v store.View) []model.ContainerRef {
	session := state.TheSession(v)
	mode := cmp.Or(session.UpdateMode, model.UpdateAuto)
	allowed := mode == model.UpdateAuto || mode == model.UpdateSynclet
	if !allowed || session.Command == state.CommandCI {
		return nil
	}
	pods := state.PodsByResource.In(v)
	updates := state.Updates.In(v)
	var out []model.ContainerRef
	for e := range state.Enabled(v) {
		m := e.Value.Manifest
		if e.Phase == store.TearingDown || !m.HasLiveUpdate() {
			continue
		}
		for _, c := range buildcontrol.Live(m, updates.Value(e.ID), pods[m.Name].Values()) {
			c.Arch = state.ArchOf(v, m)
			out = append(out, c)
		}
	}
	return out
}

// report dispatches the state of a synclet, and writes messages for the user to the log of its resource.
func (s *Subscriber) report(rt *store.Runtime, st synclet.Status) {
	c := st.Container
	row := state.Synclet{Resource: c.Resource, Namespace: c.Namespace, Pod: c.Pod, Container: c.Name, State: string(st.State),
		Way: string(st.Way), Supervised: st.Process.Starts > 0, Running: st.Process.Running,
		ExitCode: int(st.Process.Code), Starts: int(st.Process.Starts), Crashes: int(st.Process.Crashes),
		Again: time.Duration(st.Process.AgainNanos), Ending: st.Process.Ending}
	if st.Err != nil {
		row.Err = st.Err.Error()
	}
	if st.Passed != nil {
		row.Passed = st.Passed.Error()
	}
	rt.Dispatch(state.SyncletChanged{ID: c.ID, Synclet: row})
	what := string(c.Resource) + " " + c.Name
	log := s.logs.Logger(c.Resource, "synclet:"+c.ID, logstore.SourceBuild)
	switch {
	case st.State == synclet.Failed:
		if !s.news(what, gist(st.Err)) {
			break
		}
		logstore.Infof(log, "Updating %s in place takes longer: %s", c.Name, problem.Text(st.Err))
	case st.State == synclet.Broken && (errors.Is(st.Err, synclet.ErrSilent) || errors.Is(st.Err, synclet.ErrKilled)):
		s.news(what, "lost")
		logstore.Warnf(log, "WARNING: lost the connection to %s of pod %s, reconnecting: %v", c.Name, c.Pod, st.Err)
	case st.State == synclet.Ready && !row.Supervised:
		if !s.news(what, "ready") {
			break
		}
		logstore.Infof(log, "Ready to update %s in place", c.Name)
		if st.Passed != nil {
			logstore.Infof(log, "Ways that failed before: %s", row.Passed)
		}
	case row.Supervised:
		if st.State == synclet.Ready {
			s.news(what, "ready")
		}
		s.tellProcess(log, c.ID, row)
	}
	logstore.Flush(log)
}

// tellProcess reports once that a process has ended, and once that it runs again.
func (s *Subscriber) tellProcess(log logstore.Logger, container string, row state.Synclet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	start, told := s.ended[container]
	switch {
	case row.Running && told:
		delete(s.ended, container)
		logstore.Infof(log, "The process in %s runs again", row.Container)
	case !row.Running && (!told || start != uint64(row.Starts)):
		s.ended[container] = uint64(row.Starts)
		text := row.Ended()
		logstore.Errorf(log, "%s", strings.ToUpper(text[:1])+text[1:])
	}
}

func (s *Subscriber) forget(container string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ended, container)
}

// gist returns the part of an error that does not depend on the pod.
func gist(err error) string {
	if p, ok := problem.Of(err); ok {
		return p.Summary
	}
	return err.Error()
}

// news records whether and why not the synclet gets into the containers of a name, and reports whether that is new: the pods of each
// new image, and each restart of a container, meet the same.
func (s *Subscriber) news(containers, is string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.said[containers]
	s.said[containers] = is
	return was != is
}
