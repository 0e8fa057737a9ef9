package tiltfile

import (
	"fmt"

	"github.com/hone-dev/hone/pkg/model"
)

// enabledNames returns the resources that the session is restricted to, with their dependencies; nil means all.
func (d *configDeclarations) enabledNames(manifests []model.Manifest) ([]model.ManifestName, error) {
	requested := d.enabled
	if !d.enabledByCall {
		if d.flags.parsed || len(d.args) == 0 {
			return nil, nil
		}
		requested = d.args
	}
	if d.enableAll {
		return nil, nil
	}
	if len(requested) == 0 {
		return []model.ManifestName{}, nil
	}
	byName := map[model.ManifestName]model.Manifest{}
	var names []string
	for _, m := range manifests {
		byName[m.Name] = m
		names = append(names, string(m.Name))
	}
	on := map[model.ManifestName]bool{model.UncategorizedName: true}
	var enable func(n model.ManifestName)
	enable = func(n model.ManifestName) {
		if on[n] {
			return
		}
		on[n] = true
		for _, dep := range byName[n].ResourceDeps {
			enable(dep)
		}
	}
	var all faults
	for _, r := range requested {
		if _, ok := byName[model.ManifestName(r)]; !ok && r != string(model.UncategorizedName) {
			err := d.unknownResource(r, names)
			if !d.enabledByCall {
				err = &ArgsError{err}
			}
			all.add(err)
			continue
		}
		enable(model.ManifestName(r))
	}
	if all.any() {
		return nil, all.err()
	}
	out := []model.ManifestName{}
	for _, m := range manifests {
		if on[m.Name] {
			out = append(out, m.Name)
		}
	}
	return out, nil
}

func (d *configDeclarations) unknownResource(name string, known []string) error {
	msg := fmt.Sprintf("there is no resource %q%s", name, didYouMean(name, known))
	if len(known) > 0 {
		msg += "; known are " + quoted(known)
	}
	at := d.enabledSite
	if at.file == "" {
		at.file = d.main
	}
	return d.placed(at, msg, nil)
}
