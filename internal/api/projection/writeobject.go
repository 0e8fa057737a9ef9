package projection

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// writeButton clicks buttons, and creates, changes and deletes buttons that clients declare.
func writeButton(v store.View, old, new Object) ([]store.Action, error) {
	name := either(old, new).GetName()
	if resource, ok := resourceOfToggle(v, name); ok {
		return writeToggle(v, resource, old, new)
	}
	switch {
	case new == nil:
		return withdrawn(v, "uibuttons", name, state.Buttons, state.ObjectsWithdrawn{Buttons: []string{name}})
	case old == nil && exists(v, state.Buttons, name):
		return nil, taken("uibuttons", name)
	case old == nil:
		return declareButton(v, new.(*v1alpha1.UIButton))
	}
	was, is := old.(*v1alpha1.UIButton), new.(*v1alpha1.UIButton)
	var actions []store.Action
	if !same(was, is, func(b *v1alpha1.UIButton) { b.Status = v1alpha1.UIButtonStatus{} }) {
		if ownedByTiltfile(v, state.Buttons, name) {
			return nil, forbidden("uibuttons", name, "the Tiltfile declares it; only status.lastClickedAt and status.inputs can be set, which click it")
		}
		var err error
		if actions, err = declareButton(v, is); err != nil {
			return nil, err
		}
	}
	if is.Status.LastClickedAt.Equal(&was.Status.LastClickedAt) {
		return actions, nil
	}
	click, err := clickOf(v, is)
	return append(actions, click...), err
}

// clickOf returns the click that the new status requests.
func clickOf(v store.View, is *v1alpha1.UIButton) ([]store.Action, error) {
	given := map[string]any{}
	for _, in := range is.Status.Inputs {
		switch {
		case in.Text != nil:
			given[in.Name] = in.Text.Value
		case in.Bool != nil:
			given[in.Name] = in.Bool.Value
		case in.Choice != nil:
			given[in.Name] = in.Choice.Value
		case in.Hidden != nil:
			given[in.Name] = in.Hidden.Value
		}
	}
	a, err := intent.Click(v, is.Name, given)
	return taking("uibuttons", is.Name, a, err)
}

// resourceOfToggle returns the resource that a button of the given name switches.
func resourceOfToggle(v store.View, button string) (model.ManifestName, bool) {
	configMap, ok := strings.CutPrefix(button, toggleButtonName("")[:len("toggle-")])
	if !ok {
		return "", false
	}
	return resourceOfSwitch(v, configMap)
}

// writeToggle switches a resource when its button is clicked.
func writeToggle(v store.View, resource model.ManifestName, old, new Object) ([]store.Action, error) {
	const instead = "it switches a resource; set status.lastClickedAt to click it, or use hone disable and hone enable"
	was, is, err := both[*v1alpha1.UIButton]("uibuttons", instead, old, new)
	if err != nil {
		return nil, err
	}
	if !same(was, is, func(b *v1alpha1.UIButton) { b.Status = v1alpha1.UIButtonStatus{} }) {
		return nil, forbidden("uibuttons", is.Name, instead)
	}
	if is.Status.LastClickedAt.Equal(&was.Status.LastClickedAt) {
		return nil, nil
	}
	return switched(v, "uibuttons", is.Name, resource, was.Spec.Text == disableText)
}

func declareButton(v store.View, is *v1alpha1.UIButton) ([]store.Action, error) {
	if is.Spec.Text == "" {
		return nil, invalid("spec.text is missing")
	}
	if holdsRedacted(is.Spec) {
		return nil, invalid("spec contains a redacted value: replace it with the actual value")
	}
	was := state.Buttons.In(v).Value(is.Name).Button
	place := model.ButtonPlace{Type: model.ComponentType(cmp.Or(is.Spec.Location.ComponentType, v1alpha1.ComponentTypeGlobal)), Component: is.Spec.Location.ComponentID}
	if place.Type != model.ComponentGlobal && place.Type != model.ComponentResource {
		return nil, invalid("spec.location.componentType is Resource or Global, not %q", place.Type)
	}
	b := model.Button{Name: is.Name, Text: is.Spec.Text, IconName: is.Spec.IconName, IconSVG: is.Spec.IconSVG, Disabled: is.Spec.Disabled,
		RequiresConfirmation: is.Spec.RequiresConfirmation, InputsAsModal: is.Spec.ShowInputsAsModal, Place: place, Meta: metaFrom(is)}
	b.Log = model.ManifestName(b.Annotations[resourceAnnotation])
	if b.Log == "" && place.Type == model.ComponentResource {
		b.Log = model.ManifestName(place.Component)
	}
	for _, spec := range is.Spec.Inputs {
		in, err := inputOf(spec, was)
		if err != nil {
			return nil, err
		}
		b.Inputs = append(b.Inputs, in)
	}
	return []store.Action{state.ObjectsDeclared{Buttons: []model.Button{b}}}, nil
}

// inputOf reads an input. A hidden input without a value keeps its previous value, because the API does not show it.
func inputOf(spec v1alpha1.UIInputSpec, was model.Button) (model.Input, error) {
	in := model.Input{Name: spec.Name, Label: spec.Label}
	if in.Name == "" {
		return in, invalid("spec.inputs: an input has no name")
	}
	switch {
	case spec.Text != nil:
		in.Kind, in.Default, in.Placeholder = model.InputText, spec.Text.DefaultValue, spec.Text.Placeholder
	case spec.Bool != nil:
		in.Kind, in.True, in.False, in.On = model.InputBool, "true", "false", spec.Bool.DefaultValue
		if spec.Bool.TrueString != nil {
			in.True = *spec.Bool.TrueString
		}
		if spec.Bool.FalseString != nil {
			in.False = *spec.Bool.FalseString
		}
		if in.Default = in.False; in.On {
			in.Default = in.True
		}
	case spec.Choice != nil && len(spec.Choice.Choices) > 0:
		in.Kind, in.Choices, in.Default = model.InputChoice, spec.Choice.Choices, spec.Choice.Choices[0]
	case spec.Hidden != nil:
		in.Kind, in.Default = model.InputHidden, spec.Hidden.Value
		for _, o := range was.Inputs {
			if o.Name == in.Name && o.Kind == model.InputHidden && in.Default == "" {
				in.Default = o.Default
			}
		}
	default:
		return in, invalid("spec.inputs: %q is none of text, bool, hidden and a choice with choices", in.Name)
	}
	return in, nil
}

// writeCmd creates, changes and deletes commands that clients declare.
func writeCmd(v store.View, old, new Object) ([]store.Action, error) {
	name := either(old, new).GetName()
	if new == nil {
		return withdrawn(v, "cmds", name, state.Commands, state.ObjectsWithdrawn{Commands: []string{name}})
	}
	is := new.(*v1alpha1.Cmd)
	if done, err := changeable(v, "cmds", state.Commands, old, is, func(c *v1alpha1.Cmd) { c.Status = v1alpha1.CmdStatus{} }); done {
		return nil, err
	}
	c, err := commandOf(v, is)
	if err != nil {
		return nil, err
	}
	return []store.Action{state.ObjectsDeclared{Commands: []model.Command{c}}}, nil
}

// changeable checks whether an object may be created or changed. If done is true, the caller returns err without further
// work.
func changeable[T any, O Object](v store.View, plural string, table *store.Table[T], old Object, is O, status func(O)) (done bool, err error) {
	name := is.GetName()
	switch {
	case old == nil && exists(v, table, name):
		return true, taken(plural, name)
	case old == nil:
	case same(old.(O), is, status):
		return true, nil // only the session writes its status
	case !exists(v, table, name):
		return true, forbidden(plural, name, "it is part of a resource, which the Tiltfile declares")
	case ownedByTiltfile(v, table, name):
		return true, forbidden(plural, name, "the Tiltfile declares it: change it there")
	}
	if holdsRedacted(is) {
		return true, invalid("it contains a redacted value: replace it with the actual value")
	}
	return false, nil
}

func commandOf(v store.View, is *v1alpha1.Cmd) (model.Command, error) {
	if len(is.Spec.Args) == 0 {
		return model.Command{}, invalid("spec.args is missing")
	}
	dir, err := absolute(v, "spec.dir", cmp.Or(is.Spec.Dir, "."))
	if err != nil {
		return model.Command{}, err
	}
	c := model.Command{Name: is.Name, Cmd: model.Cmd{Argv: is.Spec.Args, Dir: dir, Env: is.Spec.Env}, Meta: metaFrom(is),
		Disable: disableOfSource(is.Spec.DisableSource)}
	c.Log = model.ManifestName(c.Annotations[resourceAnnotation])
	if c.Readiness, err = probeOf(is.Spec.ReadinessProbe, dir); err != nil {
		return model.Command{}, err
	}
	if r := is.Spec.RestartOn; r != nil {
		c.RestartOn = model.Triggers{FileWatches: r.FileWatches, Buttons: r.UIButtons}
	}
	if r := is.Spec.StartOn; r != nil {
		c.StartOn = &model.Triggers{Buttons: r.UIButtons, After: r.StartAfter.Time}
	}
	return c, nil
}

// absolute returns an absolute path. Relative paths are relative to the Tiltfile's folder.
func absolute(v store.View, field, path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", invalid("%s contains a NUL character, which is not allowed in paths", field)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	e := state.Tiltfiles.In(v).Value(state.Only)
	return filepath.Join(filepath.Dir(e.Path), path), nil
}

func disableOfSource(d *v1alpha1.DisableSource) model.DisableSource {
	var out model.DisableSource
	if d == nil {
		return out
	}
	keys := d.EveryConfigMap
	if d.ConfigMap != nil {
		keys = append([]v1alpha1.ConfigMapDisableSource{*d.ConfigMap}, keys...)
	}
	for _, k := range keys {
		out.Keys = append(out.Keys, model.ConfigMapKey{ConfigMap: k.Name, Key: k.Key})
	}
	return out
}

func probeOf(p *v1alpha1.Probe, dir string) (*model.Probe, error) {
	if p == nil {
		return nil, nil
	}
	seconds := func(n int32) time.Duration { return time.Duration(n) * time.Second }
	out := &model.Probe{InitialDelay: seconds(p.InitialDelaySeconds), Timeout: seconds(p.TimeoutSeconds), Period: seconds(p.PeriodSeconds),
		SuccessThreshold: int(p.SuccessThreshold), FailureThreshold: int(p.FailureThreshold)}
	given := 0
	if p.Exec != nil {
		out.Exec, given = &model.Cmd{Argv: p.Exec.Command, Dir: dir}, given+1
	}
	if h := p.HTTPGet; h != nil {
		given++
		out.HTTP = &model.HTTPProbe{Host: cmp.Or(h.Host, "localhost"), Port: int(h.Port), Scheme: cmp.Or(strings.ToLower(h.Scheme), "http"), Path: cmp.Or(h.Path, "/")}
		for _, x := range h.HTTPHeaders {
			out.HTTP.Headers = append(out.HTTP.Headers, model.HTTPHeader(x))
		}
	}
	if t := p.TCPSocket; t != nil {
		out.TCP, given = &model.TCPProbe{Host: cmp.Or(t.Host, "localhost"), Port: int(t.Port)}, given+1
	}
	if given != 1 {
		return nil, invalid("spec.readinessProbe needs exactly one of exec, httpGet and tcpSocket")
	}
	return out, nil
}

// writeFileWatch creates, changes and deletes file watches that clients declare.
func writeFileWatch(v store.View, old, new Object) ([]store.Action, error) {
	name := either(old, new).GetName()
	if new == nil {
		return withdrawn(v, "filewatches", name, state.FileWatches, state.ObjectsWithdrawn{FileWatches: []string{name}})
	}
	is := new.(*v1alpha1.FileWatch)
	if done, err := changeable(v, "filewatches", state.FileWatches, old, is, func(w *v1alpha1.FileWatch) { w.Status = v1alpha1.FileWatchStatus{} }); done {
		return nil, err
	}
	if len(is.Spec.WatchedPaths) == 0 {
		return nil, invalid("spec.watchedPaths is missing")
	}
	w := model.FileWatch{Name: name, Meta: metaFrom(is), Disable: disableOfSource(is.Spec.DisableSource)}
	for _, p := range is.Spec.WatchedPaths {
		path, err := absolute(v, "spec.watchedPaths", p)
		if err != nil {
			return nil, err
		}
		w.Watch.Paths = append(w.Watch.Paths, path)
	}
	for _, i := range is.Spec.Ignores {
		base, err := absolute(v, "spec.ignores", i.BasePath)
		if err != nil {
			return nil, err
		}
		patterns := i.Patterns
		if len(patterns) == 0 {
			patterns = []string{"**"}
		}
		w.Watch.Ignores = append(w.Watch.Ignores, model.Ignore{Base: base, Patterns: patterns, Source: "spec.ignores"})
	}
	return []store.Action{state.ObjectsDeclared{FileWatches: []model.FileWatch{w}}}, nil
}
