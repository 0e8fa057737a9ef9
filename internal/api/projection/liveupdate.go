package projection

import (
	"iter"
	"slices"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const kindLiveUpdate = "LiveUpdate"

func liveUpdate() Kind {
	type object = *v1alpha1.LiveUpdate
	return Kind{
		Name: kindLiveUpdate, ShortNames: []string{"lu"},
		Doc:    "LiveUpdate describes how changed files reach the running containers of a resource, and lists these containers.",
		Tables: tables(state.Resources, state.Updates, state.Pods),
		Items:  liveUpdates,
		New:    func() Object { return &v1alpha1.LiveUpdate{} },
		Columns: []Column{
			column("Containers", "How many containers can be updated now.", func(o object) any { return len(o.Status.Containers) }),
			column("Failed", "Why they cannot be updated.", func(o object) any {
				if o.Status.Failed == nil {
					return ""
				}
				return o.Status.Failed.Reason
			}),
		},
		Write: readOnly("liveupdates", "the steps are declared in the Tiltfile: docker_build(live_update=[…])"),
	}
}

func liveUpdates(v store.View) iter.Seq[Item] {
	s := sourceOf(v)
	var items []Item
	for _, r := range rowsOf(v, withPods) {
		if !r.Value.Manifest.HasLiveUpdate() {
			continue
		}
		made := r.made.number(uint64(groupMade(r.pods)))
		for _, ref := range append(slices.Clone(refsOf(&r.Value.Manifest)), "") {
			if _, _, ok := r.Value.Manifest.LiveUpdateOf(ref); ok {
				items = append(items, item(s, kindLiveUpdate, liveUpdateName(r.ID, ref), made, func() *v1alpha1.LiveUpdate { return makeLiveUpdate(&r, ref) }))
			}
		}
	}
	return inOrder(items)
}

func refsOf(m *model.Manifest) []string {
	var out []string
	for _, im := range m.Images {
		out = append(out, im.Ref)
	}
	return out
}

// liveUpdateName returns the name of the LiveUpdate for an image of a resource; without an image, it is for the containers
// that the resource's custom deploy selects.
func liveUpdateName(resource, ref string) string {
	if ref == "" {
		return resource
	}
	return resource + ":" + safeName(ref)
}

func makeLiveUpdate(r *row, ref string) *v1alpha1.LiveUpdate {
	m, u := &r.Value.Manifest, &r.update.Value
	steps, _, _ := m.LiveUpdateOf(ref)
	o := &v1alpha1.LiveUpdate{ObjectMeta: metaOfResource(r.Entry)}
	o.Spec = v1alpha1.LiveUpdateSpec{StopPaths: slices.Clone(steps.StopPaths), Restart: v1alpha1.LiveUpdateRestartNone, Sources: sourcesOf(m, ref),
		Selector: v1alpha1.LiveUpdateSelector{Kubernetes: selectorOf(m, ref)}}
	if steps.RestartContainer || steps.RestartProcess != nil {
		o.Spec.Restart = v1alpha1.LiveUpdateRestartAlways
	}
	for _, x := range steps.Syncs {
		o.Spec.Syncs = append(o.Spec.Syncs, v1alpha1.LiveUpdateSync{LocalPath: x.LocalPath, ContainerPath: x.RemotePath})
	}
	for _, x := range steps.Runs {
		o.Spec.Execs = append(o.Spec.Execs, v1alpha1.LiveUpdateExec{Args: slices.Clone(x.Cmd.Argv), TriggerPaths: slices.Clone(x.Triggers), EchoOff: x.Cmd.EchoOff})
	}
	if u.InPlaceBroken != "" {
		o.Status.Failed = &v1alpha1.LiveUpdateStateFailed{Reason: "UpdateStopped", Message: u.InPlaceBroken}
	}
	o.Status.Containers = containersOf(m, u, r.pods.Values(), ref)
	return o
}

func selectorOf(m *model.Manifest, ref string) *v1alpha1.LiveUpdateKubernetesSelector {
	if !m.IsK8s() {
		return nil
	}
	sel := &v1alpha1.LiveUpdateKubernetesSelector{ApplyName: string(m.Name), DiscoveryName: string(m.Name)}
	if ref != "" {
		sel.ImageMapName = safeName(ref)
		return sel
	}
	sel.Image, sel.ContainerName = m.K8s.CustomDeploy.ImageSelector, m.K8s.CustomDeploy.ContainerSelector
	return sel
}

func sourcesOf(m *model.Manifest, ref string) []v1alpha1.LiveUpdateSource {
	if ref == "" {
		return []v1alpha1.LiveUpdateSource{{FileWatch: targetName(m.DeployID())}}
	}
	return []v1alpha1.LiveUpdateSource{{FileWatch: targetName(model.ImageID(ref)), ImageMap: safeName(ref)}}
}

func containersOf(m *model.Manifest, u *state.Update, pods []state.Pod, ref string) []v1alpha1.LiveUpdateContainerStatus {
	lacks := map[string]bool{}
	for _, l := range buildcontrol.LanesOf(m, u, pods).Lacking() {
		lacks[l.ID] = true
	}
	failed := ""
	if last, ok := u.Last(); ok && last.InPlace() {
		failed = last.Err
	}
	var out []v1alpha1.LiveUpdateContainerStatus
	for _, l := range buildcontrol.Live(*m, *u, pods) {
		if l.Ref != ref {
			continue
		}
		c := v1alpha1.LiveUpdateContainerStatus{ContainerName: l.Name, ContainerID: l.ID, PodName: l.Pod,
			Namespace: l.Namespace, LastFileTimeSynced: micro(u.Lanes[l.ID].Has), LastExecError: failed}
		if lacks[l.ID] {
			c.Waiting = &v1alpha1.LiveUpdateContainerStateWaiting{Reason: "ChangesPending"}
		}
		out = append(out, c)
	}
	return out
}
