package intent

import (
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Restart restarts the processes of the named resources. With pods, the pods of their newest deploys are replaced; otherwise
// processes are restarted in place: the servers of local resources, and the processes that run under hone's supervisor in
// containers. A service of Compose has its container restarted in both cases, and a local resource its server. Every name must
// belong to an enabled resource that has something to restart.
func Restart(v store.View, names []string, pods bool) (state.ResourcesRestarted, error) {
	if len(names) == 0 {
		return state.ResourcesRestarted{}, invalid("must specify at least one resource")
	}
	a := state.ResourcesRestarted{Pods: pods}
	for _, n := range names {
		if n == string(model.TiltfileName) {
			return state.ResourcesRestarted{}, &Refusal{Impossible, problem.New("the Tiltfile runs nothing that could be restarted",
				"evaluate it again: hone trigger '(Tiltfile)'")}
		}
		r, err := enabled(v, n)
		if err == nil {
			err = restartable(v, r.Manifest, pods)
		}
		if err != nil {
			return state.ResourcesRestarted{}, err
		}
		if name := model.ManifestName(n); !slices.Contains(a.Names, name) {
			a.Names = append(a.Names, name)
		}
	}
	return a, nil
}

// restartable refuses a resource that has nothing to restart.
func restartable(v store.View, m model.Manifest, pods bool) error {
	u := state.Updates.In(v).Value(string(m.Name))
	refuse := func(summary, mend string) error {
		return &Refusal{Impossible, problem.New(fmt.Sprintf("resource %q ", m.Name)+summary, mend+" "+string(m.Name))}
	}
	const trigger, replace = "deploy it: hone trigger", "replace its pods instead: hone restart --pod"
	switch {
	case m.IsLocal() && m.Local.Serve.Empty():
		return refuse("has no serve_cmd, so nothing of it keeps running", "run its command again: hone trigger")
	case m.IsLocal():
		if state.Processes.In(v).Ref(string(m.Name)) == nil {
			return refuse("has not started its serve_cmd yet", "start it: hone trigger")
		}
		return nil
	}
	if m.IsCompose() && !state.TheEngine(v).Connected {
		return &Refusal{Impossible, problem.New("the container engine does not answer", "try again when it does: hone doctor checks it")}
	}
	if m.IsK8s() && !state.ClusterOf(v, m).Connected {
		return &Refusal{Impossible, problem.New("the cluster does not answer", "try again when it does: hone doctor checks it")}
	}
	all := state.PodsOf(v, m.Name)
	current := state.Standing(all)
	own := state.OwnPods(u, all)
	switch {
	case u.AppliedAt.IsZero():
		return refuse("has not been deployed yet", trigger)
	case m.IsCompose() && len(current) == 0:
		return refuse("has no container", trigger)
	case m.IsCompose():
		return nil
	case len(current) == 0 && !pods:
		return refuse("has no running pod", trigger)
	case len(current) == 0:
		return refuse("has no pod that could be replaced", trigger)
	case pods && len(own) == 0:
		return &Refusal{Impossible, problem.New(fmt.Sprintf("resource %q only finds its pods by their labels: hone has not deployed them, and leaves them alone", m.Name),
			"restart them where they are deployed: kubectl delete pod "+current[0].Name)}
	case !pods && len(state.Supervised(v, m.Name)) == 0:
		return refuse("has no process that can be restarted in place: hone is connected to no supervisor in its containers, which "+
			"restart_process() in live_update adds", replace)
	}
	return nil
}
