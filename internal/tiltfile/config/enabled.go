package config

import (
	"fmt"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/pkg/model"
)

// Enabled returns the resources that the session is restricted to, with their dependencies; nil means all.
func (d *Declarations) Enabled(manifests []model.Manifest) ([]model.ManifestName, error) {
	requested := d.enabledNames
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
	on := map[model.ManifestName]bool{}
	for _, m := range manifests {
		on[m.Name] = m.Name.Uncategorized()
	}
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
	var all fault.List
	for _, r := range requested {
		if _, ok := byName[model.ManifestName(r)]; !ok && r != string(model.UncategorizedName) {
			err := d.unknownResource(r, names)
			if !d.enabledByCall {
				err = &fault.ArgsError{Err: err}
			}
			all.Add(err)
			continue
		}
		enable(model.ManifestName(r))
	}
	if all.Any() {
		return nil, all.Err()
	}
	out := []model.ManifestName{}
	for _, m := range manifests {
		if on[m.Name] {
			out = append(out, m.Name)
		}
	}
	return out, nil
}

func (d *Declarations) unknownResource(name string, known []string) error {
	msg := fmt.Sprintf("there is no resource %q%s", name, hint.DidYouMean(name, known))
	if len(known) > 0 {
		msg += "; known names: " + hint.Quoted(known)
	}
	at := d.enabledSite
	if at.File == "" {
		at.File = d.Main
	}
	return d.Placed(at, msg, nil)
}
