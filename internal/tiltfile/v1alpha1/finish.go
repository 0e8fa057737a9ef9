package v1alpha1

import (
	"maps"
	"slices"
	"strconv"

	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/pkg/model"
)

// Objects returns the declared objects, and warns of references to objects and resources that do not exist.
func (d *Declarations) Objects(manifests []model.Manifest) model.APIObjects {
	for i := range d.commands {
		cmd := &d.commands[i]
		cmd.Cmd = d.WithEnv(cmd.Cmd)
		if cmd.Readiness != nil && cmd.Readiness.Exec != nil {
			*cmd.Readiness.Exec = d.WithEnv(*cmd.Readiness.Exec)
		}
	}
	d.checkButtons(manifests)
	d.checkCommands(manifests)
	for _, w := range d.fileWatches {
		d.checkSwitch(apiID{kindFileWatch, w.Name}, w.Disable)
	}
	return model.APIObjects{Buttons: d.buttons, Commands: d.commands, ConfigMaps: d.configMaps, FileWatches: d.fileWatches,
		ExtensionRepos: d.extensionRepos, Extensions: d.extensions, Kept: d.kept}
}

func (d *Declarations) checkButtons(manifests []model.Manifest) {
	for _, b := range d.buttons {
		id := apiID{kindButton, b.Name}
		if b.Place.Type == model.ComponentResource {
			d.checkResource(id, "component_id", b.Place.Component, manifests)
		}
		d.checkResource(id, resourceAnnotation, b.Annotations[resourceAnnotation], manifests)
	}
}

func (d *Declarations) checkCommands(manifests []model.Manifest) {
	for _, cmd := range d.commands {
		id := apiID{kindCommand, cmd.Name}
		for _, b := range cmd.RestartOn.Buttons {
			d.checkKnown(id, "restart_on", b, kindButton)
		}
		for _, w := range cmd.RestartOn.FileWatches {
			d.checkKnown(id, "restart_on", w, kindFileWatch)
		}
		if cmd.StartOn != nil {
			if len(cmd.StartOn.Buttons) == 0 {
				d.Warn(d.sites[id], "v1alpha1.cmd: start_on of %q names no button, so it never runs", cmd.Name)
			}
			for _, b := range cmd.StartOn.Buttons {
				d.checkKnown(id, "start_on", b, kindButton)
			}
		}
		d.checkSwitch(id, cmd.Disable)
		d.checkResource(id, resourceAnnotation, string(cmd.Log), manifests)
	}
}

// checkKnown warns if an object refers to one that was not declared.
func (d *Declarations) checkKnown(id apiID, field, name, kind string) {
	var known []string
	for other := range d.sites {
		if other.kind == kind {
			known = append(known, other.name)
		}
	}
	if !slices.Contains(known, name) {
		slices.Sort(known)
		d.Warn(d.sites[id], "%s %q: %s: there is no %s called %q%s", id.kind, id.name, field, kind, name, hint.DidYouMean(name, known))
	}
}

// checkResource warns if an object names a resource that does not exist.
func (d *Declarations) checkResource(id apiID, field, name string, manifests []model.Manifest) {
	names := []string{string(model.TiltfileName), string(model.UncategorizedName)}
	for _, m := range manifests {
		names = append(names, string(m.Name))
	}
	for _, other := range d.Beside {
		names = append(names, string(other))
	}
	if name != "" && !slices.Contains(names, name) {
		d.Warn(d.sites[id], "%s %q: %s: there is no resource %q%s", id.kind, id.name, field, name, hint.DidYouMean(name, names))
	}
}

// checkSwitch warns of keys that cannot disable anything.
func (d *Declarations) checkSwitch(id apiID, off model.DisableSource) {
	for _, key := range off.Keys {
		i := slices.IndexFunc(d.configMaps, func(m model.ConfigMap) bool { return m.Name == key.ConfigMap })
		if i < 0 {
			d.checkKnown(id, "disable_source", key.ConfigMap, kindConfigMap)
			continue
		}
		data := d.configMaps[i].Data
		value, ok := data[key.Key]
		if !ok {
			d.Warn(d.sites[id], "%s %q: disable_source: ConfigMap %q has no key %q%s", id.kind, id.name, key.ConfigMap, key.Key,
				hint.DidYouMean(key.Key, slices.Sorted(maps.Keys(data))))
		} else if _, err := strconv.ParseBool(value); err != nil {
			d.Warn(d.sites[id], "%s %q: disable_source: ConfigMap %q has %q at key %q, which is neither true nor false",
				id.kind, id.name, key.ConfigMap, value, key.Key)
		}
	}
}
