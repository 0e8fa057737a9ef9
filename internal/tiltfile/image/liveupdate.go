package image

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/ignore"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// stepKind orders the steps of a live update.
type stepKind int

const (
	stepInitialSync stepKind = iota
	stepFallBack
	stepSync
	stepRun
	stepRestart
)

// Step is a live update step as a Starlark value.
type Step struct {
	value.Opaque
	order stepKind
	site  fault.Site
	used  bool
	paths []string // fall_back_on
	sync  model.Sync
	run   model.Run
	again *model.RestartProcess
}

var _ starlark.Value = (*Step)(nil)

// Type returns the name by which programs distinguish steps.
func (p *Step) Type() string { return "live_update_" + p.Kind + "_step" }

// String returns the step in the form that programs parse: the paths of a sync are in single quotes.
func (p *Step) String() string {
	text := p.Kind + " step"
	switch p.order {
	case stepFallBack:
		return fmt.Sprintf("%s: %v", text, p.paths)
	case stepSync:
		return fmt.Sprintf("%s: '%s'->'%s'", text, p.sync.LocalPath, p.sync.RemotePath)
	case stepRun:
		text += fmt.Sprintf(": %q", p.run.Cmd)
		if len(p.run.Triggers) > 0 {
			text += fmt.Sprintf(" (triggers: %s)", strings.Join(p.run.Triggers, "; "))
		}
	case stepInitialSync, stepRestart: // have no arguments to show
	}
	return text
}

// Hash lets steps be keys of dicts and elements of sets.
func (p *Step) Hash() (uint32, error) { return starlark.String(p.String()).Hash() }

// source returns the step as written in the Tiltfile, for messages.
func (p *Step) source() string {
	switch p.order {
	case stepFallBack:
		return fmt.Sprintf("fall_back_on(%q)", p.paths)
	case stepSync:
		if p.sync.Owner.Set {
			return fmt.Sprintf("sync(%q, %q, owner=%q)", p.sync.LocalPath, p.sync.RemotePath, p.sync.Owner)
		}
		return fmt.Sprintf("sync(%q, %q)", p.sync.LocalPath, p.sync.RemotePath)
	case stepRun:
		return fmt.Sprintf("run(%q)", p.run.Cmd)
	case stepInitialSync, stepRestart: // have no arguments to show
	}
	return p.Kind + "()"
}

func (d *Declarations) newStep(c *eval.Call, order stepKind, p *Step) (starlark.Value, error) {
	p.Kind, p.order, p.site = c.Name, order, c.Site()
	d.steps = append(d.steps, p)
	return p, nil
}

func (d *Declarations) initialSync(c *eval.Call) (starlark.Value, error) {
	if err := c.Unpack(); err != nil {
		return nil, err
	}
	return d.newStep(c, stepInitialSync, &Step{})
}

func (d *Declarations) fallBackOn(c *eval.Call) (starlark.Value, error) {
	var files value.Texts
	if err := c.Unpack("paths", &files); err != nil {
		return nil, err
	}
	return d.newStep(c, stepFallBack, &Step{paths: c.AbsAll(files.Values)})
}

func (d *Declarations) sync(c *eval.Call) (starlark.Value, error) {
	var local, remote, text string
	if err := c.Unpack("local_path", &local, "remote_path", &remote, "owner??", &text); err != nil {
		return nil, err
	}
	var owner model.Owner
	if text != "" {
		var err error
		if owner, err = model.ParseOwner(text); err != nil {
			return nil, fmt.Errorf("owner: %w", err)
		}
	}
	if !path.IsAbs(remote) {
		return nil, fmt.Errorf("remote_path: %q must be absolute, such as %q", remote, "/"+strings.TrimPrefix(path.Clean(remote), "./"))
	}
	return d.newStep(c, stepSync, &Step{sync: model.Sync{LocalPath: c.Abs(local), RemotePath: syncDest(c.Abs(local), remote), Owner: owner}})
}

// syncDest returns the path in the container: a file that is synced to a folder ("/app/") keeps its name there.
func syncDest(local, remote string) string {
	if strings.HasSuffix(remote, "/") {
		if info, err := os.Stat(local); err == nil && !info.IsDir() {
			return path.Join(remote, path.Base(local))
		}
	}
	return path.Clean(remote)
}

func (d *Declarations) run(c *eval.Call) (starlark.Value, error) {
	var cmd value.Argv
	var trigger value.Texts
	var echoOff bool
	if err := c.Unpack("cmd", &cmd, "trigger??", &trigger, "echo_off??", &echoOff); err != nil {
		return nil, err
	}
	if len(cmd.Words) == 0 {
		return nil, errors.New("the command is empty")
	}
	run := model.Run{Cmd: model.Cmd{Argv: cmd.Words, EchoOff: echoOff}}
	if len(trigger.Values) > 0 {
		run.Triggers = c.AbsAll(trigger.Values)
	}
	return d.newStep(c, stepRun, &Step{run: run})
}

func (d *Declarations) restartContainer(c *eval.Call) (starlark.Value, error) {
	if err := c.Unpack(); err != nil {
		return nil, err
	}
	return d.newStep(c, stepRestart, &Step{})
}

func (d *Declarations) restartProcess(c *eval.Call) (starlark.Value, error) {
	var trigger value.Texts
	var file string
	if err := c.Unpack("trigger??", &trigger, "file??", &file); err != nil {
		return nil, err
	}
	if file != "" && !path.IsAbs(file) {
		return nil, fmt.Errorf("file: %q must be absolute: it is a path in the container, such as %q", file, "/tmp/"+path.Base(file))
	}
	again := &model.RestartProcess{File: file}
	if len(trigger.Values) > 0 {
		again.Triggers = c.AbsAll(trigger.Values)
	}
	return d.newStep(c, stepRestart, &Step{again: again})
}

// ParseLiveUpdate takes the value of live_update= and checks the order of its steps.
func ParseLiveUpdate(c *eval.Call, v starlark.Value) (model.LiveUpdate, []*Step, error) {
	var lu model.LiveUpdate
	var steps []*Step
	for i, e := range value.OneOrMany(v) {
		p, ok := e.(*Step)
		if !ok {
			return lu, nil, fmt.Errorf("live_update: element %d is a %s, want sync(), run(), fall_back_on(), restart_process(), restart_container() or initial_sync()", i, e.Type())
		}
		if err := checkOrder(steps, p); err != nil {
			return lu, nil, c.ErrorAt(p.site, "live_update: %w", err)
		}
		p.used = true
		steps = append(steps, p)
		switch p.order {
		case stepInitialSync:
			lu.InitialSync = true
		case stepFallBack:
			lu.StopPaths = append(lu.StopPaths, p.paths...)
		case stepSync:
			lu.Syncs = append(lu.Syncs, p.sync)
		case stepRun:
			lu.Runs = append(lu.Runs, p.run)
		case stepRestart:
			lu.RestartContainer, lu.RestartProcess = p.again == nil, p.again
		}
	}
	return lu, steps, checkTriggers(c, lu, steps)
}

// triggers returns the triggers of a step.
func (p *Step) triggers() []string {
	if p.again != nil {
		return p.again.Triggers
	}
	return p.run.Triggers
}

// checkTriggers warns about triggers that no synced file can meet, so that their steps never take place, and refuses malformed patterns.
func checkTriggers(c *eval.Call, lu model.LiveUpdate, steps []*Step) error {
	for _, p := range steps {
		for _, t := range p.triggers() {
			if err := model.CheckTrigger(t); err != nil {
				return c.ErrorAt(p.site, "%s: trigger %s: %w", p.Kind, t, err)
			}
			if !slices.ContainsFunc(lu.Syncs, func(s model.Sync) bool { return model.Reaches(t, s.LocalPath) }) {
				c.Warn(p.site, "%s: trigger %s: no sync() of this live_update covers such a file, so the step never takes place because of it", p.Kind, t)
			}
		}
	}
	return nil
}

// checkOrder enforces the order initial_sync, fall_back_on, sync, run, restart_process or restart_container.
func checkOrder(before []*Step, p *Step) error {
	if len(before) == 0 {
		return nil
	}
	last := before[len(before)-1]
	switch {
	case p.Kind == last.Kind && (p.order == stepInitialSync || p.order == stepRestart):
		return fmt.Errorf("%s() may be used only once", p.Kind)
	case p.order == stepRestart && last.order == stepRestart:
		return errors.New("give either restart_process() or restart_container(), not both")
	case p.order == stepInitialSync:
		return fmt.Errorf("initial_sync() must be the first step")
	case last.order == stepRestart:
		return fmt.Errorf("%s() must be the last step, but %s follows", last.Kind, p.source())
	case p.order < last.order:
		return fmt.Errorf("%s() steps must come before %s() steps", p.Kind, last.Kind)
	}
	return nil
}

// CheckSteps reports steps that belong to no live update, and local paths that their image does not watch. The owners
// of live updates without an image check the steps themselves, with CheckSources.
func (d *Declarations) CheckSteps() error {
	var all fault.List
	for _, p := range d.steps {
		if !p.used {
			all.Add(d.ErrorAt(p.site, "%s is not part of any live_update: put it into the live_update=[…] of docker_build, custom_build or k8s_custom_deploy", p.source()))
		}
	}
	for _, im := range d.List {
		all.Add(CheckSources(d.Evaluation, im.steps, watchedPaths(im), fmt.Sprintf("image %q", im.Ref)))
	}
	return all.Err()
}

// CheckSources reports steps whose local paths are outside of the watched paths.
func CheckSources(e *eval.Evaluation, steps []*Step, watched []string, whose string) error {
	var all fault.List
	for _, p := range steps {
		sources := p.paths
		if p.order == stepSync {
			sources = []string{p.sync.LocalPath}
		}
		for _, src := range sources {
			if !ignore.Under(watched, src) {
				all.Add(e.ErrorAt(p.site, "%s: %s is outside of the paths that %s watches (%s)", p.Kind, src, whose, strings.Join(watched, ", ")))
			}
		}
	}
	return all.Err()
}

// watchedPaths are the paths of an image and of the images that it is built on.
func watchedPaths(im *Image) []string {
	var out []string
	for _, d := range ordered([]*Image{im}) {
		out = append(out, d.Watch.Paths...)
	}
	return out
}
