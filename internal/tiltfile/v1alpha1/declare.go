package v1alpha1

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// apiID identifies an object.
type apiID struct{ kind, name string }

// resourceAnnotation names the resource whose log shows the output of an object.
const resourceAnnotation = "tilt.dev/resource"

// declare adds an object, unless there is already one of its kind and name.
func (d *Declarations) declare(c *eval.Call, v *apiValue) error {
	id := apiID{v.t.kind, v.text("name")}
	if at, taken := d.sites[id]; taken {
		return fmt.Errorf("there is already a %s called %q, declared at %s", id.kind, id.name, at)
	}
	if err := v.t.declare(d, c, v); err != nil {
		return err
	}
	if d.sites == nil {
		d.sites = map[apiID]fault.Site{}
	}
	d.sites[id] = c.Site()
	return nil
}

func (v *apiValue) meta() model.Meta {
	return model.Meta{Labels: v.textMap("labels"), Annotations: v.textMap("annotations")}
}

// log is the resource whose log shows the object's output, from its annotation; empty where there is none.
func (v *apiValue) log() model.ManifestName {
	return model.ManifestName(v.textMap("annotations")[resourceAnnotation])
}

func declareCommand(d *Declarations, c *eval.Call, v *apiValue) error {
	cmd := model.Command{Name: v.text("name"), Meta: v.meta(), Log: v.log(), Disable: v.disable(),
		Cmd: model.Cmd{Argv: v.texts("args"), Dir: cmp.Or(v.text("dir"), c.Dir()), Env: v.texts("env")}}
	if p := v.one("readiness_probe"); p != nil {
		cmd.Readiness = p.probe(c.Dir())
	}
	if r := v.one("restart_on"); r != nil {
		cmd.RestartOn = model.Triggers{FileWatches: r.texts("file_watches"), Buttons: r.texts("ui_buttons")}
	}
	if r := v.one("start_on"); r != nil {
		cmd.StartOn = &model.Triggers{Buttons: r.texts("ui_buttons")}
		if at := r.text("start_after"); at != "" {
			cmd.StartOn.After, _ = time.Parse(time.RFC3339, at) // the field's check has read it already
		}
	}
	d.commands = append(d.commands, cmd)
	return nil
}

// disable returns the object's disable_source.
func (v *apiValue) disable() model.DisableSource {
	var s model.DisableSource
	source := v.one("disable_source")
	if source == nil {
		return s
	}
	keys := source.many("every_config_map")
	if one := source.one("config_map"); one != nil {
		keys = append(keys, one)
	}
	for _, k := range keys {
		s.Keys = append(s.Keys, model.ConfigMapKey{ConfigMap: k.text("name"), Key: k.text("key")})
	}
	return s
}

// probe returns the probe; exec probes run in dir. Numbers left out stand for the defaults of package process.
func (v *apiValue) probe(dir string) *model.Probe {
	seconds := func(name string) time.Duration { return time.Duration(v.number(name)) * time.Second }
	p := &model.Probe{InitialDelay: seconds("initial_delay_seconds"), Timeout: seconds("timeout_seconds"),
		Period: seconds("period_seconds"), SuccessThreshold: v.number("success_threshold"), FailureThreshold: v.number("failure_threshold")}
	h := v.one("handler")
	if e := h.one("exec"); e != nil {
		p.Exec = &model.Cmd{Argv: e.texts("command"), Dir: dir}
	}
	if g := h.one("http_get"); g != nil {
		p.HTTP = &model.HTTPProbe{Host: cmp.Or(g.text("host"), "localhost"), Port: g.number("port"),
			Scheme: cmp.Or(strings.ToLower(g.text("scheme")), "http"), Path: cmp.Or(g.text("path"), "/")}
		for _, header := range g.many("http_headers") {
			p.HTTP.Headers = append(p.HTTP.Headers, model.HTTPHeader{Name: header.text("name"), Value: header.text("value")})
		}
	}
	if t := h.one("tcp_socket"); t != nil {
		p.TCP = &model.TCPProbe{Host: cmp.Or(t.text("host"), "localhost"), Port: t.number("port")}
	}
	return p
}

func declareConfigMap(d *Declarations, c *eval.Call, v *apiValue) error {
	d.configMaps = append(d.configMaps, model.ConfigMap{Name: v.text("name"), Meta: v.meta(), Data: v.textMap("data")})
	return nil
}

func declareFileWatch(d *Declarations, c *eval.Call, v *apiValue) error {
	w := model.FileWatch{Name: v.text("name"), Meta: v.meta(), Disable: v.disable(),
		Watch: model.WatchSpec{Paths: v.texts("watched_paths")}}
	for _, i := range v.many("ignores") {
		patterns := i.texts("patterns")
		if len(patterns) == 0 {
			patterns = []string{"**"}
		}
		w.Watch.Ignores = append(w.Watch.Ignores, model.Ignore{Base: i.text("base_path"), Patterns: patterns, Source: "ignores="})
	}
	d.fileWatches = append(d.fileWatches, w)
	return nil
}

func declareExtensionRepo(d *Declarations, c *eval.Call, v *apiValue) error {
	r := model.ExtensionRepo{Name: v.text("name"), Meta: v.meta(), URL: v.text("url"), Ref: v.text("ref"), LoadHost: v.text("load_host"),
		GitSubpath: v.text("git_subpath")}
	if err := d.registry.AddRepo(AsRepo(r)); err != nil {
		return err
	}
	d.extensionRepos = append(d.extensionRepos, r)
	return nil
}

func declareExtension(d *Declarations, c *eval.Call, v *apiValue) error {
	e := model.Extension{Name: v.text("name"), Meta: v.meta(), Repo: v.text("repo_name"), Path: v.text("repo_path"), Args: v.texts("args")}
	if err := d.registry.AddExtension(AsExtension(e)); err != nil {
		return err
	}
	d.extensions = append(d.extensions, e)
	return nil
}

// declareKept adds an object that has no effect in hone, and warns about that.
func declareKept(d *Declarations, c *eval.Call, v *apiValue) error {
	spec, err := v.spec()
	if err != nil {
		return err
	}
	d.kept = append(d.kept, model.KeptObject{Kind: v.t.kind, Name: v.text("name"), Meta: v.meta(), Spec: spec})
	c.Warn(c.Site(), "%s: hone keeps the %s %q, but it has no effect; to deploy objects and follow their pods use "+
		"k8s_yaml() with k8s_resource(), or k8s_custom_deploy()", c.Name, v.t.kind, v.text("name"))
	return nil
}

func declareButton(d *Declarations, c *eval.Call, v *apiValue) error {
	where := v.one("location")
	b := model.Button{Name: v.text("name"), Meta: v.meta(), Text: v.text("text"), IconName: v.text("icon_name"),
		IconSVG: v.text("icon_svg"), Disabled: v.flag("disabled"), RequiresConfirmation: v.flag("requires_confirmation"),
		InputsAsModal: v.flag("show_inputs_as_modal"), Log: v.log(),
		Place: model.ButtonPlace{Type: componentTypes[strings.ToLower(where.text("component_type"))], Component: where.text("component_id")}}
	if b.Log == "" && b.Place.Type == model.ComponentResource {
		b.Log = model.ManifestName(b.Place.Component)
	}
	for _, in := range v.many("inputs") {
		b.Inputs = append(b.Inputs, in.input())
	}
	d.buttons = append(d.buttons, b)
	return nil
}

// input returns an input of a button.
func (v *apiValue) input() model.Input {
	in := model.Input{Name: v.text("name"), Label: v.text("label")}
	switch {
	case v.has("bool"):
		b := v.one("bool")
		in.Kind, in.True, in.False = model.InputBool, "true", "false"
		if b.has("true_string") {
			in.True = b.text("true_string")
		}
		if b.has("false_string") {
			in.False = b.text("false_string")
		}
		in.On, in.Default = b.flag("default_value"), in.False
		if in.On {
			in.Default = in.True
		}
	case v.has("choice"):
		in.Kind, in.Choices = model.InputChoice, v.one("choice").texts("choices")
		in.Default = in.Choices[0]
	case v.has("hidden"):
		in.Kind, in.Default = model.InputHidden, v.one("hidden").text("value")
	default:
		t := v.one("text")
		in.Kind, in.Default, in.Placeholder = model.InputText, t.text("default_value"), t.text("placeholder")
	}
	return in
}

// AsRepo converts a declared repository for the registry of extensions.
func AsRepo(r model.ExtensionRepo) extension.Repo {
	return extension.Repo{Name: r.Name, URL: r.URL, Ref: r.Ref, LoadHost: r.LoadHost, GitSubpath: r.GitSubpath}
}

// AsExtension converts a declared extension for the registry of extensions.
func AsExtension(e model.Extension) extension.Extension {
	return extension.Extension{Name: e.Name, RepoName: e.Repo, RepoPath: e.Path}
}
