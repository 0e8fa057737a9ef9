package tiltfile

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// draft is a Kubernetes resource in the making.
type draft struct {
	name string
	// workload is the object that makes the pods; nil for a group of other objects.
	workload *object
	// custom is set for a resource that commands of the user deploy, images are those that the commands are told about.
	custom        *customDeploy
	images        []*image
	objects       []*object
	site          fault.Site
	portForwards  []model.PortForward
	podSelectors  []map[string]string
	selectorsOnly bool
	readiness     model.PodReadiness
	triggerMode   triggerMode
	autoInit      value.Bool
	deps          []string
	links         []model.Link
	labels        []string
}

// assembly turns objects into resources.
type assembly struct {
	*k8sDeclarations
	resources []*draft
	// named finds a resource by its name.
	named map[string]*draft
	// rest are the objects that belong to no resource yet.
	rest []*object
}

// assemble makes resources of the custom deploys and of the objects: each workload becomes one, with the Services that
// target its pods; then the calls of k8s_resource are applied in order. What remains is uncategorized. With faults in
// those calls there is an assembly nonetheless.
func (d *k8sDeclarations) assemble() (*assembly, error) {
	a := &assembly{k8sDeclarations: d, named: map[string]*draft{}}
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
	// pending are the names that resources would have but for a fault; that they are not known is no fault of its own.
	pending := map[string]bool{}
	for _, o := range d.options {
		if a.byName(o.workload) == nil && pending[o.workload] {
			continue
		}
		if err := a.apply(o); err != nil {
			all.Add(err)
			pending[o.newName] = o.newName != ""
		}
	}
	return a, all.Err()
}

func (a *assembly) workloads() error {
	var workloads []*object
	for _, o := range a.objects.list {
		if o.hasPods || o.workload {
			workloads = append(workloads, o)
		} else {
			a.rest = append(a.rest, o)
		}
	}
	names, err := a.workloadNames(workloads)
	if err != nil {
		return err
	}
	selectors, taken := newSelectorIndex(a.rest), map[*object]bool{}
	for i, w := range workloads {
		r := &draft{name: names[i], workload: w, objects: []*object{w}, site: w.site}
		if err := checkName(r.name); err != nil {
			return a.ErrorAt(w.site, "%s: %w", w.fullName(), err)
		}
		if other := a.byName(r.name); other != nil {
			return a.ErrorAt(w.site, "%s would be the resource %q, but %s declares one of that name; choose another there, or for all with workload_to_resource_function()",
				w.fullName(), r.name, other.site)
		}
		for _, o := range selectors.take(w) {
			r.objects = append(r.objects, o)
			taken[o] = true
		}
		a.add(r)
	}
	a.rest = slices.DeleteFunc(a.rest, func(o *object) bool { return taken[o] })
	return nil
}

func (a *assembly) workloadNames(workloads []*object) ([]string, error) {
	if a.nameFn == nil {
		return uniqueNames(workloads), nil
	}
	names := make([]string, len(workloads))
	for i, w := range workloads {
		id := starlarkstruct.FromStringDict(starlark.String("k8s_object_id"), starlark.StringDict{
			"name": starlark.String(w.Name), "kind": starlark.String(w.Kind),
			"namespace": starlark.String(w.namespaced()), "group": starlark.String(w.Group()),
		})
		v, err := starlark.Call(a.Thread, a.nameFn.fn, starlark.Tuple{id}, nil)
		if err != nil {
			return nil, err
		}
		name, ok := starlark.AsString(v)
		if !ok || name == "" {
			return nil, a.ErrorAt(a.nameFn.site, "%s returned %s for %s, want the name of the resource", a.nameFn.fn.Name(), v, w.fullName())
		}
		if j := slices.Index(names[:i], name); j >= 0 {
			return nil, a.ErrorAt(a.nameFn.site, "%s returned %q for both %s and %s", a.nameFn.fn.Name(), name, workloads[j].fullName(), w.fullName())
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
	r.portForwards = append(r.portForwards, o.portForwards.list...)
	r.podSelectors = append(r.podSelectors, o.podSelectors.list...)
	r.links = append(r.links, o.links.list...)
	r.deps = value.AppendNew(r.deps, o.deps.Values)
	r.labels = value.AppendNew(r.labels, o.labels.values)
	if o.podReadiness.value != "" {
		r.readiness = o.podReadiness.value
	}
	if o.selectorsOnly.IsSet {
		r.selectorsOnly = o.selectorsOnly.Value
	}
	if o.triggerMode.isSet {
		r.triggerMode = o.triggerMode
	}
	if o.autoInit.IsSet {
		r.autoInit = o.autoInit
	}
	if o.newName != "" && o.newName != r.name {
		if other := a.byName(o.newName); other != nil {
			return a.ErrorAt(o.site, "k8s_resource: cannot call %q %q: another resource has that name", r.name, o.newName)
		}
		a.rename(r, o.newName)
	}
	r.site = o.site
	return a.moveObjects(o, r)
}

// target finds the resource that a call is about, or makes the group that it declares.
func (a *assembly) target(o *resourceOptions) (*draft, error) {
	if o.workload == "" {
		if a.byName(o.newName) != nil {
			return nil, a.ErrorAt(o.site, "k8s_resource: there is already a resource called %q", o.newName)
		}
		r := &draft{name: o.newName, site: o.site}
		a.add(r)
		return r, nil
	}
	if r := a.byName(o.workload); r != nil {
		return r, nil
	}
	var found []*draft
	if sel, err := parseSelector(o.workload); err == nil {
		for _, r := range a.resources {
			if r.workload != nil && sel.matches(r.workload) {
				found = append(found, r)
			}
		}
	}
	names := resourceNames(a.resources)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, a.ErrorAt(o.site, "k8s_resource: %q could be any of %s", o.workload, hint.Quoted(resourceNames(found)))
	case len(names) == 0:
		return nil, a.ErrorAt(o.site, "k8s_resource: there is no workload %q: no YAML given to k8s_yaml holds one", o.workload)
	}
	return nil, a.ErrorAt(o.site, "k8s_resource: there is no workload %q%s; known are %s", o.workload, hint.DidYouMean(o.workload, names), hint.Quoted(names))
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

// moveObjects moves what objects= selects out of the rest.
func (a *assembly) moveObjects(o *resourceOptions, r *draft) error {
	if r.custom != nil && len(o.objects.Values) > 0 {
		return a.ErrorAt(o.site, "k8s_resource: objects: %q is deployed by a command, which alone says what belongs to it", r.name)
	}
	var all fault.List
	for _, text := range o.objects.Values {
		sel, err := parseSelector(text)
		if err != nil {
			all.Add(a.ErrorAt(o.site, "k8s_resource: objects: %w", err))
			continue
		}
		found := sel.pick(a.k8sDeclarations.objects.list)
		switch {
		case len(found) == 0:
			all.Add(a.ErrorAt(o.site, "k8s_resource: objects: there is no object %q%s; known are %s", text,
				hint.DidYouMean(sel[0], objectNames(a.k8sDeclarations.objects.list)), quotedNames(a.k8sDeclarations.objects.list)))
			continue
		case len(found) > 1:
			all.Add(a.ErrorAt(o.site, "k8s_resource: objects: %q could be any of %s", text, quotedNames(found)))
			continue
		}
		i := slices.Index(a.rest, found[0])
		if i < 0 {
			all.Add(a.ErrorAt(o.site, "k8s_resource: objects: %q already belongs to resource %q", text, a.ownerOf(found[0])))
			continue
		}
		a.rest = slices.Delete(a.rest, i, i+1)
		r.objects = append(r.objects, found[0])
	}
	return all.Err()
}

func objectNames(objs []*object) []string {
	out := make([]string, len(objs))
	for i, o := range objs {
		out[i] = o.Name
	}
	return out
}

func (a *assembly) ownerOf(o *object) string {
	for _, r := range a.resources {
		if slices.Contains(r.objects, o) {
			return r.name
		}
	}
	return string(model.UncategorizedName)
}

// manifests returns the resources as the model has them.
func (a *assembly) manifests() []model.Manifest {
	var out []model.Manifest
	if len(a.rest) > 0 {
		out = append(out, model.Manifest{Name: model.UncategorizedName, AutoInit: true,
			K8s: &model.K8sTarget{Objects: modelObjects(a.rest), PodReadiness: model.PodIgnore}})
	}
	for _, r := range a.resources {
		m := model.Manifest{
			Name: model.ManifestName(r.name), Labels: sortedLabels(r.labels), ResourceDeps: manifestNames(r.deps),
			TriggerMode: a.defaults.mode(r.triggerMode), AutoInit: r.autoInit.Value || !r.autoInit.IsSet, Links: r.links,
			Images: targetsOf(append(a.imagesOf(r.objects), r.images...)),
			K8s: &model.K8sTarget{Objects: modelObjects(r.objects), PortForwards: r.portForwards,
				PodReadiness: r.podReadiness(), ExtraPodSelectors: r.podSelectors, SelectorsOnly: r.selectorsOnly,
				ImageLocators: locatorsOf(r.objects)},
		}
		if r.custom != nil {
			m.K8s.CustomDeploy = &r.custom.CustomDeploy
			for i := range m.Images {
				m.Images[i].Supervised = m.Images[i].LiveUpdate.RestartProcess != nil &&
					slices.ContainsFunc(r.images, func(im *image) bool { return im.Ref == m.Images[i].Ref })
			}
		}
		out = append(out, m)
	}
	return out
}

// sites are where the resources were declared, by name.
func (a *assembly) sites() map[model.ManifestName]fault.Site {
	out := map[model.ManifestName]fault.Site{}
	for _, r := range a.resources {
		out[model.ManifestName(r.name)] = r.site
	}
	return out
}

// firstSite is where the first of what is deployed was declared.
func (a *assembly) firstSite() fault.Site {
	if len(a.k8sDeclarations.objects.list) > 0 {
		return a.k8sDeclarations.objects.list[0].site
	}
	return a.resources[0].site
}

// podReadiness is what was asked for, else what fits the kind of the workload.
func (r *draft) podReadiness() model.PodReadiness {
	for _, o := range r.objects {
		if r.readiness == "" {
			r.readiness = o.readiness
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
func (d *k8sDeclarations) imagesOf(objs []*object) []*image {
	var used []*image
	for _, o := range objs {
		for _, ref := range o.images {
			if im := d.images.find(ref); im != nil {
				used = append(used, im)
			}
		}
		for _, v := range o.envValues {
			if im := d.images.findInEnv(v); im != nil {
				used = append(used, im)
			}
		}
	}
	return used
}

func locatorsOf(objs []*object) []model.ImageLocator {
	var out []model.ImageLocator
	for _, o := range objs {
		out = append(out, o.locators...)
	}
	return out
}

func modelObjects(objs []*object) []model.K8sObject {
	out := make([]model.K8sObject, len(objs))
	for i, o := range objs {
		out[i] = o.K8sObject
	}
	return out
}
