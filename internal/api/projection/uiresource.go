package projection

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	kindUIResource = "UIResource"
	// keptBuilds is how many past updates an object shows.
	keptBuilds = 2
)

func uiResource() Kind {
	type object = *v1alpha1.UIResource
	return Kind{
		Name: kindUIResource, ShortNames: []string{"uir"},
		Doc:    "UIResource is a resource as shown to the user: the status of its updates and its runtime, why it waits, and its addresses.",
		Tables: decidingTables(state.Services, state.Forwards),
		Items:  uiResources,
		New:    func() Object { return &v1alpha1.UIResource{} },
		Columns: []Column{
			column("Update", "The result of the last update, or the state of the next one.", func(o object) any { return o.Status.UpdateStatus }),
			column("Runtime", "The status of the runtime.", func(o object) any { return o.Status.RuntimeStatus }),
			column("Waiting", "Why an update that is due does not begin.", func(o object) any {
				if o.Status.Waiting == nil {
					return ""
				}
				return o.Status.Waiting.Reason
			}),
			column("Disabled", "Whether the resource is disabled.", func(o object) any { return o.Status.DisableStatus.State }),
			wide(column("Deployed", "When it was last deployed.", func(o object) any { return o.Status.LastDeployTime.Time })),
			wide(column("Endpoint", "The address to open.", func(o object) any {
				if len(o.Status.EndpointLinks) == 0 {
					return ""
				}
				return o.Status.EndpointLinks[0].URL
			})),
		},
		Write: writeUIResource,
	}
}

func uiResources(v store.View) iter.Seq[Item] {
	processes := state.Processes.In(v)
	items := perResource(v, kindUIResource, withPods|withServices|withForwards|withObjects|withHolds, nil,
		func(r *row) digest {
			d := r.pods.made().number(uint64(r.services.made())).number(uint64(r.forwards.made())).number(uint64(r.objects.made())).number(uint64(r.holdMade()))
			if since, away := buildcontrol.Away(v, r.Value.Manifest); away {
				d = d.number(uint64(since.UnixNano()))
			}
			if processes.Len() > 0 && r.local {
				if e := processes.Ref(r.name); e != nil {
					d = d.entry(&e.Meta)
				}
			}
			return d
		}, makeUIResource)
	s := sourceOf(v)
	if s.tiltfile.ID != "" {
		items = insert(items, item(s, kindUIResource, string(model.TiltfileName), digest(0).entry(&s.tiltfile.Meta),
			func() *v1alpha1.UIResource { return tiltfileAsResource(s) }))
	}
	return slices.Values(items)
}

func makeUIResource(s *source, r *row) *v1alpha1.UIResource {
	m, u, pods := &r.Value.Manifest, &r.update.Value, r.sortedPods()
	runtime := buildcontrol.Known(s.View, *m, buildcontrol.Runtime(s.View, *m, *u, pods))
	if !r.Value.Enabled {
		runtime = buildcontrol.RuntimeState{Status: buildcontrol.RuntimeNone}
	}
	o := &v1alpha1.UIResource{ObjectMeta: metaOf(&r.Meta, nil)}
	st := &o.Status
	st.LastDeployTime = micro(deployedAt(m, u))
	st.TriggerMode = triggerMode(m)
	st.CurrentBuild, st.BuildHistory = currentBuild(u), history(u)
	st.HasPendingChanges, st.PendingBuildSince = pendingChanges(u)
	st.EndpointLinks = endpoints(r)
	st.RuntimeStatus, st.UpdateStatus = string(runtime.Status), updateStatus(r)
	st.Specs = specs(m)
	st.Queued = !u.Triggered.IsZero()
	st.Order = int32(r.Value.Order) + 1
	st.DisableStatus = disableOf(r.Entry)
	st.Waiting = waiting(r.hold)
	switch {
	case m.IsK8s():
		st.K8sResourceInfo = kubernetesInfo(m, u, pods)
	case m.IsLocal():
		st.LocalResourceInfo = &v1alpha1.UIResourceLocal{PID: int64(state.Processes.In(s.View).Value(r.ID).PID)}
	case m.IsCompose():
		st.ComposeResourceInfo = &v1alpha1.UIResourceCompose{}
		if len(pods) > 0 {
			st.ComposeResourceInfo.HealthStatus = pods[0].Health
		}
	}
	st.Conditions = conditions(st, u, pods, runtime)
	return o
}

// deployedAt returns the time of the last deploy: the time when objects were applied, or when a command last succeeded.
func deployedAt(m *model.Manifest, u *state.Update) time.Time {
	if !m.IsLocal() {
		return u.AppliedAt
	}
	for _, b := range u.Builds {
		if b.Err == "" && !b.Cancelled {
			return b.FinishedAt
		}
	}
	return time.Time{}
}

// triggerMode returns the trigger mode as the number that scripts use.
func triggerMode(m *model.Manifest) int32 {
	switch {
	case m.TriggerMode == model.TriggerAuto && m.AutoInit:
		return api.TriggerAuto
	case m.TriggerMode == model.TriggerAuto:
		return api.TriggerAutoAfterInitial
	case m.AutoInit:
		return api.TriggerManualAfterInitial
	}
	return api.TriggerManual
}

func currentBuild(u *state.Update) *v1alpha1.UIBuildRunning {
	if u.Current == nil {
		return nil
	}
	return &v1alpha1.UIBuildRunning{StartTime: micro(u.Current.StartedAt), SpanID: u.Current.Span}
}

func history(u *state.Update) []v1alpha1.UIBuildTerminated {
	var out []v1alpha1.UIBuildTerminated
	for _, b := range u.Builds {
		if b.Cancelled {
			continue
		}
		if len(out) == keptBuilds {
			break
		}
		past := v1alpha1.UIBuildTerminated{Error: b.Err, StartTime: micro(b.StartedAt), FinishTime: micro(b.FinishedAt), SpanID: b.Span}
		if b.Warnings > 0 {
			past.Warnings = []string{words.Count(b.Warnings, "warning") + " in its log"}
		}
		out = append(out, past)
	}
	return out
}

// pendingChanges reports whether something requires an update, and since when.
func pendingChanges(u *state.Update) (bool, metav1.MicroTime) {
	since := u.PendingSince()
	if d := u.Declared; !d.IsZero() && (since.IsZero() || d.Before(since)) {
		since = d
	}
	return !since.IsZero(), micro(since)
}

// updateStatus returns the update status as the word that scripts use.
func updateStatus(r *row) string {
	m, u := &r.Value.Manifest, &r.update.Value
	pending, _ := pendingChanges(u)
	pending = pending && m.TriggerMode == model.TriggerAuto // an update that waits for the user is not pending
	last, built := u.Last()
	switch {
	case !r.Value.Enabled:
		return v1alpha1.UpdateStatusNone
	case u.Current != nil:
		return v1alpha1.UpdateStatusInProgress
	case built && pending, !u.Triggered.IsZero(), !built && m.AutoInit:
		return v1alpha1.UpdateStatusPending
	case !built:
		return v1alpha1.UpdateStatusNone
	case last.Err != "":
		return v1alpha1.UpdateStatusError
	case m.IsLocal() && m.Local.Update.Empty():
		return v1alpha1.UpdateStatusNotApplicable
	}
	return v1alpha1.UpdateStatusOK
}

func specs(m *model.Manifest) []v1alpha1.UIResourceTargetSpec {
	var out []v1alpha1.UIResourceTargetSpec
	for _, im := range m.Images {
		out = append(out, v1alpha1.UIResourceTargetSpec{ID: im.ID().String(), Type: "image", HasLiveUpdate: !im.LiveUpdate.Empty()})
	}
	own := v1alpha1.UIResourceTargetSpec{ID: m.DeployID().String(), Type: string(m.DeployID().Type)}
	if m.IsCompose() {
		own.Type = "docker-compose"
	}
	_, _, own.HasLiveUpdate = m.LiveUpdateOf("")
	return append(out, own)
}

func disableOf(e *store.Entry[state.Resource]) v1alpha1.DisableResourceStatus {
	d := v1alpha1.DisableResourceStatus{State: disableState(e), Sources: []v1alpha1.DisableSource{*disableOfResource(e.ID)}}
	if e.Value.Enabled {
		d.EnabledCount = 1
	} else {
		d.DisabledCount = 1
	}
	return d
}

// waiting returns why an update does not begin; nil while it is running.
func waiting(h *buildcontrol.Hold) *v1alpha1.UIResourceStateWaiting {
	if h == nil || h.Reason == buildcontrol.HoldBuilding {
		return nil
	}
	w := &v1alpha1.UIResourceStateWaiting{Reason: string(h.Reason)}
	ref := func(kind, name string) {
		w.On = append(w.On, v1alpha1.UIResourceStateWaitingOnRef{Group: v1alpha1.Group, APIVersion: v1alpha1.Version, Kind: kind, Name: name})
	}
	switch h.Reason {
	case buildcontrol.HoldCluster:
		ref(kindCluster, clusterName)
	case buildcontrol.HoldEngine:
		ref(kindCluster, engineName)
	default: // the others wait for resources, which On names, or for nothing that is an object
	}
	for _, n := range h.On {
		ref(kindUIResource, string(n))
	}
	return w
}

// endpoints returns the addresses of a resource: its forwards in the order of the Tiltfile, its Services, its links.
func endpoints(r *row) []v1alpha1.UIResourceLink {
	var out []v1alpha1.UIResourceLink
	add := func(url, name string) {
		if url != "" && !slices.ContainsFunc(out, func(l v1alpha1.UIResourceLink) bool { return l.URL == url }) {
			out = append(out, v1alpha1.UIResourceLink{URL: url, Name: name})
		}
	}
	for _, f := range sortedForwards(r) {
		add(f.Value.URL, f.Value.Spec.Name)
	}
	for _, e := range r.services.all() {
		add(e.Value.URL, e.Value.Name)
	}
	m := &r.Value.Manifest
	links := m.Links
	if m.K8s != nil {
		links = slices.Concat(links, m.K8s.Links)
	}
	if m.Local != nil {
		links = slices.Concat(links, m.Local.Links)
	}
	for _, l := range links {
		add(l.URL, l.Name)
	}
	var pods []state.Pod
	for _, e := range r.pods.all() {
		pods = append(pods, e.Value)
	}
	for _, p := range state.Published(*m, pods) {
		add(p.URL(), p.Name)
	}
	return out
}

// sortedForwards returns the forwards in the order of the Tiltfile.
func sortedForwards(r *row) []*store.Entry[state.Forward] {
	k := r.Value.Manifest.K8s
	if k == nil || len(r.forwards.all()) < 2 {
		return r.forwards.all()
	}
	out := slices.Clone(r.forwards.all())
	place := func(e *store.Entry[state.Forward]) int { return slices.Index(k.PortForwards, e.Value.Spec) }
	slices.SortStableFunc(out, func(a, b *store.Entry[state.Forward]) int { return place(a) - place(b) })
	return out
}

func kubernetesInfo(m *model.Manifest, u *state.Update, pods []state.Pod) *v1alpha1.UIResourceKubernetes {
	info := &v1alpha1.UIResourceKubernetes{}
	for _, o := range m.K8s.Objects {
		info.DisplayNames = append(info.DisplayNames, o.Name+":"+strings.ToLower(o.Kind))
	}
	if len(pods) == 0 {
		return info
	}
	p := pods[0]
	info.PodName, info.PodCreationTime, info.PodUpdateStartTime = p.Name, metav1.NewTime(p.CreatedAt), metav1.NewTime(u.AppliedAt)
	info.PodStatus, info.PodStatusMessage = p.Status, p.Message
	info.AllContainersReady, info.PodRestarts = p.Ready, int32(p.Restarts())
	if len(p.Containers) > 0 {
		c := p.Containers[0]
		info.SpanID = state.LogSpan(p.Pod, c.Name, state.RunOf(p.Pod, c))
	}
	return info
}

// conditions returns the conditions that clients can wait for.
func conditions(st *v1alpha1.UIResourceStatus, u *state.Update, pods []state.Pod, runtime buildcontrol.RuntimeState) []v1alpha1.UIResourceCondition {
	off := st.DisableStatus.DisabledCount > 0
	current := st.UpdateStatus == v1alpha1.UpdateStatusOK || st.UpdateStatus == v1alpha1.UpdateStatusNotApplicable
	ready := runtime.Status == buildcontrol.RuntimeOK || runtime.Status == buildcontrol.RuntimeNotApplicable && current
	upToDate := v1alpha1.UIResourceCondition{Type: v1alpha1.UIResourceUpToDate, Status: truth(current), Reason: word("Update", st.UpdateStatus)}
	isReady := v1alpha1.UIResourceCondition{Type: v1alpha1.UIResourceReady, Status: truth(ready), Reason: word("Runtime", st.RuntimeStatus),
		Message: cmp.Or(runtime.Err, runtime.Text)}
	if last, ok := u.Last(); ok {
		upToDate.LastTransitionTime, upToDate.Message = micro(last.FinishedAt), last.Err
		isReady.LastTransitionTime = micro(readySince(last.FinishedAt, pods, runtime))
	}
	if off {
		upToDate.Reason, isReady.Reason = "Disabled", "Disabled"
	}
	return []v1alpha1.UIResourceCondition{upToDate, isReady}
}

// readySince returns the latest time at which the runtime can have changed.
func readySince(built time.Time, pods []state.Pod, runtime buildcontrol.RuntimeState) time.Time {
	if !runtime.FailingSince.IsZero() {
		return runtime.FailingSince
	}
	newest := built
	for _, p := range pods {
		for _, c := range p.LastingContainers() {
			if p.Current && c.StartedAt.After(newest) {
				newest = c.StartedAt
			}
		}
	}
	return newest
}

func truth(b bool) metav1.ConditionStatus {
	if b {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// word converts a status to a reason: "UpdateInProgress".
func word(prefix, status string) string {
	for _, w := range strings.Split(status, "_") {
		if w != "" {
			prefix += strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return prefix
}
