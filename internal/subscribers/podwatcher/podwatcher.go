// Package podwatcher follows the pods of all resources and distinguishes pods of the newest deploy from older ones. A pod that
// loses hone's label is followed by its name from then on.
//
// # Concurrency
//
// Run owns one goroutine per watched namespace and selector, or pod. They pass their events to Run's own goroutine, which alone
// decides and dispatches.
package podwatcher

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/clusterwatch"
	"github.com/hone-dev/hone/pkg/model"
)

// Client is the part of a cluster that is needed here.
type Client interface {
	WatchPods(ctx context.Context, req k8s.WatchRequest, fn func(k8s.PodEvent)) error
	OwnerChain(ctx context.Context, req k8s.OwnerRequest) ([]k8s.OwnerRef, error)
}

// askAgain is the first pause before an owner that the cluster did not return is requested again, and askAgainMost the
// longest.
const (
	askAgain     = 500 * time.Millisecond
	askAgainMost = time.Minute
)

// Subscriber is the PodWatcher.
type Subscriber struct {
	client Client
	// told are the pods as they were dispatched last, by UID. It outlives a crash of Run: the next Run reports the pods that are
	// gone meanwhile.
	told map[string]state.Pod
}

// New returns the subscriber; a nil client watches nothing.
func New(client Client) *Subscriber { return &Subscriber{client: client, told: map[string]state.Pod{}} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "PodWatcher",
		Doc:       "Follows the pods of all resources, and distinguishes pods of the newest deploy from older ones.",
		Inputs:    store.Reads(state.Resources, state.Updates, state.Clusters, state.Tiltfiles),
		Outputs:   store.Shares(state.PodChanged{}, state.PodGone{}, state.ClusterWatchFailed{}, state.ClusterWatchMended{}),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
		Feedback:  "the loss of a pod only drops the state of its containers",
	}
}

// scope is the scope of one watch: the pods that a selector selects, or the one of a name.
type scope struct {
	cluster   string
	namespace string
	selector  string
	name      string
}

// String names the watch.
func (sc scope) String() string {
	return strings.TrimSpace("pods " + sc.namespace + " " + sc.selector + sc.name + clusterwatch.In(sc.cluster))
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.client == nil {
		<-ctx.Done()
		return nil
	}
	return clusterwatch.Run(ctx, rt, clusterwatch.Watches[scope, k8s.PodEvent]{ID: scope.String, Blinds: true, Watch: s.watch}, newTracker(s.client, s.told))
}

func (s *Subscriber) watch(ctx context.Context, sc scope, trouble func(error), event func(k8s.PodEvent)) error {
	req := k8s.WatchRequest{Cluster: sc.cluster, Namespaces: []string{sc.namespace}, Selector: sc.selector, Name: sc.name, OnTrouble: trouble}
	return s.client.WatchPods(ctx, req, event)
}

// tracker is the subscriber's knowledge. It belongs to Run's goroutine.
type tracker struct {
	client Client
	// owners maps the UIDs of applied objects, and hashes the template hashes of applied workloads, to resources.
	owners    map[string]model.ManifestName
	hashes    map[string][]model.ManifestName
	selectors map[model.ManifestName][]map[string]string
	// users are the wanted watches, each with its resources. unsynced are the wanted watches that have not yet reported
	// everything that existed when they began.
	users    map[scope][]model.ManifestName
	unsynced map[scope]bool
	// users, owners, hashes and selectors were made from applied, expected and this version of table resources. stale is set if users
	// has to be made again for another reason: a pod is followed by its name from now on, or no longer.
	applied   *state.AppliedSet
	expected  *state.ExpectedSet
	resources uint64
	stale     bool
	// touched are the pods, by UID, to be judged at the next step. all is set if those are all of them.
	touched map[string]bool
	all     bool
	// seen are the pods by UID, told the pods as they were dispatched last, chains their owners by direct owner. inherited are
	// the pods that only an earlier run has reported: they count as existing until the watches have reported everything.
	seen      map[string]*seen
	told      map[string]state.Pod
	inherited map[string]bool
	chains    map[string][]k8s.OwnerRef
	// asked are the owners that the cluster has not returned, by UID.
	asked map[string]asked
	// loops are the pods that have restarted, by UID, and when they are reported once more: if they do not fail before that,
	// their crash loop is over.
	loops map[string]time.Time
}

// asked counts the failed requests for an owner, with the time of the next try, and whether a pod still needs the owner.
type asked struct {
	times  int
	next   time.Time
	needed bool
}

func newTracker(client Client, told map[string]state.Pod) *tracker {
	b := &tracker{client: client, unsynced: map[scope]bool{}, seen: map[string]*seen{}, told: told, inherited: map[string]bool{},
		chains: map[string][]k8s.OwnerRef{}, asked: map[string]asked{}, loops: map[string]time.Time{}, touched: map[string]bool{}, stale: true}
	for uid := range told {
		b.inherited[uid] = true
	}
	return b
}

// seen is a pod with the watches that follow it. The value is false until a watch by name has shown the pod.
type seen struct {
	event  k8s.PodEvent
	scopes map[scope]bool
}

// Wanted implements clusterwatch.Follower with the watches for the objects that are deployed now, or will be soon.
func (b *tracker) Wanted(v store.View) map[scope][]model.ManifestName {
	applied, expected, resources := state.Applied(v), state.Expected(v), v.Version(state.Resources.Name())
	b.stale = b.stale || resources != b.resources
	if b.stale = b.stale || applied != b.applied || expected != b.expected; b.stale {
		b.applied, b.expected, b.resources, b.stale, b.all = applied, expected, resources, false, true
		b.want(v)
	}
	return b.users
}

// want finds the watches for the objects that are deployed now, or will be soon.
func (b *tracker) want(v store.View) {
	b.owners, b.hashes = map[string]model.ManifestName{}, map[string][]model.ManifestName{}
	before := b.users
	b.selectors, b.users = map[model.ManifestName][]map[string]string{}, map[scope][]model.ManifestName{}
	updates := state.Updates.In(v)
	for _, k := range b.expected.Kinds {
		b.users[scope{cluster: k.Cluster, namespace: k.Namespace}.labelled()] = []model.ManifestName{}
	}
	for e := range state.Enabled(v) {
		m := e.Value.Manifest
		if !m.IsK8s() {
			continue
		}
		b.selectors[m.Name] = m.K8s.ExtraPodSelectors
		for _, a := range updates.Value(e.ID).Applied {
			if !m.K8s.SelectorsOnly {
				b.owners[a.UID] = m.Name
				if a.TemplateHash != "" {
					b.hashes[a.TemplateHash] = append(b.hashes[a.TemplateHash], m.Name)
				}
			}
			for _, sc := range scopesFor(m, a) {
				b.users[sc] = append(b.users[sc], m.Name)
			}
		}
	}
	for _, s := range b.seen {
		for sc := range s.scopes {
			if users := b.users[sc.labelled()]; sc.name != "" && users != nil {
				b.users[sc] = users
			}
		}
	}
	maps.DeleteFunc(b.unsynced, func(sc scope, _ bool) bool { return b.users[sc] == nil })
	for sc := range b.users {
		if before[sc] == nil {
			b.unsynced[sc] = true
		}
	}
	// A watch that ends will not report that a pod is gone.
	for uid, s := range b.seen {
		maps.DeleteFunc(s.scopes, func(sc scope, _ bool) bool { return b.users[sc] == nil })
		if len(s.scopes) == 0 {
			delete(b.seen, uid)
		}
	}
}

// labelled is the scope of these pods in the namespace of sc, and called the scope of one pod there.
func (sc scope) labelled() scope {
	return scope{cluster: sc.cluster, namespace: sc.namespace, selector: deploy.ManagedSelector}
}

func (sc scope) called(pod string) scope {
	return scope{cluster: sc.cluster, namespace: sc.namespace, name: pod}
}

// scopesFor returns the scopes to watch for an applied object: the labelled pods in its namespace, the pods of the resource's
// own selectors, and all pods if an object of an unknown kind, or one that a command of the user applied, may create pods
// without hone's labels.
func scopesFor(m model.Manifest, a model.AppliedObject) []scope {
	if a.Namespace == "" {
		return nil
	}
	var out []scope
	all := scope{cluster: a.Cluster, namespace: a.Namespace}
	switch {
	case m.K8s.SelectorsOnly:
	case a.Foreign:
		out = append(out, all)
	case a.TemplateHash != "" || a.Kind == "Pod" && a.Group == "":
		out = append(out, all.labelled())
	case !builtin(a.Group):
		out = append(out, all)
	}
	for _, sel := range m.K8s.ExtraPodSelectors {
		of := all
		of.selector = selector(sel)
		out = append(out, of)
	}
	return out
}

func builtin(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

func selector(labels map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, k+"="+labels[k])
	}
	return strings.Join(parts, ",")
}

// Take implements clusterwatch.Follower.
func (b *tracker) Take(sc scope, e k8s.PodEvent) bool {
	uid := e.Pod.UID
	b.touched[uid] = true
	b.all = b.all || e.Synced || e.Pod.TemplateHash == "" // such a pod may be superseded by another one
	switch {
	case e.Synced:
		delete(b.unsynced, sc)
		for uid, s := range b.seen {
			if shown, expected := s.scopes[sc]; expected && !shown {
				b.lost(uid, sc)
			}
		}
	case e.Deleted:
		if s := b.seen[uid]; s != nil {
			if sc == sc.labelled() && !s.event.Pod.Deleting { // it may only have lost the label
				s.scopes[sc.called(e.Pod.Name)] = false
				b.stale = true
			}
			b.lost(uid, sc)
		}
	default:
		s := b.seen[uid]
		if s == nil {
			s = &seen{scopes: map[scope]bool{}}
			b.seen[uid] = s
		}
		s.event = e
		s.event.Pod.Cluster = sc.cluster
		s.scopes[sc] = true
		if _, called := s.scopes[sc.called(e.Pod.Name)]; called && sc == sc.labelled() {
			delete(s.scopes, sc.called(e.Pod.Name))
			b.stale = true
		}
	}
	return true
}

// lost notes that a watch does not follow a pod any more.
func (b *tracker) lost(uid string, sc scope) {
	s := b.seen[uid]
	b.stale = b.stale || sc.name != ""
	if delete(s.scopes, sc); len(s.scopes) == 0 {
		delete(b.seen, uid)
	}
}

// Changes implements clusterwatch.Follower.
func (b *tracker) Changes(ctx context.Context, _ store.View) (actions []store.Action, again time.Duration) {
	now := time.Now()
	actions = append(b.changes(ctx), b.lasting(now)...)
	if left, some := b.askAgainIn(now); some {
		again = max(left, 1)
	}
	for _, at := range b.loops {
		if left := at.Sub(now); again == 0 || left < again {
			again = max(left, 1)
		}
	}
	return actions, again
}

// lasting returns the pods to report once more, because their containers have run for so long that a crash loop is over.
func (b *tracker) lasting(now time.Time) (out []store.Action) {
	for uid, at := range b.loops {
		p, told := b.told[uid]
		if told && !now.Before(at) {
			out = append(out, state.PodChanged{Pod: p})
		}
		if !told || !now.Before(at) {
			delete(b.loops, uid)
		}
	}
	return out
}

// changes compares the current state of the pods to be judged with the reported one, and returns the actions for the difference.
func (b *tracker) changes(ctx context.Context) []store.Action {
	var out []store.Action
	if len(b.unsynced) == 0 {
		clear(b.inherited)
	}
	if b.all || len(b.asked) > 0 {
		for uid := range b.seen {
			b.touched[uid] = true
		}
		for uid := range b.told {
			b.touched[uid] = true
		}
	}
	for uid := range b.touched {
		if change := b.change(ctx, uid); change != nil {
			out = append(out, change)
		}
	}
	clear(b.touched)
	b.all = false
	return out
}

// change compares the current state of a pod with the reported one, and returns the action for the difference; nil if there is none.
func (b *tracker) change(ctx context.Context, uid string) store.Action {
	was, told := b.told[uid]
	s := b.seen[uid]
	if s == nil {
		return b.gone(was, told && !b.inherited[uid])
	}
	delete(b.inherited, uid)
	p, mine := b.judge(ctx, s.event)
	switch {
	case !mine:
		return b.gone(was, told)
	case told && reflect.DeepEqual(was, p):
		return nil
	}
	b.told[uid] = p
	if at := state.LastsFrom(p.Pod); at.After(time.Now()) {
		b.loops[uid] = at
	}
	return state.PodChanged{Pod: p}
}

// gone returns the action for a pod that is no longer there, if it was reported.
func (b *tracker) gone(was state.Pod, told bool) store.Action {
	if !told {
		return nil
	}
	delete(b.told, was.UID)
	return state.PodGone{Pod: was.Pod}
}

// judge finds the resource that a pod belongs to, and whether the pod is one of its newest deploy.
func (b *tracker) judge(ctx context.Context, e k8s.PodEvent) (state.Pod, bool) {
	p := state.Pod{Pod: e.Pod}
	name, current, selected := b.owner(ctx, e)
	if name == "" {
		return p, false
	}
	p.Resource, p.Current, p.Selected = name, current, selected
	for _, o := range e.Owners {
		if o.Controller {
			p.Owner = o.UID
		}
	}
	return p, true
}

// owner returns the resource that a pod belongs to, whether the pod is one of its newest deploy, and whether only its labels
// say so.
func (b *tracker) owner(ctx context.Context, e k8s.PodEvent) (name model.ManifestName, current, selected bool) {
	if name, ok := b.owners[e.Pod.UID]; ok {
		return name, true, false
	}
	if name, ok := b.byTemplate(ctx, e); ok {
		return name, !b.orphaned(ctx, e), false
	}
	for name, sels := range b.selectors {
		for _, sel := range sels {
			if len(sel) > 0 && contains(e.Labels, sel) {
				owned := slices.ContainsFunc(b.chain(ctx, e), func(o k8s.OwnerRef) bool { return b.owners[o.UID] == name })
				return name, true, !owned
			}
		}
	}
	for _, o := range b.chain(ctx, e) {
		if name, ok := b.owners[o.UID]; ok {
			return name, e.Pod.TemplateHash == "" && !b.superseded(ctx, e, o.UID), false
		}
	}
	return "", false, false
}

// byTemplate returns the resource whose newest deploy has the pod's template. If several have the same template, the pod's
// owner decides.
func (b *tracker) byTemplate(ctx context.Context, e k8s.PodEvent) (model.ManifestName, bool) {
	names := b.hashes[e.Pod.TemplateHash]
	if len(names) == 0 || e.Pod.TemplateHash == "" {
		return "", false
	}
	if slices.ContainsFunc(names, func(n model.ManifestName) bool { return n != names[0] }) {
		for _, o := range b.chain(ctx, e) {
			if name, ok := b.owners[o.UID]; ok {
				return name, true
			}
		}
	}
	return names[0], true
}

// orphaned reports whether a pod with the right template belongs to an earlier object of the same name, such as a job
// that was replaced, or to none: its ReplicaSet leaves a pod alone that has lost the labels of the selector.
func (b *tracker) orphaned(ctx context.Context, e k8s.PodEvent) bool {
	if len(e.Owners) == 0 {
		return true
	}
	for _, o := range e.Owners {
		switch o.Kind {
		case "Job", "StatefulSet", "DaemonSet":
			if _, applied := b.owners[o.UID]; applied {
				return false
			}
			return !slices.ContainsFunc(b.chain(ctx, e), func(o k8s.OwnerRef) bool { return b.owners[o.UID] != "" }) // e.g. a CronJob's job
		}
	}
	return false
}

// superseded reports whether a pod without hone's labels belongs to a ReplicaSet for which the given owner has a younger one:
// such pods belong to an earlier rollout of a Deployment.
func (b *tracker) superseded(ctx context.Context, e k8s.PodEvent, owner string) bool {
	own, ok := replicaSet(b.chain(ctx, e))
	if !ok {
		return false
	}
	for _, s := range b.seen {
		other := b.chain(ctx, s.event)
		rs, ok := replicaSet(other)
		if ok && rs.CreatedAt.After(own.CreatedAt) && slices.ContainsFunc(other, func(o k8s.OwnerRef) bool { return o.UID == owner }) {
			return true
		}
	}
	return false
}

func replicaSet(chain []k8s.OwnerRef) (k8s.OwnerRef, bool) {
	i := slices.IndexFunc(chain, func(o k8s.OwnerRef) bool { return o.Kind == "ReplicaSet" })
	if i < 0 {
		return k8s.OwnerRef{}, false
	}
	return chain[i], true
}

// chain returns a pod's owners, nearest first. It queries the cluster once per direct owner. If the cluster does not return
// the owner, as may happen just after a restart of the API server, it queries again later, since no further event of the
// pod may follow.
func (b *tracker) chain(ctx context.Context, e k8s.PodEvent) []k8s.OwnerRef {
	var out []k8s.OwnerRef
	for _, o := range e.Owners {
		refs, known := b.chains[o.UID]
		if !known {
			refs = b.ask(ctx, k8s.OwnerRequest{Cluster: e.Pod.Cluster, Namespace: e.Pod.Namespace, Ref: o})
		}
		out = append(out, refs...)
	}
	return out
}

// ask returns the chain of an owner that is not known yet, or nothing if the cluster does not return it or the next request
// is not due yet.
func (b *tracker) ask(ctx context.Context, req k8s.OwnerRequest) []k8s.OwnerRef {
	uid := req.Ref.UID
	a, now := b.asked[uid], time.Now()
	a.needed = true
	if !now.Before(a.next) {
		refs, err := b.client.OwnerChain(ctx, req)
		if err == nil && len(refs) > 0 {
			b.chains[uid] = refs
			delete(b.asked, uid)
			return refs
		}
		a.next = now.Add(min(askAgain<<min(a.times, 10), askAgainMost))
		a.times++
	}
	b.asked[uid] = a
	return nil
}

// askAgainIn returns the time after which an owner should be requested again, if there is one. It drops the owners that were not
// needed since the last call.
func (b *tracker) askAgainIn(now time.Time) (left time.Duration, some bool) {
	maps.DeleteFunc(b.asked, func(_ string, a asked) bool { return !a.needed })
	for uid, a := range b.asked {
		if wait := max(0, a.next.Sub(now)); !some || wait < left {
			left, some = wait, true
		}
		a.needed = false
		b.asked[uid] = a
	}
	return left, some
}

func contains(labels, sel map[string]string) bool {
	for k, v := range sel {
		if labels[k] != v {
			return false
		}
	}
	return true
}
