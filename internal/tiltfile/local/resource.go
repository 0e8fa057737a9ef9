package local

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// testLabel is the group of tests that have none of their own.
const testLabel = "tests"

// localResource is one call of local_resource.
type localResource struct {
	resource.Options
	name    string
	builtin string
	site    fault.Site
	// cluster is the name of the cluster that its commands work on; empty for the session's own.
	cluster string
	target  model.LocalTarget
}

func (d *Declarations) localResource(c *eval.Call) (starlark.Value, error) {
	return d.declare(c, false)
}

// test declares a test. Tilt has it as an old name of a local_resource that runs in parallel with others, so one with a server is that.
func (d *Declarations) test(c *eval.Call) (starlark.Value, error) {
	return d.declare(c, true)
}

func (d *Declarations) declare(c *eval.Call, test bool) (starlark.Value, error) {
	l := &localResource{builtin: c.Name, site: c.Site()}
	var cmd, serve, down, bat, serveBat, downBat value.Argv
	var deps, ignore, results value.Texts
	kind, timeout, parallel := "", 0, test
	var env, serveEnv value.TextMap
	var dir, serveDir string
	var ready probe
	if err := c.Unpack("name", &l.name, "cmd??", &cmd, "deps??", &deps, "trigger_mode??", &l.TriggerMode,
		"resource_deps??", &l.Deps, "ignore??", &ignore, "auto_init??", &l.AutoInit, "serve_cmd??", &serve,
		"cmd_bat??", &bat, "serve_cmd_bat??", &serveBat, "allow_parallel??", &parallel, "links??", &l.Links,
		"labels??", &l.Labels, "env??", &env, "serve_env??", &serveEnv, "readiness_probe??", &ready,
		"dir??", &dir, "serve_dir??", &serveDir, "down_cmd??", &down, "down_cmd_bat??", &downBat, "kind??", &kind, "timeout_secs??", &timeout,
		"results??", &results, "cluster??", &l.cluster); err != nil {
		return nil, err
	}
	if err := resource.CheckName(l.name); err != nil {
		return nil, err
	}
	if strings.ContainsAny(l.name, "/%") {
		return nil, fmt.Errorf("name: %q: the name of a local resource must not contain / or %%", l.name)
	}
	if len(cmd.Words) == 0 && len(serve.Words) == 0 {
		if len(down.Words) > 0 {
			return nil, errors.New("down_cmd= has nothing to take down: give cmd= or serve_cmd=, too")
		}
		return nil, errors.New("give cmd=, to run something on each update, or serve_cmd=, to keep something running, or both")
	}
	if kind != "" && kind != "test" {
		return nil, fmt.Errorf("kind: %q is not a kind of local resource; the only one is %q", kind, "test")
	}
	if test && len(serve.Words) > 0 {
		c.Warn(c.Site(), "a test() with serve_cmd= is no test: use local_resource(…, allow_parallel=True)")
		test = false
	}
	l.target = model.LocalTarget{
		Update: c.Cmd(cmd, dir, env, false), Serve: c.Cmd(serve, serveDir, serveEnv, false), Down: c.Cmd(down, dir, env, false),
		AllowParallel: parallel || len(cmd.Words) == 0, Readiness: ready.probe,
		Watch: model.WatchSpec{Paths: c.AbsAll(deps.Values)},
	}
	if len(ignore.Values) > 0 {
		l.target.Watch.Ignores = []model.Ignore{{Base: c.Dir(), Patterns: ignore.Values, Source: "ignore="}}
	}
	var err error
	if l.target.Test, err = asTest(test || kind == "test", &l.target, timeout, c.AbsAll(results.Values)); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(d.locals, func(o *localResource) bool { return o.name == l.name }) {
		return nil, errors.New("there is already a local resource of that name")
	}
	d.locals = append(d.locals, l)
	return nil, nil
}

// asTest returns the part of a local resource that only a test has; nil if it is none.
func asTest(is bool, l *model.LocalTarget, timeout int, results []string) (*model.Test, error) {
	switch {
	case !is && timeout != 0:
		return nil, errors.New("timeout_secs: only a test has one; give kind='test', too")
	case !is && len(results) > 0:
		return nil, errors.New("results: only a test has them; give kind='test', too")
	case !is:
		return nil, nil
	case !l.Serve.Empty():
		return nil, errors.New("a test has no server: declare serve_cmd= in a resource of its own, and name it in resource_deps=")
	case timeout < 0:
		return nil, errors.New("timeout_secs must not be negative")
	}
	return &model.Test{Timeout: time.Duration(timeout) * time.Second, Results: results}, nil
}

func (d *Declarations) manifest(l *localResource) (model.Manifest, error) {
	target, err := d.targetOf(l)
	if err != nil {
		return model.Manifest{}, err
	}
	labels := l.Labels.Values
	if target.Test != nil && len(labels) == 0 {
		labels = []string{testLabel}
	}
	target.Update, target.Serve, target.Down = d.WithEnv(target.Update), d.WithEnv(target.Serve), d.WithEnv(target.Down)
	return model.Manifest{
		Name: model.ManifestName(l.name), Labels: resource.SortedLabels(value.AppendNew(nil, labels)),
		ResourceDeps: resource.Names(value.AppendNew(nil, l.Options.Deps.Values)), TriggerMode: d.defaults.Mode(l.TriggerMode),
		AutoInit: l.AutoInit.Value || !l.AutoInit.IsSet, Links: l.Links.List, Local: &target,
	}, nil
}

// targetOf returns the commands of a resource, so that they work on its cluster.
func (d *Declarations) targetOf(l *localResource) (model.LocalTarget, error) {
	target := l.target
	if l.cluster == "" {
		return target, nil
	}
	in, err := d.gate.Named(l.cluster)
	if err != nil {
		return target, d.ErrorAt(l.site, "%s: cluster: %w", l.builtin, err)
	}
	if err := d.gate.Allowed("run commands", in); err != nil {
		return target, d.ErrorAt(l.site, "%s: %w", l.builtin, err)
	}
	commands := []*model.Cmd{&target.Update, &target.Serve, &target.Down}
	if p := target.Readiness; p != nil && p.Exec != nil {
		own, exec := *p, *p.Exec // other resources may have the same probe
		own.Exec, target.Readiness = &exec, &own
		commands = append(commands, &exec)
	}
	for _, cmd := range commands {
		if *cmd, err = in.Command(*cmd); err != nil {
			return target, d.ErrorAt(l.site, "%s: %w", l.builtin, err)
		}
	}
	return target, nil
}
