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
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	kindUIResource = "UIResource"
	// keptBuilds is the most past updates that an object shows.
	keptBuilds = 2
)

func uiResource() Kind {
	type object = *v1alpha1.UIResource
	return Kind{
		Name: kindUIResource, ShortNames: []string{"uir"},
		Doc:    "UIResource is a resource as shown to the user: the status of its updates and its runtime, why it waits, and its addresses.",
		Tables: decidingTables(state.Services, state.Forwards, state.Drifts),
		Items:  uiResources,
		New:    func() Object { return &v1alpha1.UIResource{} },
		Columns: []Column{
			{Name: "Cluster", Doc: "The object of the cluster that it is deployed to.", Shown: severalClusters, Value: func(o Object) any {
				if own, ok := o.(object); ok && own.Status.K8sResourceInfo != nil {
					return own.Status.K8sResourceInfo.Cluster
				}
				return ""
			}},
			column("State", "How it is, in one word.", func(o object) any { return o.Status.State }),
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
	items := perResource(v, kindUIResource, withPods|withServices|withForwards|withObjects|withHolds, nil, answerMade(v), makeUIResource)
	s := sourceOf(v)
	if s.tiltfile.ID != "" {
		items = insert(items, item(s, kindUIResource, string(model.TiltfileName), digest(0).entry(&s.tiltfile.Meta),
			func() *v1alpha1.UIResource { return tiltfileAsResource(s) }))
	}
	return slices.Values(items)
}

// answerMade returns a function that returns the digest of everything that package status reads about a resource, apart from the
// resource and its update.
func answerMade(v store.View) func(*row) digest {
	plan, session := buildcontrol.Decide(v, nil), state.Sessions.In(v).Ref(state.Only)
	synclets, several := state.SyncletsByResource.In(v), severalClusters(v)
	return func(r *row) digest {
		name := model.ManifestName(r.name)
		d := groupMade(r.pods)
		if several {
			d = d.word("several clusters")
		}
		for _, part := range []digest{groupMade(r.services), groupMade(r.forwards), groupMade(r.objects), r.holdMade(), groupMade(synclets[name]),
			made(state.Processes.In(v), r.name), made(state.Drifts.In(v), r.name), made(state.Restarts.In(v), r.name)} {
			d = d.number(uint64(part))
		}
		if since, away := buildcontrol.Away(v, r.Value.Manifest); away {
			d = d.number(uint64(since.UnixNano()))
		}
		if w, blind := state.Blinding(v, name); blind {
			d = d.number(uint64(w.Since.UnixNano()))
		}
		if plan.Starts(name) {
			d = d.word("starts")
		}
		if b := status.BlockerOf(v, name); b != nil {
			d = d.word(string(b.Name)).word(b.Why)
		}
		if r.Phase == store.TearingDown {
			d = d.same(&session.Meta)
		}
		return d
	}
}

// made returns the digest of an entry; 0 if there is none.
func made[T any](rows store.Rows[T], id string) digest {
	if e := rows.Ref(id); e != nil {
		return digest(0).entry(&e.Meta)
	}
	return 0
}

func makeUIResource(s *source, r *row) *v1alpha1.UIResource {
	m, u, pods := &r.Value.Manifest, &r.update.Value, r.pods.Values()
	is := status.Of(s.View, state.UpdatingOf(s.View, r.Entry))
	o := &v1alpha1.UIResource{ObjectMeta: metaOf(&r.Meta, nil)}
	st := &o.Status
	st.State, st.Message = string(is.State), cmp.Or(is.Err(), is.Text)
	st.LastDeployTime = micro(deployedAt(m, u))
	st.TriggerMode = triggerMode(m)
	st.CurrentBuild, st.BuildHistory = currentBuild(u), history(u)
	st.HasPendingChanges, st.PendingBuildSince = pendingChanges(u)
	for _, e := range is.Endpoints {
		st.EndpointLinks = append(st.EndpointLinks, v1alpha1.UIResourceLink(e))
	}
	st.RuntimeStatus, st.UpdateStatus = string(is.Runtime.Status), string(is.Update)
	st.Specs = specs(m)
	st.Queued = !u.Triggered.IsZero()
	st.Order = int32(r.Value.Order) + 1
	st.DisableStatus = disableOf(r.Entry)
	st.Waiting = waiting(is.Hold, is.Blocker, clusterObject(s.View, m.Cluster()))
	switch {
	case m.IsK8s():
		st.K8sResourceInfo = kubernetesInfo(m, u, pods)
		if severalClusters(s.View) {
			st.K8sResourceInfo.Cluster = clusterObject(s.View, m.Cluster())
		}
	case m.IsLocal():
		st.LocalResourceInfo = &v1alpha1.UIResourceLocal{PID: int64(state.Processes.In(s.View).Value(r.ID).PID)}
	case m.IsCompose():
		st.ComposeResourceInfo = &v1alpha1.UIResourceCompose{}
		if len(pods) > 0 {
			st.ComposeResourceInfo.HealthStatus = pods[0].Health
		}
	}
	st.Conditions = conditions(is, pods)
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

// waiting returns why an update does not begin, or the resource is still there. cluster is the object of the resource's cluster.
func waiting(h *buildcontrol.Hold, b *status.Blocker, cluster string) *v1alpha1.UIResourceStateWaiting {
	if h == nil {
		return nil
	}
	w := &v1alpha1.UIResourceStateWaiting{Reason: string(h.Reason)}
	ref := func(kind, name string) {
		w.On = append(w.On, v1alpha1.UIResourceStateWaitingOnRef{Group: v1alpha1.Group, APIVersion: v1alpha1.Version, Kind: kind, Name: name})
	}
	switch h.Reason {
	case buildcontrol.HoldCluster:
		ref(kindCluster, cluster)
	case buildcontrol.HoldEngine:
		ref(kindCluster, engineName)
	default: // the others wait for resources, which On names, or for nothing that is an object
	}
	for _, n := range h.On {
		ref(kindUIResource, string(n))
	}
	if b != nil {
		w.Blocker = &v1alpha1.UIResourceBlocker{Name: string(b.Name), Message: b.Why}
	}
	return w
}

func kubernetesInfo(m *model.Manifest, u *state.Update, pods []state.Pod) *v1alpha1.UIResourceKubernetes {
	info := &v1alpha1.UIResourceKubernetes{}
	for _, o := range m.K8s.Objects {
		info.DisplayNames = append(info.DisplayNames, o.Name+":"+strings.ToLower(o.Kind))
	}
	p, ok := status.Shown(pods)
	if !ok {
		return info
	}
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
func conditions(is *status.Resource, pods []state.Pod) []v1alpha1.UIResourceCondition {
	var built, since metav1.MicroTime
	if last, ok := is.Updates.Last(); ok {
		built, since = micro(last.FinishedAt), micro(readySince(last.FinishedAt, pods, is.Runtime))
	}
	return []v1alpha1.UIResourceCondition{
		condition(v1alpha1.UIResourceUpToDate, is.UpToDate(), built),
		condition(v1alpha1.UIResourceReady, is.Ready(), since),
		condition(v1alpha1.UIResourceFailed, is.Failed(), since),
	}
}

func condition(name string, c status.Condition, since metav1.MicroTime) v1alpha1.UIResourceCondition {
	return v1alpha1.UIResourceCondition{Type: name, Status: truth(c.Met), Reason: c.Reason, Message: c.Message, LastTransitionTime: since}
}

// readySince returns the latest time at which the runtime can have changed.
func readySince(built time.Time, pods []state.Pod, runtime buildcontrol.RuntimeState) time.Time {
	if !runtime.FailingSince.IsZero() {
		return runtime.FailingSince
	}
	newest := built
	for _, p := range state.Present(pods) {
		for _, c := range p.LastingContainers() {
			if c.StartedAt.After(newest) {
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
