package tiltfiles

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// describe returns an evaluation's result for programs. Objects without a namespace get the given one; times below the
// threshold are left out.
func describe(r tiltfile.Result, namespace string, threshold time.Duration) api.TiltfileResult {
	out := api.TiltfileResult{Resources: []api.TiltfileResource{}, Errors: faults(r.Err), Warnings: notNull(r.Warnings)}
	if r.Profile != nil {
		out.Profile = describeProfile(r.Profile, threshold)
	}
	enabled := state.EnabledNames(r.Tiltfile)
	for _, m := range r.Manifests {
		d := describeManifest(m, cmp.Or(namespace, "default"))
		d.Enabled = enabled == nil || enabled[m.Name]
		out.Resources = append(out.Resources, d)
	}
	return out
}

// faults returns the messages of an evaluation's error, one for each error that it holds.
func faults(err error) []string {
	out := []string{}
	var several fault.Errors
	switch {
	case errors.As(err, &several):
		for _, e := range several {
			out = append(out, e.Error())
		}
	case err != nil:
		out = append(out, err.Error())
	}
	return out
}

func describeManifest(m model.Manifest, namespace string) api.TiltfileResource {
	r := api.TiltfileResource{
		Name: string(m.Name), Type: api.TypeLocal, Labels: notNull(m.Labels), ResourceDeps: nameList(m.ResourceDeps),
		TriggerMode: triggerNumber(m), AutoInit: m.AutoInit,
		Images: []api.TiltfileImage{}, Objects: []string{}, PortForwards: []api.TiltfilePortForward{}, Links: []api.TiltfileLink{},
	}
	for _, im := range m.Images {
		r.Images = append(r.Images, api.TiltfileImage{Ref: im.Ref, LiveUpdate: liveUpdateSteps(im.LiveUpdate)})
	}
	links := m.Links
	switch {
	case m.K8s != nil:
		r.Type = api.TypeK8s
		r.Images = append(r.Images, deployedImages(m)...)
		links = append(links[:len(links):len(links)], m.K8s.Links...)
		for _, o := range m.K8s.Objects {
			r.Objects = append(r.Objects, objectName(o, namespace))
		}
		for _, p := range m.K8s.PortForwards {
			r.PortForwards = append(r.PortForwards, api.TiltfilePortForward{LocalPort: p.LocalPort, ContainerPort: p.ContainerPort,
				Host: p.Host, Name: p.Name, LinkPath: p.LinkPath})
		}
	case m.Compose != nil:
		r.Type = api.TypeCompose
		if m.Compose.Build != nil {
			r.Images = append(r.Images, api.TiltfileImage{Ref: m.Compose.Image, LiveUpdate: []api.TiltfileStep{}})
		}
	case m.Local != nil:
		links = append(links[:len(links):len(links)], m.Local.Links...)
	}
	for _, l := range links {
		r.Links = append(r.Links, api.TiltfileLink{URL: l.URL, Name: l.Name})
	}
	return r
}

// deployedImages returns the images that a command deploys and that are updated in place, without being built here. If a
// container name stands for an image, the image has no reference.
func deployedImages(m model.Manifest) []api.TiltfileImage {
	d := m.K8s.CustomDeploy
	if d == nil || d.LiveUpdate.Empty() {
		return nil
	}
	return []api.TiltfileImage{{Ref: d.ImageSelector, Container: d.ContainerSelector, LiveUpdate: liveUpdateSteps(d.LiveUpdate)}}
}

// triggerNumber returns trigger mode and initial update as one number, with Tilt's values.
func triggerNumber(m model.Manifest) int {
	switch manual := m.TriggerMode == model.TriggerManual; {
	case manual && m.AutoInit:
		return api.TriggerManualAfterInitial
	case manual:
		return api.TriggerManual
	case !m.AutoInit:
		return api.TriggerAutoAfterInitial
	}
	return api.TriggerAuto
}

// objectName returns "kind/namespace/name" with the namespace that the object is applied to.
func objectName(o model.K8sObject, namespace string) string {
	kind := strings.ToLower(o.Kind)
	if o.Namespace == "" && k8sobject.ClusterScoped(o.Kind) {
		return kind + "/" + o.Name
	}
	return kind + "/" + cmp.Or(o.Namespace, namespace) + "/" + o.Name
}

// liveUpdateSteps returns the steps of a live update, in the order that the language enforces.
func liveUpdateSteps(l model.LiveUpdate) []api.TiltfileStep {
	out := []api.TiltfileStep{}
	if l.InitialSync {
		out = append(out, api.TiltfileStep{Type: api.StepInitialSync})
	}
	if len(l.StopPaths) > 0 {
		out = append(out, api.TiltfileStep{Type: api.StepFallBackOn, Paths: l.StopPaths})
	}
	for _, s := range l.Syncs {
		out = append(out, api.TiltfileStep{Type: api.StepSync, LocalPath: s.LocalPath, RemotePath: s.RemotePath})
	}
	for _, r := range l.Runs {
		out = append(out, api.TiltfileStep{Type: api.StepRun, Cmd: r.Cmd.Argv, Triggers: r.Triggers})
	}
	if l.RestartContainer {
		out = append(out, api.TiltfileStep{Type: api.StepRestartContainer})
	}
	if r := l.RestartProcess; r != nil {
		out = append(out, api.TiltfileStep{Type: api.StepRestartProcess, Triggers: r.Triggers, File: r.File})
	}
	return out
}

// notNull returns a list that is never nil.
func notNull(s []string) []string { return append([]string{}, s...) }

func nameList(s []model.ManifestName) []string {
	out := []string{}
	for _, n := range s {
		out = append(out, string(n))
	}
	return out
}
