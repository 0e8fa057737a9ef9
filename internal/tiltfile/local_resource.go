package tiltfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/pkg/model"
)

// localResource is one call of local_resource.
type localResource struct {
	common
	name    string
	builtin string
	site    site
	target  model.LocalTarget
}

func (d *localDeclarations) localResource(c *call) (starlark.Value, error) {
	return d.declare(c, false)
}

// test is the old name of a local_resource that runs beside others.
func (d *localDeclarations) test(c *call) (starlark.Value, error) {
	c.warn(c.site(), "test() is an old name: use local_resource(…, allow_parallel=True)")
	return d.declare(c, true)
}

func (d *localDeclarations) declare(c *call, parallel bool) (starlark.Value, error) {
	l := &localResource{builtin: c.name, site: c.site()}
	var cmd, serve, bat, serveBat argv
	var deps, ignore textList
	var env, serveEnv textMap
	var dir, serveDir string
	var ready probe
	if err := c.unpack("name", &l.name, "cmd??", &cmd, "deps??", &deps, "trigger_mode??", &l.triggerMode,
		"resource_deps??", &l.deps, "ignore??", &ignore, "auto_init??", &l.autoInit, "serve_cmd??", &serve,
		"cmd_bat??", &bat, "serve_cmd_bat??", &serveBat, "allow_parallel??", &parallel, "links??", &l.links,
		"labels??", &l.labels, "env??", &env, "serve_env??", &serveEnv, "readiness_probe??", &ready,
		"dir??", &dir, "serve_dir??", &serveDir); err != nil {
		return nil, err
	}
	if err := checkName(l.name); err != nil {
		return nil, err
	}
	if strings.ContainsAny(l.name, "/%") {
		return nil, fmt.Errorf("name: %q: the name of a local resource must not hold / or %%", l.name)
	}
	if len(cmd.words) == 0 && len(serve.words) == 0 {
		return nil, errors.New("give cmd=, to run something on each update, or serve_cmd=, to keep something running, or both")
	}
	l.target = model.LocalTarget{
		Update: c.cmd(cmd, dir, env, false), Serve: c.cmd(serve, serveDir, serveEnv, false),
		AllowParallel: parallel || len(cmd.words) == 0, Readiness: ready.probe,
		Watch: model.WatchSpec{Paths: c.absAll(deps.values)},
	}
	if len(ignore.values) > 0 {
		l.target.Watch.Ignores = []model.Ignore{{Base: c.dir(), Patterns: ignore.values, Source: "ignore="}}
	}
	if slices.ContainsFunc(d.locals, func(o *localResource) bool { return o.name == l.name }) {
		return nil, errors.New("there is already a local resource of that name")
	}
	d.locals = append(d.locals, l)
	return nil, nil
}

func (d *localDeclarations) manifest(l *localResource) model.Manifest {
	target := l.target
	target.Update, target.Serve = d.withEnv(target.Update), d.withEnv(target.Serve)
	return model.Manifest{
		Name: model.ManifestName(l.name), Labels: sortedLabels(appendNew(nil, l.labels.values)),
		ResourceDeps: manifestNames(appendNew(nil, l.common.deps.values)), TriggerMode: d.defaults.mode(l.triggerMode),
		AutoInit: l.autoInit.value || !l.autoInit.isSet, Links: l.links.list, Local: &target,
	}
}
