package dockercompose

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/image"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// composeOptions is one call of dc_resource.
type composeOptions struct {
	resource.Options
	site       fault.Site
	name       string
	project    string
	newName    string
	image      string
	inferLinks value.Bool
}

// composeResource is a service that becomes a resource.
type composeResource struct {
	compose.Service
	project     *composeProject
	name        string
	site        fault.Site
	image       string
	inferLinks  bool
	triggerMode resource.TriggerMode
	autoInit    value.Bool
	deps        []string
	links       []model.Link
	labels      []string
	// calls are the docker_compose and dc_resource calls that declare and configure it.
	calls []fault.Call
}

func (d *Declarations) dcResource(c *eval.Call) (starlark.Value, error) {
	o := &composeOptions{site: c.Site()}
	if err := c.Unpack("name", &o.name, "image??", &o.image, "trigger_mode??", &o.TriggerMode, "resource_deps??", &o.Deps,
		"infer_links??", &o.inferLinks, "links??", &o.Links, "labels??", &o.Labels, "auto_init??", &o.AutoInit,
		"project_name??", &o.project, "new_name??", &o.newName); err != nil {
		return nil, err
	}
	if o.name == "" {
		return nil, errors.New("the name of the service is empty")
	}
	if err := resource.CheckName(o.newName); o.newName != "" && err != nil {
		return nil, fmt.Errorf("new_name: %w", err)
	}
	if o.image != "" {
		if _, err := image.ParseRef(o.image); err != nil {
			return nil, fmt.Errorf("image: %w", err)
		}
	}
	d.options = append(d.options, o)
	return nil, nil
}

// Manifests makes resources from the services, and applies the calls of dc_resource in order. sites holds the sites of
// the resources that exist already, by name, and calls the calls that have shaped them; Manifests adds the sites and
// calls of the new ones.
func (d *Declarations) Manifests(sites map[model.ManifestName]fault.Site, calls map[model.ManifestName][]fault.Call) ([]model.Manifest, error) {
	if len(d.projects) > 0 && d.images.Registry != nil {
		return nil, d.ErrorAt(d.projects[0].site, "docker_compose cannot be combined with default_registry(%q): Compose runs the images of this machine's engine", d.images.Registry.Host)
	}
	list := d.resources()
	for _, o := range d.options {
		if err := d.apply(o, list); err != nil {
			return nil, err
		}
	}
	if err := d.checkNames(list, sites); err != nil {
		return nil, err
	}
	var out []model.Manifest
	for _, r := range list {
		m, err := d.manifest(r, list)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
		calls[m.Name] = r.calls
	}
	return out, nil
}

func (d *Declarations) resources() []*composeResource {
	var list []*composeResource
	for _, p := range d.projects {
		for _, service := range p.loaded.Services {
			list = append(list, &composeResource{Service: service, project: p, name: service.Name, site: p.site, inferLinks: true,
				calls: []fault.Call{{Name: "docker_compose", Site: p.site}}})
		}
	}
	return list
}

// apply adds the options of one dc_resource call: lists grow, single values are replaced.
func (d *Declarations) apply(o *composeOptions, list []*composeResource) error {
	r, err := d.target(o, list)
	if err != nil {
		return err
	}
	r.links = append(r.links, o.Links.List...)
	r.deps = value.AppendNew(r.deps, o.Deps.Values)
	r.labels = value.AppendNew(r.labels, o.Labels.Values)
	if o.TriggerMode.IsSet {
		r.triggerMode = o.TriggerMode
	}
	if o.AutoInit.IsSet {
		r.autoInit = o.AutoInit
	}
	if o.inferLinks.IsSet {
		r.inferLinks = o.inferLinks.Value
	}
	if o.image != "" {
		r.image = o.image
	}
	if o.newName != "" {
		r.name = o.newName
	}
	r.site = o.site
	r.calls = append(r.calls, fault.Call{Name: "dc_resource", Site: o.site})
	return nil
}

// target finds the service that a call configures: by its name, or by the name that an earlier call gave it.
func (d *Declarations) target(o *composeOptions, list []*composeResource) (*composeResource, error) {
	if o.project != "" && d.project(o.project) == nil {
		names := make([]string, len(d.projects))
		for i, p := range d.projects {
			names[i] = p.Name
		}
		return nil, d.ErrorAt(o.site, "dc_resource: there is no project %q%s%s", o.project, hint.DidYouMean(o.project, names), knownAre(names))
	}
	var found, renamed []*composeResource
	var names []string
	for _, r := range list {
		if o.project != "" && r.project.Name != o.project {
			continue
		}
		names = value.AppendNew(names, []string{r.Name})
		switch o.name {
		case r.Name:
			found = append(found, r)
		case r.name:
			renamed = append(renamed, r)
		}
	}
	if len(found) == 0 {
		found = renamed
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var projects []string
		for _, r := range found {
			projects = append(projects, r.project.Name)
		}
		return nil, d.ErrorAt(o.site, "dc_resource: several projects have a service %q: select one with project_name=, one of %s", o.name, hint.Quoted(projects))
	}
	return nil, d.unknownService(o, names)
}

func (d *Declarations) unknownService(o *composeOptions, names []string) error {
	if len(d.projects) == 0 {
		return d.ErrorAt(o.site, "dc_resource: there is no service %q: docker_compose is not called", o.name)
	}
	for _, p := range d.projects {
		if profiles := p.loaded.Inactive[o.name]; profiles != nil && (o.project == "" || o.project == p.Name) {
			return d.Placed(o.site, fmt.Sprintf("dc_resource: service %q is left out: none of its profiles (%s) is active", o.name, strings.Join(profiles, ", ")),
				problem.New("", fmt.Sprintf("docker_compose(…, profiles=[%q])", profiles[0])))
		}
	}
	return d.ErrorAt(o.site, "dc_resource: there is no service %q%s%s", o.name, hint.DidYouMean(o.name, names), knownAre(names))
}

func knownAre(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; known names: " + hint.Quoted(names)
}

// checkNames refuses names that are already taken.
func (d *Declarations) checkNames(list []*composeResource, sites map[model.ManifestName]fault.Site) error {
	owner := map[string]*composeResource{}
	for _, r := range list {
		if err := resource.CheckName(r.name); err != nil {
			return d.ErrorAt(r.site, "docker_compose: service %q: %w", r.Name, err)
		}
		if other := owner[r.name]; other != nil && other.project == r.project {
			at := r.site
			if r.name == r.Name {
				at = other.site
			}
			return d.ErrorAt(at, "dc_resource: services %q and %q of project %q would both be called %q", other.Name, r.Name, r.project.Name, r.name)
		} else if other != nil {
			return d.nameTaken(r, fmt.Sprintf("docker_compose: projects %q and %q both have a service that is called %q here", other.project.Name, r.project.Name, r.name))
		}
		if at, taken := sites[model.ManifestName(r.name)]; taken {
			return d.nameTaken(r, fmt.Sprintf("docker_compose: there is already a resource called %q, declared at %s", r.name, at))
		}
		owner[r.name] = r
	}
	for _, r := range list {
		sites[model.ManifestName(r.name)] = r.site
	}
	return nil
}

func (d *Declarations) nameTaken(r *composeResource, msg string) error {
	return d.Placed(r.site, msg, problem.New("", fmt.Sprintf("dc_resource(%q, project_name=%q, new_name=%q)", r.Name, r.project.Name, r.project.Name+"-"+r.Name)))
}

func (d *Declarations) manifest(r *composeResource, list []*composeResource) (model.Manifest, error) {
	m := model.Manifest{
		Name: model.ManifestName(r.name), Labels: resource.SortedLabels(r.labels), TriggerMode: d.defaults.Mode(r.triggerMode),
		AutoInit: r.autoInit.Value || !r.autoInit.IsSet, Links: r.links,
		ResourceDeps: resource.Names(value.AppendNew(r.deps, r.startedAfter(list))),
		Compose: &model.ComposeTarget{Project: r.project.ComposeProject, Service: r.Name, Image: r.Image,
			Entrypoint: r.Entrypoint, Command: r.Command, Ports: r.Ports, Build: r.Build, Hash: r.Hash},
	}
	if r.inferLinks {
		m.Links = append(slices.Clip(m.Links), inferredLinks(r.Ports, r.links)...)
	}
	return m, d.settleImage(r, &m)
}

// startedAfter returns the resources of the services that Compose starts before this one.
func (r *composeResource) startedAfter(list []*composeResource) []string {
	var out []string
	for _, name := range r.DependsOn {
		for _, o := range list {
			if o.project == r.project && o.Name == name {
				out = append(out, o.name)
			}
		}
	}
	return out
}

// inferredLinks makes a link for each port that is published at a known port of this machine, except where such a link
// already exists.
func inferredLinks(ports []model.ComposePort, given []model.Link) []model.Link {
	var out []model.Link
	for _, p := range ports {
		l := model.Link{URL: p.URL(), Name: p.Name}
		if l.URL == "" {
			continue
		}
		same := func(o model.Link) bool { return strings.TrimSuffix(o.URL, "/") == strings.TrimSuffix(l.URL, "/") }
		if !slices.ContainsFunc(given, same) && !slices.ContainsFunc(out, same) {
			out = append(out, l)
		}
	}
	return out
}
