package tiltfile

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// apiObjects prints the objects that v1alpha1 declared.
func (p *printer) apiObjects(o model.APIObjects) {
	for _, r := range o.ExtensionRepos {
		p.line(0, "extension repo %s: url=%q ref=%q load_host=%q git_subpath=%q", r.Name, r.URL, r.Ref, r.LoadHost, r.GitSubpath)
		p.meta(r.Meta)
	}
	for _, e := range o.Extensions {
		p.line(0, "extension %s: repo=%q path=%q args=%q", e.Name, e.Repo, e.Path, e.Args)
		p.meta(e.Meta)
	}
	for _, m := range o.ConfigMaps {
		p.line(0, "config map %s", m.Name)
		p.pairs(1, "data", m.Data)
		p.meta(m.Meta)
	}
	for _, w := range o.FileWatches {
		p.line(0, "file watch %s", w.Name)
		p.watch(1, w.Watch)
		p.disable(w.Disable)
		p.meta(w.Meta)
	}
	for _, b := range o.Buttons {
		p.button(b)
	}
	for _, c := range o.Commands {
		p.command(c)
	}
	for _, k := range o.Kept {
		p.line(0, "kept %s %s: %s", k.Kind, k.Name, k.Spec)
		p.meta(k.Meta)
	}
}

func (p *printer) button(b model.Button) {
	p.line(0, "button %s %q at %s %s, log %q", b.Name, b.Text, b.Place.Type, b.Place.Component, b.Log)
	if b.IconName+b.IconSVG != "" {
		p.line(1, "icon name=%q svg=%q", b.IconName, b.IconSVG)
	}
	if b.Disabled || b.RequiresConfirmation || b.InputsAsModal {
		p.line(1, "disabled=%v requires_confirmation=%v show_inputs_as_modal=%v", b.Disabled, b.RequiresConfirmation, b.InputsAsModal)
	}
	for _, in := range b.Inputs {
		p.line(1, "input %s %s label=%q default=%q placeholder=%q", in.Kind, in.Name, in.Label, in.Default, in.Placeholder)
		if in.Kind == model.InputBool {
			p.line(2, "on=%v true=%q false=%q", in.On, in.True, in.False)
		}
		p.list(2, "choices", in.Choices)
	}
	p.meta(b.Meta)
}

func (p *printer) command(c model.Command) {
	p.line(0, "command %s, log %q", c.Name, c.Log)
	p.cmd(1, "runs", c.Cmd)
	if c.Readiness != nil {
		p.probe(1, c.Readiness)
	}
	p.list(1, "restarts on files of", c.RestartOn.FileWatches)
	p.list(1, "restarts on clicks of", c.RestartOn.Buttons)
	if c.StartOn != nil {
		p.line(1, "starts on clicks of: %s", strings.Join(c.StartOn.Buttons, " "))
		if !c.StartOn.After.IsZero() {
			p.line(2, "after %s", c.StartOn.After.Format(time.RFC3339))
		}
	}
	p.disable(c.Disable)
	p.meta(c.Meta)
}

func (p *printer) disable(d model.DisableSource) {
	for _, k := range d.Keys {
		p.line(1, "off by %s of %s", k.Key, k.ConfigMap)
	}
}

func (p *printer) meta(m model.Meta) {
	p.pairs(1, "labels", m.Labels)
	p.pairs(1, "annotations", m.Annotations)
}

func (p *printer) pairs(indent int, name string, m map[string]string) {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, k+"="+m[k])
	}
	p.list(indent, name, list)
}
