package tiltfile

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"go.starlark.net/starlark"

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

// step is a live update step as a Starlark value.
type step struct {
	opaque
	order stepKind
	site  site
	used  bool
	paths []string // fall_back_on
	sync  model.Sync
	run   model.Run
	again *model.RestartProcess
}

var _ starlark.Value = (*step)(nil)

// Type returns the name that programs tell steps apart by.
func (p *step) Type() string { return "live_update_" + p.kind + "_step" }

// String returns the step in the form in which programs take it apart: the paths of a sync stand in single quotes.
func (p *step) String() string {
	text := p.kind + " step"
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
	}
	return text
}

// Hash makes steps keys of dicts and elements of sets.
func (p *step) Hash() (uint32, error) { return starlark.String(p.String()).Hash() }

// source names the step as the Tiltfile writes it, for messages.
func (p *step) source() string {
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
	}
	return p.kind + "()"
}

func (d *imageDeclarations) newStep(c *call, order stepKind, p *step) (starlark.Value, error) {
	p.kind, p.order, p.site = c.name, order, c.site()
	d.steps = append(d.steps, p)
	return p, nil
}

func (d *imageDeclarations) initialSync(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	return d.newStep(c, stepInitialSync, &step{})
}

func (d *imageDeclarations) fallBackOn(c *call) (starlark.Value, error) {
	var files textList
	if err := c.unpack("paths", &files); err != nil {
		return nil, err
	}
	return d.newStep(c, stepFallBack, &step{paths: c.absAll(files.values)})
}

func (d *imageDeclarations) sync(c *call) (starlark.Value, error) {
	var local, remote, text string
	if err := c.unpack("local_path", &local, "remote_path", &remote, "owner??", &text); err != nil {
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
	return d.newStep(c, stepSync, &step{sync: model.Sync{LocalPath: c.abs(local), RemotePath: syncDest(c.abs(local), remote), Owner: owner}})
}

// syncDest is the path in the container: a file that is synced to a folder ("/app/") keeps its name there.
func syncDest(local, remote string) string {
	if strings.HasSuffix(remote, "/") {
		if info, err := os.Stat(local); err == nil && !info.IsDir() {
			return path.Join(remote, path.Base(local))
		}
	}
	return path.Clean(remote)
}

func (d *imageDeclarations) run(c *call) (starlark.Value, error) {
	var cmd argv
	var trigger textList
	var echoOff bool
	if err := c.unpack("cmd", &cmd, "trigger??", &trigger, "echo_off??", &echoOff); err != nil {
		return nil, err
	}
	if len(cmd.words) == 0 {
		return nil, errors.New("the command is empty")
	}
	run := model.Run{Cmd: model.Cmd{Argv: cmd.words, EchoOff: echoOff}}
	if len(trigger.values) > 0 {
		run.Triggers = c.absAll(trigger.values)
	}
	return d.newStep(c, stepRun, &step{run: run})
}

func (d *imageDeclarations) restartContainer(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	return d.newStep(c, stepRestart, &step{})
}

func (d *imageDeclarations) restartProcess(c *call) (starlark.Value, error) {
	var trigger textList
	var file string
	if err := c.unpack("trigger??", &trigger, "file??", &file); err != nil {
		return nil, err
	}
	if file != "" && !path.IsAbs(file) {
		return nil, fmt.Errorf("file: %q must be absolute: it is a path in the container, such as %q", file, "/tmp/"+path.Base(file))
	}
	again := &model.RestartProcess{File: file}
	if len(trigger.values) > 0 {
		again.Triggers = c.absAll(trigger.values)
	}
	return d.newStep(c, stepRestart, &step{again: again})
}

// parseLiveUpdate takes the value of live_update= and checks the order of its steps.
func parseLiveUpdate(c *call, v starlark.Value) (model.LiveUpdate, []*step, error) {
	var lu model.LiveUpdate
	var steps []*step
	for i, e := range oneOrMany(v) {
		p, ok := e.(*step)
		if !ok {
			return lu, nil, fmt.Errorf("live_update: element %d is a %s, want sync(), run(), fall_back_on(), restart_process(), restart_container() or initial_sync()", i, e.Type())
		}
		if err := checkOrder(steps, p); err != nil {
			return lu, nil, c.errorAt(p.site, "live_update: %w", err)
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
	return lu, steps, nil
}

// checkOrder enforces: initial_sync, fall_back_on, sync, run, restart_process or restart_container.
func checkOrder(before []*step, p *step) error {
	if len(before) == 0 {
		return nil
	}
	last := before[len(before)-1]
	switch {
	case p.kind == last.kind && (p.order == stepInitialSync || p.order == stepRestart):
		return fmt.Errorf("%s() may stand only once", p.kind)
	case p.order == stepRestart && last.order == stepRestart:
		return errors.New("give either restart_process() or restart_container(), not both")
	case p.order == stepInitialSync:
		return fmt.Errorf("initial_sync() must be the first step")
	case last.order == stepRestart:
		return fmt.Errorf("%s() must be the last step, but %s follows", last.kind, p.source())
	case p.order < last.order:
		return fmt.Errorf("%s() steps must come before %s() steps", p.kind, last.kind)
	}
	return nil
}

// checkSteps finds steps that belong to no image, and sync sources that no image watches. Steps of live updates without an
// image are for their owners to check, with checkSources.
func (d *imageDeclarations) checkSteps() error {
	var all faults
	for _, p := range d.steps {
		if !p.used {
			all.add(d.errorAt(p.site, "%s is not part of any live_update: put it into the live_update=[…] of docker_build, custom_build or k8s_custom_deploy", p.source()))
		}
	}
	for _, im := range d.list {
		all.add(checkSources(d.evaluation, im.steps, watchedPaths(im), fmt.Sprintf("image %q", im.Ref)))
	}
	return all.err()
}

// checkSources finds steps whose local paths lie outside of what is watched for them.
func checkSources(e *evaluation, steps []*step, watched []string, whose string) error {
	var all faults
	for _, p := range steps {
		sources := p.paths
		if p.order == stepSync {
			sources = []string{p.sync.LocalPath}
		}
		for _, src := range sources {
			if !anyParent(watched, src) {
				all.add(e.errorAt(p.site, "%s: %s lies outside of what %s watches (%s)", p.kind, src, whose, strings.Join(watched, ", ")))
			}
		}
	}
	return all.err()
}

// watchedPaths are the paths of an image and of those that it is built on.
func watchedPaths(im *image) []string {
	var out []string
	for _, d := range ordered([]*image{im}) {
		out = append(out, d.Watch.Paths...)
	}
	return out
}
