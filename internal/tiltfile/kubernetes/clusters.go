package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/internal/tiltfile/kubecontext"
	"github.com/hone-dev/hone/pkg/model"
)

// place finds the clusters that the declarations name, now that all of them are declared. The session's own cluster has the empty name
// from then on.
func (d *Declarations) place() error {
	var all fault.List
	told := map[fault.Site]bool{} // one call declares many objects
	find := func(builtin string, at fault.Site, cluster *string) {
		switch in, err := d.gate.Named(*cluster); {
		case err != nil && !told[at]:
			told[at] = true
			all.Add(d.ErrorAt(at, "%s: cluster: %w", builtin, err))
		case in != nil && in.Own:
			*cluster = ""
		}
	}
	for _, o := range d.Objects.List {
		find("k8s_yaml", o.Site, &o.Cluster)
	}
	for _, x := range d.customs {
		x.placed = x.cluster != ""
		find("k8s_custom_deploy", x.site, &x.cluster)
	}
	for _, o := range d.options {
		o.placed = o.cluster != ""
		find("k8s_resource", o.site, &o.cluster)
	}
	if d.Objects.placed() {
		all.Add(d.checkTwice())
	}
	return all.Err()
}

// checkTwice refuses objects that turn out to be in one cluster twice.
func (d *Declarations) checkTwice() error {
	var all fault.List
	first := map[objectKey]*k8sobject.Object{}
	for _, o := range d.Objects.List {
		key := d.Objects.keyOf(o)
		if former := first[key]; former != nil {
			all.Add(d.ErrorAt(o.Site, "k8s_yaml: %w", declaredTwice(o, former)))
		}
		first[key] = o
	}
	return all.Err()
}

// byCluster groups objects by the names of their clusters.
func byCluster(objs []*k8sobject.Object) map[string][]*k8sobject.Object {
	out := map[string][]*k8sobject.Object{}
	for _, o := range objs {
		out[o.Cluster] = append(out[o.Cluster], o)
	}
	return out
}

// uniqueNames returns the shortest name of each workload that is unique in its cluster.
func uniqueNames(workloads []*k8sobject.Object) []string {
	names := map[*k8sobject.Object]string{}
	for _, group := range byCluster(workloads) {
		for i, name := range k8sobject.UniqueNames(group) {
			names[group[i]] = name
		}
	}
	out := make([]string, len(workloads))
	for i, w := range workloads {
		out[i] = names[w]
	}
	return out
}

// nameApart returns the names of resources, given the names that they have within their clusters. Where several clusters have one name, it
// stands for the resource in the session's own cluster, and the others add the names of their clusters.
func (a *assembly) nameApart(workloads []*k8sobject.Object, names []string) []string {
	count := map[string]int{}
	for _, r := range a.resources {
		count[r.base]++
	}
	for _, n := range names {
		count[n]++
	}
	out := slices.Clone(names)
	for i, w := range workloads {
		if w.Cluster != "" && count[names[i]] > 1 {
			out[i] = inCluster(names[i], w.Cluster)
		}
	}
	return out
}

// inCluster is the name of a resource whose plain name another cluster has, too.
func inCluster(name, cluster string) string { return name + ":" + cluster }

// titleOf names a cluster in a sentence.
func titleOf(cluster string) string {
	if cluster == "" {
		return "the session's own cluster"
	}
	return fmt.Sprintf("cluster %q", cluster)
}

// spread returns the mend of a name that stands for things in several clusters; nil if they are in one.
func spread(clusters []string) error {
	slices.Sort(clusters)
	if clusters = slices.Compact(clusters); len(clusters) < 2 {
		return nil
	}
	var titles []string
	for _, c := range clusters {
		titles = append(titles, titleOf(c))
	}
	return problem.New("", "choose one with cluster=: they are in "+strings.Join(titles, " and "))
}

// settle puts a resource into the cluster that a call of k8s_resource names.
func (a *assembly) settle(o *resourceOptions, r *draft) error {
	switch {
	case !o.placed:
		return nil
	case r.placed && r.cluster == o.cluster:
		return nil
	case r.placed:
		return a.ErrorAt(o.site, "k8s_resource: cluster: resource %q is in %s, as %s says", r.name, titleOf(r.cluster), r.placedAt)
	}
	var all fault.List
	for _, obj := range r.objects {
		all.Add(a.move(o, obj, o.cluster))
	}
	if all.Any() {
		return all.Err()
	}
	r.cluster, r.placed, r.placedAt = o.cluster, true, o.site
	if r.workload != nil {
		for _, obj := range k8sobject.NewSelectors(byCluster(a.rest)[r.cluster]).Take(r.workload) {
			r.objects = append(r.objects, obj)
			a.rest = slices.DeleteFunc(a.rest, func(o *k8sobject.Object) bool { return o == obj })
		}
	}
	return a.rebase(o, r)
}

// rebase names a resource that has been put into another cluster as nameApart does.
func (a *assembly) rebase(o *resourceOptions, r *draft) error {
	name := r.base
	if slices.ContainsFunc(a.resources, func(other *draft) bool { return other != r && other.base == r.base }) && r.cluster != "" {
		name = inCluster(r.base, r.cluster)
	}
	if name == r.name {
		return nil
	}
	if other := a.byName(name); other != nil {
		return a.ErrorAt(o.site, "k8s_resource: cluster: cannot call %q %q: another resource has that name", r.name, name)
	}
	a.rename(r, name)
	return nil
}

// move puts an object whose declaration names no cluster into one.
func (a *assembly) move(o *resourceOptions, obj *k8sobject.Object, cluster string) error {
	if obj.Cluster == cluster {
		return nil
	}
	if obj.Placed {
		return a.ErrorAt(o.site, "k8s_resource: cluster: %s is in %s, as k8s_yaml at %s says", obj.ID(), titleOf(obj.Cluster), obj.Site)
	}
	moved := *obj
	moved.Cluster = cluster
	for _, other := range a.Declarations.Objects.List {
		if a.Declarations.Objects.keyOf(other) == a.Declarations.Objects.keyOf(&moved) {
			return a.ErrorAt(o.site, "k8s_resource: cluster: %s has %s already, declared at %s", titleOf(cluster), obj.ID(), other.Site)
		}
	}
	obj.Cluster = cluster
	return nil
}

// matching returns the resources that a name of a workload may stand for: those with that name, else those with such a workload.
func (a *assembly) matching(workload string, among func(*draft) bool) []*draft {
	var named, found []*draft
	sel, err := k8sobject.ParseSelector(workload)
	for _, r := range a.resources {
		if !among(r) {
			continue
		}
		if r.name == workload || r.base == workload {
			named = append(named, r)
		}
		if err == nil && r.workload != nil && sel.Matches(r.workload, a.Declarations.Objects.namespaceOf(r.cluster)) {
			found = append(found, r)
		}
	}
	if len(named) > 0 {
		return named
	}
	return found
}

// candidates returns the resources that a call of k8s_resource may configure: the one of that name. If the call names a cluster, those in the
// cluster come first, and then those that it can put there.
func (a *assembly) candidates(o *resourceOptions) []*draft {
	everywhere := func(*draft) bool { return true }
	if o.placed {
		for _, among := range []func(*draft) bool{
			func(r *draft) bool { return r.cluster == o.cluster },
			func(r *draft) bool { return !r.placed },
		} {
			if found := a.matching(o.workload, among); len(found) > 0 {
				return found
			}
		}
	}
	if r := a.byName(o.workload); r != nil {
		return []*draft{r}
	}
	return a.matching(o.workload, everywhere)
}

// choose returns the objects that a selector may stand for in a resource: those in its cluster, then those that the call can put there.
func (a *assembly) choose(found []*k8sobject.Object, o *resourceOptions, r *draft) []*k8sobject.Object {
	if !r.settled() {
		return found
	}
	for _, among := range []func(*k8sobject.Object) bool{
		func(obj *k8sobject.Object) bool { return obj.Cluster == r.cluster },
		func(obj *k8sobject.Object) bool { return o.placed && !obj.Placed },
	} {
		if some := filter(found, among); len(some) > 0 {
			return some
		}
	}
	return found
}

func filter(objs []*k8sobject.Object, keep func(*k8sobject.Object) bool) (out []*k8sobject.Object) {
	for _, o := range objs {
		if keep(o) {
			out = append(out, o)
		}
	}
	return out
}

// settled reports whether the cluster of the resource is decided. The first object decides it for a group.
func (r *draft) settled() bool { return r.placed || len(r.objects) > 0 || r.custom != nil }

// join makes the cluster of an object and of the resource that it joins the same.
func (a *assembly) join(o *resourceOptions, r *draft, obj *k8sobject.Object) error {
	switch {
	case !r.settled():
		r.cluster = obj.Cluster
		return nil
	case obj.Cluster == r.cluster:
		return nil
	case o.placed:
		return a.move(o, obj, r.cluster)
	}
	return a.ErrorAt(o.site, "k8s_resource: objects: %w", problem.New(fmt.Sprintf("%s is in %s, and resource %q is in %s", obj.ID(), titleOf(obj.Cluster), r.name, titleOf(r.cluster)),
		"all objects of a resource are in one cluster: cluster= puts them there"))
}

// uncategorizedIn returns the name of the resource for the objects of a cluster that belong to no other.
func uncategorizedIn(cluster string) string {
	if cluster == "" {
		return string(model.UncategorizedName)
	}
	return string(model.UncategorizedIn(cluster))
}

// clusters returns the names of all clusters, the session's own first.
func (a *assembly) clusters() []string {
	names := []string{""}
	for _, c := range a.gate.Clusters() {
		if !c.Own {
			names = append(names, c.Name)
		}
	}
	return names
}

// in returns the cluster of a name; nil for the session's own.
func (a *assembly) in(cluster string) *kubecontext.Declared {
	in, _ := a.gate.Named(cluster) // place has found all of them
	return in
}

// contextOf returns the context of a cluster, as the model identifies it.
func (a *assembly) contextOf(cluster string) string {
	if in := a.in(cluster); in != nil {
		return in.Context
	}
	return ""
}

// Allowed returns the errors of resources in clusters where the Tiltfile must not deploy.
func (a *assembly) Allowed() error {
	var all fault.List
	for _, cluster := range a.clusters() {
		at, deploys := a.firstSite(cluster)
		if !deploys {
			continue
		}
		if err := a.gate.Allowed("deploy", a.in(cluster)); err != nil {
			all.Add(a.Placed(at, err.Error(), err))
		}
	}
	return all.Err()
}

// firstSite returns the place where the first object of a cluster, else the first resource, was declared.
func (a *assembly) firstSite(cluster string) (at fault.Site, deploys bool) {
	for _, o := range a.Declarations.Objects.List {
		if o.Cluster == cluster {
			return o.Site, true
		}
	}
	for _, r := range a.resources {
		if r.cluster == cluster {
			return r.site, true
		}
	}
	return fault.Site{}, false
}

// reach makes the commands of custom deploys work on their clusters.
func (a *assembly) reach() error {
	var all fault.List
	for _, r := range a.resources {
		if r.custom == nil {
			continue
		}
		for _, cmd := range []*model.Cmd{&r.custom.Apply, &r.custom.Delete} {
			var err error
			if *cmd, err = a.in(r.cluster).Command(*cmd); err != nil {
				all.Add(a.ErrorAt(r.custom.site, "k8s_custom_deploy: %w", err))
			}
			*cmd = a.WithEnv(*cmd)
		}
	}
	return all.Err()
}

// ambiguous is the error of a name that may stand for several things, in these clusters.
func (a *assembly) ambiguous(o *resourceOptions, what, name, known string, clusters []string) error {
	msg := fmt.Sprintf("k8s_resource: %s%q could be any of %s", what, name, known)
	return a.Placed(o.site, msg, spread(clusters))
}
