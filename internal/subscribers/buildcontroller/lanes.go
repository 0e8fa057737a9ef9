package buildcontroller

import (
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// followed are the builds that are over for the store but still run in containers.
type followed map[model.ManifestName][]*build

// sweep drops the builds that have ended everywhere, and cancels updates that are no longer wanted: updates of a resource
// that is gone, or of containers that no longer belong to the resource.
func (f followed) sweep(v store.View) {
	for name, builds := range f {
		var left []*build
		for _, b := range builds {
			select {
			case <-b.gone:
			default:
				left = append(left, b)
			}
		}
		if f[name] = left; len(left) == 0 {
			delete(f, name)
			continue
		}
		e := state.Resources.In(v).Ref(string(name))
		if e == nil || e.Phase == store.TearingDown {
			for _, b := range left {
				b.cancel()
			}
			continue
		}
		wanted := map[string]bool{}
		for _, c := range buildcontrol.Live(e.Value.Manifest, state.Updates.In(v).Value(string(name)), state.PodsOf(v, name)) {
			wanted[c.ID] = true
		}
		for _, b := range left {
			for _, s := range b.behind {
				if !wanted[s.Container.ID] {
					s.Cancel()
				}
			}
		}
	}
}

// follow waits for the updates that still run after a build, and reports the end of each.
func (s *Subscriber) follow(rt *store.Runtime, name model.ManifestName, b *build, log logstore.Logger) {
	var all sync.WaitGroup
	for _, lane := range b.behind {
		all.Go(func() {
			update, err := lane.Wait()
			rt.Dispatch(ended(name, b.serial, update, err, log))
		})
	}
	all.Wait()
}

// ended returns the consequences of the end of an update that was behind: a failed command of the user is shown; an update
// that did not fit, or that leaves the containers differing, needs a new image; after any other failure the update is tried
// once more and waited for, so that a second failure leads to the next way.
func ended(name model.ManifestName, serial int, update model.ContainerUpdate, err error, log logstore.Logger) state.LaneEnded {
	a := state.LaneEnded{Resource: name, Serial: serial, Update: update}
	if err != nil {
		a.Update.Err = problem.Text(err)
	}
	switch liveupdate.Classify(err) {
	case liveupdate.Updated:
		a.Synced = true
		logstore.Infof(log, "→ %s", model.InPlaceText([]model.ContainerUpdate{update}))
	case liveupdate.UserError:
		a.Synced = true
		logstore.Errorf(log, "Update of %s failed: %s", update.Pod, a.Update.Err)
	case liveupdate.FallBack:
		a.Broken = err.Error()
		logstore.Infof(log, "Falling back to a new image: %v", err)
	case liveupdate.Infra, liveupdate.Blocked:
		a.Fault = err.Error()
		logstore.Infof(log, "Trying %s again: %v", update.Pod, err)
	case liveupdate.Cancelled:
		a.Update.Err = "" // it is no longer wanted
	}
	logstore.Flush(log)
	return a
}

// sending describes the updates that still run, and reports them in the log.
func (s *Subscriber) sending(v store.View, list []*buildanddeploy.Lane, log logstore.Logger) map[string]state.Sending {
	if len(list) == 0 {
		return nil
	}
	tiltfile := state.TheTiltfile(v).Path
	out := make(map[string]state.Sending, len(list))
	for _, l := range list {
		c := l.Container
		out[c.ID] = state.Sending{Namespace: c.Namespace, Pod: c.Pod, Container: c.Name, Files: state.Relative(tiltfile, c.Files)}
		logstore.Infof(log, "%s takes longer; the others need not wait for it", c.Pod)
	}
	return out
}
