package tiltfile

import (
	"slices"
	"strconv"

	"github.com/hone-dev/hone/pkg/model"
)

// apiObjects returns what v1alpha1 declared, and warns of names in it that lead nowhere.
func (s *state) apiObjects(manifests []model.Manifest) model.APIObjects {
	for i := range s.commands {
		cmd := &s.commands[i]
		cmd.Cmd = s.withEnv(cmd.Cmd)
		if cmd.Readiness != nil && cmd.Readiness.Exec != nil {
			*cmd.Readiness.Exec = s.withEnv(*cmd.Readiness.Exec)
		}
	}
	s.checkButtons(manifests)
	s.checkCommands(manifests)
	for _, w := range s.fileWatches {
		s.checkSwitch(apiID{kindFileWatch, w.Name}, w.Disable)
	}
	return model.APIObjects{Buttons: s.buttons, Commands: s.commands, ConfigMaps: s.configMaps, FileWatches: s.fileWatches,
		ExtensionRepos: s.extensionRepos, Extensions: s.extensions, Kept: s.kept}
}

func (s *state) checkButtons(manifests []model.Manifest) {
	for _, b := range s.buttons {
		id := apiID{kindButton, b.Name}
		if b.Place.Type == model.ComponentResource {
			s.checkResource(id, "component_id", b.Place.Component, manifests)
		}
		s.checkResource(id, resourceAnnotation, b.Annotations[resourceAnnotation], manifests)
	}
}

func (s *state) checkCommands(manifests []model.Manifest) {
	for _, cmd := range s.commands {
		id := apiID{kindCommand, cmd.Name}
		for _, b := range cmd.RestartOn.Buttons {
			s.checkKnown(id, "restart_on", b, kindButton)
		}
		for _, w := range cmd.RestartOn.FileWatches {
			s.checkKnown(id, "restart_on", w, kindFileWatch)
		}
		if cmd.StartOn != nil {
			if len(cmd.StartOn.Buttons) == 0 {
				s.warn(s.apiSites[id], "v1alpha1.cmd: start_on of %q names no button, so it never runs", cmd.Name)
			}
			for _, b := range cmd.StartOn.Buttons {
				s.checkKnown(id, "start_on", b, kindButton)
			}
		}
		s.checkSwitch(id, cmd.Disable)
		s.checkResource(id, resourceAnnotation, string(cmd.Log), manifests)
	}
}

// checkKnown warns when an object refers to one that was not declared.
func (s *state) checkKnown(id apiID, field, name, kind string) {
	var known []string
	for other := range s.apiSites {
		if other.kind == kind {
			known = append(known, other.name)
		}
	}
	if !slices.Contains(known, name) {
		slices.Sort(known)
		s.warn(s.apiSites[id], "%s %q: %s: there is no %s called %q%s", id.kind, id.name, field, kind, name, didYouMean(name, known))
	}
}

// checkResource warns when an object names a resource that does not exist.
func (s *state) checkResource(id apiID, field, name string, manifests []model.Manifest) {
	names := []string{string(model.TiltfileName), string(model.UncategorizedName)}
	for _, m := range manifests {
		names = append(names, string(m.Name))
	}
	for _, other := range s.beside {
		names = append(names, string(other))
	}
	if name != "" && !slices.Contains(names, name) {
		s.warn(s.apiSites[id], "%s %q: %s: there is no resource %q%s", id.kind, id.name, field, name, didYouMean(name, names))
	}
}

// checkSwitch warns of what cannot switch anything off.
func (s *state) checkSwitch(id apiID, d model.DisableSource) {
	for _, key := range d.Keys {
		i := slices.IndexFunc(s.configMaps, func(m model.ConfigMap) bool { return m.Name == key.ConfigMap })
		if i < 0 {
			s.checkKnown(id, "disable_source", key.ConfigMap, kindConfigMap)
			continue
		}
		data := s.configMaps[i].Data
		value, ok := data[key.Key]
		if !ok {
			s.warn(s.apiSites[id], "%s %q: disable_source: ConfigMap %q has no key %q%s", id.kind, id.name, key.ConfigMap, key.Key,
				didYouMean(key.Key, sortedKeys(data)))
		} else if _, err := strconv.ParseBool(value); err != nil {
			s.warn(s.apiSites[id], "%s %q: disable_source: ConfigMap %q has %q at key %q, which is neither true nor false",
				id.kind, id.name, key.ConfigMap, value, key.Key)
		}
	}
}
