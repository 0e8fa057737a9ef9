package kubernetes

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/image"
	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// draft is a Kubernetes resource during assembly.
type draft struct {
	name string
	// base is the name that it would have if there were one cluster.
	base string
	// cluster is the name of its cluster; empty for the session's own. placed is set if the Tiltfile says so, at placedAt.
	cluster  string
	placed   bool
	placedAt fault.Site
	// workload is the object that makes the pods; nil for a group of other objects.
	workload *k8sobject.Object
	// custom is set for a resource that commands of the user deploy; images are the images that the commands receive.
	custom        *customDeploy
	images        []*image.Image
	objects       []*k8sobject.Object
	site          fault.Site
	portForwards  []model.PortForward
	podSelectors  []map[string]string
	selectorsOnly bool
	readiness     model.PodReadiness
	triggerMode   resource.TriggerMode
	autoInit      value.Bool
	deps          []string
	links         []model.Link
	labels        []string
	policy        policy
	// calls are the k8s_resource calls that configure it.
	calls []fault.Call
}

// assembly turns objects into resources.
type assembly struct {
	*Declarations
	resources []*draft
	// named holds the resources by name.
	named map[string]*draft
	// rest are the objects that belong to no resource yet.
	rest []*k8sobject.Object
	// restDeps are the resources that rest depends on, by the cluster.
	restDeps map[string][]string
}

// Assemble makes resources from the custom deploys and the objects: each workload becomes one, with the Services that target
// its pods. Then it applies the calls of k8s_resource in order. The remaining objects are uncategorized. Errors in those calls
// are returned together with the assembly. adopt is the value of model.AnnotationAdopt for objects for which neither the YAML
// nor a call sets one.
func (d *Declarations) Assemble(adopt string) (*assembly, error) {
	d.Objects.nameDiffering(d.Log)
	if err := d.place(); err != nil {
		return nil, err
	}
	a := &assembly{Declarations: d, named: map[string]*draft{}, restDeps: map[string][]string{}}
	customs, err := d.finishCustoms()
	if err != nil {
		return nil, err
	}
	for _, r := range customs {
		a.add(r)
	}
	if err := d.applyKinds(); err != nil {
		return nil, err
	}
	if err := a.workloads(); err != nil {
		return nil, err
	}
	var all fault.List
	// pending are the names that resources would have if there were no error: calls that refer to them cause no further errors.
	pending := map[string]bool{}
	for _, o := range d.options {
		if pending[o.workload] && a.byName(o.workload) == nil {
			continue
		}
		if err := a.apply(o); err != nil {
			all.Add(err)
			pending[o.newName] = o.newName != ""
		}
	}
	for _, r := range a.resources {
		if unknown := r.policy.unknownKinds(r.objects); len(unknown) > 0 {
			all.Add(a.ErrorAt(r.site, "k8s_resource: ignore: %q has no object of kind %s", r.name, strings.Join(unknown, ", ")))
		}
		if err := r.policy.annotate(r.objects); err != nil {
			all.Add(a.ErrorAt(r.site, "k8s_resource: %w", err))
		}
	}
	all.Add(a.reach())
	rest := newPolicy()
	rest.adopt.value = adopt
	all.Add(rest.annotate(a.Objects.List))
	if err := a.addReferred(); err != nil {
		all.Add(err)
	}
	return a, all.Err()
}

// workloads makes a resource of each object that has pods or counts as a workload, together with the objects whose selectors
// target its pods. All other objects go to rest.
func (a *assembly) workloads() error {
	var workloads []*k8sobject.Object
	for _, o := range a.Objects.List {
		if o.HasPods || o.Workload {
			workloads = append(workloads, o)
		} else {
			a.rest = append(a.rest, o)
		}
	}
	names, err := a.workloadNames(workloads)
	if err != nil {
		return err
	}
	selectors, taken := map[string]k8sobject.Selectors{}, map[*k8sobject.Object]bool{}
	for cluster, objs := range byCluster(a.rest) {
		selectors[cluster] = k8sobject.NewSelectors(objs)
	}
	apart := a.nameApart(workloads, names)
	for i, w := range workloads {
		r := &draft{name: apart[i], base: names[i], workload: w, objects: []*k8sobject.Object{w}, site: w.Site, cluster: w.Cluster, placed: w.Placed, placedAt: w.Site}
		if err := resource.CheckName(r.name); err != nil {
			return a.ErrorAt(w.Site, "%s: %w", w.FullName(), err)
		}
		if other := a.byName(r.name); other != nil {
			return a.ErrorAt(w.Site, "%s would be the resource %q, but %s declares a resource of that name; choose another name there, or name all workloads with workload_to_resource_function()",
				w.FullName(), r.name, other.site)
		}
		for _, o := range selectors[w.Cluster].Take(w) {
			r.objects = append(r.objects, o)
			taken[o] = true
		}
		a.add(r)
	}
	a.rest = slices.DeleteFunc(a.rest, func(o *k8sobject.Object) bool { return taken[o] })
	return nil
}

func (a *assembly) workloadNames(workloads []*k8sobject.Object) ([]string, error) {
	if a.nameFn == nil {
		return uniqueNames(workloads), nil
	}
	names := make([]string, len(workloads))
	for i, w := range workloads {
		id := starlarkstruct.FromStringDict(starlark.String("k8s_object_id"), starlark.StringDict{
			"name": starlark.String(w.Name), "kind": starlark.String(w.Kind),
			"namespace": starlark.String(w.Namespaced()), "group": starlark.String(w.Group()),
		})
		v, err := starlark.Call(a.Thread, a.nameFn.fn, starlark.Tuple{id}, nil)
		if err != nil {
			return nil, err
		}
		name, ok := starlark.AsString(v)
		if !ok || name == "" {
			return nil, a.ErrorAt(a.nameFn.site, "%s returned %s for %s, want the name of the resource", a.nameFn.fn.Name(), v, w.FullName())
		}
		for j, other := range workloads[:i] {
			if names[j] == name && other.Cluster == w.Cluster {
				return nil, a.ErrorAt(a.nameFn.site, "%s returned %q for both %s and %s", a.nameFn.fn.Name(), name, other.FullName(), w.FullName())
			}
		}
		names[i] = name
	}
	return names, nil
}

// apply adds the options of one k8s_resource call: lists grow, single values are replaced.
func (a *assembly) apply(o *resourceOptions) error {
	r, err := a.target(o)
	if err != nil {
		return err
	}
	if err := a.settle(o, r); err != nil {
		return err
	}
	r.portForwards = append(r.portForwards, o.portForwards.list...)
	r.podSelectors = append(r.podSelectors, o.podSelectors.list...)
	r.links = append(r.links, o.Links.List...)
	r.deps = value.AppendNew(r.deps, o.Deps.Values)
	r.labels = value.AppendNew(r.labels, o.Labels.Values)
	r.policy.merge(o.policy)
	if o.podReadiness.value != "" {
		r.readiness = o.podReadiness.value
	}
	if o.selectorsOnly.IsSet {
		r.selectorsOnly = o.selectorsOnly.Value
	}
	if o.TriggerMode.IsSet {
		r.triggerMode = o.TriggerMode
	}
	if o.AutoInit.IsSet {
		r.autoInit = o.AutoInit
	}
	if o.newName != "" && o.newName != r.name {
		if other := a.byName(o.newName); other != nil {
			return a.ErrorAt(o.site, "k8s_resource: cannot call %q %q: another resource has that name", r.name, o.newName)
		}
		a.rename(r, o.newName)
		r.base = o.newName
	}
	r.site = o.site
	r.calls = append(r.calls, fault.Call{Name: "k8s_resource", Site: o.site})
	return a.moveObjects(o, r)
}

// target finds the resource that a call configures, or makes the group that it declares.
func (a *assembly) target(o *resourceOptions) (*draft, error) {
	if o.workload == "" {
		if a.byName(o.newName) != nil {
			return nil, a.ErrorAt(o.site, "k8s_resource: there is already a resource called %q", o.newName)
		}
		r := &draft{name: o.newName, base: o.newName, site: o.site, cluster: o.cluster, placed: o.placed, placedAt: o.site}
		a.add(r)
		return r, nil
	}
	found, names := a.candidates(o), resourceNames(a.resources)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var in []string
		for _, r := range found {
			in = append(in, r.cluster)
		}
		return nil, a.ambiguous(o, "", o.workload, hint.Quoted(resourceNames(found)), in)
	case len(names) == 0:
		return nil, a.ErrorAt(o.site, "k8s_resource: there is no workload %q: the YAML given to k8s_yaml has no workloads", o.workload)
	}
	return nil, a.ErrorAt(o.site, "k8s_resource: there is no workload %q%s; known names: %s", o.workload, hint.DidYouMean(o.workload, names), hint.Quoted(names))
}

func resourceNames(list []*draft) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.name
	}
	return out
}

// byName returns the resource of a name, or nil.
func (a *assembly) byName(name string) *draft { return a.named[name] }

func (a *assembly) add(r *draft) {
	a.resources = append(a.resources, r)
	if a.named[r.name] == nil {
		a.named[r.name] = r
	}
}

func (a *assembly) rename(r *draft, name string) {
	if a.named[r.name] == r {
		delete(a.named, r.name)
	}
	r.name = name
	a.named[name] = r
}

// moveObjects moves the objects that objects= selects from the rest to the resource.
func (a *assembly) moveObjects(o *resourceOptions, r *draft) error {
	if r.custom != nil && len(o.objects.Values) > 0 {
		return a.ErrorAt(o.site, "k8s_resource: objects: %q is deployed by a command, which determines its objects", r.name)
	}
	var all fault.List
	for _, text := range o.objects.Values {
		sel, err := k8sobject.ParseSelector(text)
		if err != nil {
			all.Add(a.ErrorAt(o.site, "k8s_resource: objects: %w", err))
			continue
		}
		found := a.choose(sel.Pick(a.Declarations.Objects.List, a.Declarations.Objects.namespaceOf), o, r)
		switch {
		case len(found) == 0:
			all.Add(a.ErrorAt(o.site, "k8s_resource: objects: there is no object %q%s; known names: %s", text,
				hint.DidYouMean(sel[0], objectNames(a.Declarations.Objects.List)), k8sobject.QuotedNames(a.Declarations.Objects.List)))
			continue
		case len(found) > 1:
			var in []string
			for _, obj := range found {
				in = append(in, obj.Cluster)
			}
			all.Add(a.ambiguous(o, "objects: ", text, k8sobject.QuotedNames(found), in))
			continue
		}
		i := slices.Index(a.rest, found[0])
		if i < 0 {
			all.Add(a.ErrorAt(o.site, "k8s_resource: objects: %q already belongs to resource %q", text, a.ownerOf(found[0])))
			continue
		}
		if err := a.join(o, r, found[0]); err != nil {
			all.Add(err)
			continue
		}
		a.rest = slices.Delete(a.rest, i, i+1)
		r.objects = append(r.objects, found[0])
	}
	return all.Err()
}

func objectNames(objs []*k8sobject.Object) []string {
	out := make([]string, len(objs))
	for i, o := range objs {
		out[i] = o.Name
	}
	return out
}

func (a *assembly) ownerOf(o *k8sobject.Object) string {
	for _, r := range a.resources {
		if slices.Contains(r.objects, o) {
			return r.name
		}
	}
	return uncategorizedIn(o.Cluster)
}

// Manifests returns the resources as manifests of the model.
func (a *assembly) Manifests() []model.Manifest {
	var out []model.Manifest
	rest := byCluster(a.rest)
	for _, cluster := range a.clusters() {
		if objs := rest[cluster]; len(objs) > 0 {
			out = append(out, model.Manifest{Name: model.ManifestName(uncategorizedIn(cluster)), AutoInit: true, ResourceDeps: resource.Names(a.restDeps[cluster]),
				K8s: &model.K8sTarget{Cluster: a.contextOf(cluster), Objects: modelObjects(objs), PodReadiness: model.PodIgnore}})
		}
	}
	for _, r := range a.resources {
		m := model.Manifest{
			Name: model.ManifestName(r.name), Labels: resource.SortedLabels(r.labels), ResourceDeps: resource.Names(r.deps),
			TriggerMode: a.defaults.Mode(r.triggerMode), AutoInit: r.autoInit.Value || !r.autoInit.IsSet, Links: r.links,
			Images: image.Targets(append(a.imagesOf(r.objects), r.images...)),
			K8s: &model.K8sTarget{Cluster: a.contextOf(r.cluster), Objects: modelObjects(r.objects), PortForwards: r.portForwards,
				PodReadiness: r.podReadiness(), ExtraPodSelectors: r.podSelectors, SelectorsOnly: r.selectorsOnly,
				ImageLocators: locatorsOf(r.objects)},
		}
		if r.custom != nil {
			m.K8s.CustomDeploy = &r.custom.CustomDeploy
			for i := range m.Images {
				m.Images[i].Supervised = m.Images[i].LiveUpdate.RestartProcess != nil &&
					slices.ContainsFunc(r.images, func(im *image.Image) bool { return im.Ref == m.Images[i].Ref })
			}
		}
		out = append(out, m)
	}
	return out
}

// Sites returns the places where the resources were declared, by name.
func (a *assembly) Sites() map[model.ManifestName]fault.Site {
	out := map[model.ManifestName]fault.Site{}
	for cluster, objs := range byCluster(a.rest) {
		out[model.ManifestName(uncategorizedIn(cluster))] = objs[0].Site
	}
	for _, r := range a.resources {
		out[model.ManifestName(r.name)] = r.site
	}
	return out
}

// Calls returns the calls that have shaped the resources, by name, except those that declare images.
func (a *assembly) Calls() map[model.ManifestName][]fault.Call {
	out := map[model.ManifestName][]fault.Call{}
	objects := func(name string, list []*k8sobject.Object) {
		for _, o := range list {
			out[model.ManifestName(name)] = append(out[model.ManifestName(name)], fault.Call{Name: "k8s_yaml", Site: o.Site})
			out[model.ManifestName(name)] = append(out[model.ManifestName(name)], a.ruled[o]...)
		}
	}
	for cluster, objs := range byCluster(a.rest) {
		objects(uncategorizedIn(cluster), objs)
	}
	for _, r := range a.resources {
		name := model.ManifestName(r.name)
		if r.custom != nil {
			out[name] = append(out[name], fault.Call{Name: "k8s_custom_deploy", Site: r.custom.site})
		}
		if r.workload != nil && a.nameFn != nil {
			out[name] = append(out[name], fault.Call{Name: "workload_to_resource_function", Site: a.nameFn.site})
		}
		objects(r.name, r.objects)
		out[name] = append(out[name], r.calls...)
	}
	return out
}

// podReadiness returns the readiness that is set, else the default of the workload's kind.
func (r *draft) podReadiness() model.PodReadiness {
	for _, o := range r.objects {
		if r.readiness == "" {
			r.readiness = o.Readiness
		}
	}
	switch {
	case r.readiness != "":
		return r.readiness
	case r.custom != nil:
		return model.PodWait
	case r.workload == nil, r.workload.Kind == "CronJob":
		return model.PodIgnore
	case r.workload.Kind == "Job":
		return model.PodSucceeded
	}
	return model.PodWait
}

// imagesOf returns the built images that objects run.
func (d *Declarations) imagesOf(objs []*k8sobject.Object) []*image.Image {
	var used []*image.Image
	for _, o := range objs {
		for _, ref := range o.Images {
			if im := d.images.Find(ref); im != nil {
				used = append(used, im)
			}
		}
		for _, v := range o.EnvValues {
			if im := d.images.FindInEnv(v); im != nil {
				used = append(used, im)
			}
		}
	}
	return used
}

func locatorsOf(objs []*k8sobject.Object) []model.ImageLocator {
	var out []model.ImageLocator
	for _, o := range objs {
		out = append(out, o.Locators...)
	}
	return out
}

func modelObjects(objs []*k8sobject.Object) []model.K8sObject {
	out := make([]model.K8sObject, len(objs))
	for i, o := range objs {
		out[i] = o.K8sObject
	}
	return out
}
