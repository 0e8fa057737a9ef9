package tiltfile

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// printer writes a result in readable form.
type printer struct {
	strings.Builder
	root string
}

func (p *printer) line(indent int, format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), p.root, "$ROOT")
	text = strings.ReplaceAll(text, "$ROOT/", "")
	p.WriteString(strings.Repeat("  ", indent) + masked(text) + "\n")
}

func (p *printer) list(indent int, name string, values []string) {
	if len(values) > 0 {
		p.line(indent, "%s: %s", name, strings.Join(values, " "))
	}
}

// render prints everything that differs from the defaults.
func render(r Result, root string) string {
	p := &printer{root: root}
	if r.Err != nil {
		p.line(0, "%s", problem.Text(r.Err))
		p.line(0, "")
	}
	for _, m := range r.Manifests {
		p.manifest(m)
	}
	p.apiObjects(r.APIObjects)
	if r.Enabled != nil {
		p.line(0, "enabled: %v", r.Enabled)
	}
	if !r.ImageCache.Registry.Empty() {
		p.line(0, "image cache: %s push=%v", r.ImageCache.Registry.Host, r.ImageCache.Push)
	}
	if r.Builder.At != "" {
		p.line(0, "builder: %+v", r.Builder)
	}
	if !r.DefaultRegistry.Empty() {
		p.line(0, "registry: %+v", r.DefaultRegistry)
	}
	p.settings(r)
	for _, s := range r.Secrets {
		named := map[bool]string{true: " (a name, too)"}[s.Named]
		p.line(0, "secret: %s:%s %q%s", s.Name, s.Key, s.Value, named)
	}
	p.ignores(0, r.Ignores)
	for _, w := range r.Warnings {
		p.line(0, "warning: %s", w)
	}
	var files []string
	for _, f := range r.ConfigFiles {
		if rel, err := filepath.Rel(p.root, f); err == nil && rel != ".tiltignore" {
			files = append(files, rel)
		}
	}
	p.list(0, "config files", files)
	for _, c := range r.Clusters {
		own := map[bool]string{true: " (the session's own)"}[c.Own]
		p.line(0, "cluster %s: context %s, namespace %s%s", c.Name, c.Context, c.Namespace, own)
	}
	for _, context := range slices.Sorted(maps.Keys(r.ServedBy)) {
		c := r.ServedBy[context]
		p.line(0, "served by %s: %s %v", context, c.KubeVersion, c.APIVersions)
	}
	if r.Served != nil {
		p.line(0, "served: %s %v", r.Served.KubeVersion, r.Served.APIVersions)
	}
	return p.String()
}

func (p *printer) settings(r Result) {
	if r.Err != nil {
		return
	}
	if u := r.Update; u.MaxParallel != 0 || u.UpsertTimeout != model.DefaultUpdateSettings.UpsertTimeout || u.SuppressUnusedImageWarnings != nil {
		p.line(0, "update: %+v", u)
	}
	if r.CI != model.DefaultCISettings {
		p.line(0, "ci: %+v", r.CI)
	}
	if r.DockerPrune != model.DefaultDockerPruneSettings {
		p.line(0, "prune: %+v", r.DockerPrune)
	}
}

func (p *printer) manifest(m model.Manifest) {
	head := "resource " + string(m.Name)
	if m.TriggerMode == model.TriggerManual {
		head += " manual"
	}
	if !m.AutoInit {
		head += " no-auto-init"
	}
	p.line(0, "%s", head)
	p.list(1, "labels", m.Labels)
	for _, d := range m.ResourceDeps {
		p.line(1, "depends on %s", d)
	}
	for _, l := range m.Links {
		p.line(1, "link %s %q", l.URL, l.Name)
	}
	for _, im := range m.Images {
		p.image(im)
	}
	if m.K8s != nil {
		p.k8s(m.K8s)
	}
	if m.Local != nil {
		p.local(m.Local)
	}
	if m.Compose != nil {
		p.compose(m.Compose)
	}
}

func (p *printer) compose(t *model.ComposeTarget) {
	pr := t.Project
	p.line(1, "service %s of project %s in %s", t.Service, pr.Name, pr.Dir)
	for _, f := range pr.Files {
		if f.Path == "" {
			p.line(2, "file with text of %s: %q", f.Source, f.Content)
		} else {
			p.line(2, "file %s", f.Path)
		}
	}
	p.list(2, "env files", pr.EnvFiles)
	p.list(2, "profiles", pr.Profiles)
	p.list(2, "env", pr.Env)
	if pr.Wait {
		p.line(2, "waits until it is healthy")
	}
	made := "pulled"
	switch {
	case t.ImageTarget != "":
		made = "built as " + t.ImageTarget
	case t.Build != nil:
		made = "built by Compose"
	}
	p.line(2, "runs %s, %s", t.Image, made)
	if b := t.Build; b != nil {
		p.line(3, "context=%s dockerfile=%s target=%s remote=%v", b.Context, b.Dockerfile, b.Target, b.Remote)
		p.list(3, "contexts", b.Contexts)
	}
	for _, o := range t.Ports {
		p.line(2, "port %s", strings.TrimSpace(fmt.Sprintf("%s:%d:%d/%s %s %s", o.HostIP, o.Published, o.Target, o.Protocol, o.Name, o.AppProtocol)))
	}
	if len(t.Hash) != 64 {
		p.line(2, "bad hash %q", t.Hash)
	}
	p.watch(2, t.Watch)
}

func (p *printer) k8s(k *model.K8sTarget) {
	if k.Cluster != "" {
		p.line(1, "cluster %s", k.Cluster)
	}
	if !k.Registry.Empty() {
		p.line(1, "images go to %s", k.Registry.Host)
	}
	for _, o := range k.Objects {
		p.line(1, "object %s", o.ID())
	}
	for _, l := range k.ImageLocators {
		p.line(1, "%s", strings.TrimSpace(fmt.Sprintf("image at %s in %s %s %s", l.Path, l.Object, l.RepoField, l.TagField)))
	}
	if k.CustomDeploy != nil {
		p.custom(*k.CustomDeploy)
	}
	for _, f := range k.PortForwards {
		p.line(1, "forward %s", strings.TrimSuffix(fmt.Sprintf("%s:%d:%d %s %s", f.Host, f.LocalPort, f.ContainerPort, f.Name, f.LinkPath), "  "))
	}
	for _, s := range k.ExtraPodSelectors {
		p.line(1, "selector %v", s)
	}
	if k.SelectorsOnly {
		p.line(1, "selectors only")
	}
	if k.PodReadiness != model.PodWait {
		p.line(1, "readiness: %s", k.PodReadiness)
	}
}

func (p *printer) custom(d model.CustomDeploy) {
	p.cmd(1, "apply", d.Apply)
	p.cmd(1, "delete", d.Delete)
	p.watch(1, d.Watch)
	p.list(1, "told about", d.ImageDeps)
	if d.ImageSelector != "" {
		p.line(1, "containers that run %s", d.ImageSelector)
	}
	if d.ContainerSelector != "" {
		p.line(1, "containers called %s", d.ContainerSelector)
	}
	p.liveUpdate(d.LiveUpdate)
}

func (p *printer) local(l *model.LocalTarget) {
	p.cmd(1, "update", l.Update)
	p.cmd(1, "serve", l.Serve)
	p.cmd(1, "down", l.Down)
	if l.AllowParallel {
		p.line(1, "parallel")
	}
	if t := l.Test; t != nil {
		p.line(1, "test timeout=%s", t.Timeout)
		p.list(2, "results", t.Results)
	}
	p.watch(1, l.Watch)
	if l.Readiness != nil {
		p.probe(1, l.Readiness)
	}
}

func (p *printer) probe(indent int, r *model.Probe) {
	p.line(indent, "probe delay=%s timeout=%s period=%s success=%d failure=%d", r.InitialDelay, r.Timeout, r.Period, r.SuccessThreshold, r.FailureThreshold)
	if r.Exec != nil {
		p.cmd(indent+1, "exec", *r.Exec)
	}
	if h := r.HTTP; h != nil {
		p.line(indent+1, "http {Host:%s Port:%d Scheme:%s Path:%s}", h.Host, h.Port, h.Scheme, h.Path)
		for _, header := range h.Headers {
			p.line(indent+2, "header %s: %s", header.Name, header.Value)
		}
	}
	if r.TCP != nil {
		p.line(indent+1, "tcp %+v", *r.TCP)
	}
}

func (p *printer) cmd(indent int, name string, c model.Cmd) {
	if c.Empty() {
		return
	}
	p.line(indent, "%s %q", name, c.Argv)
	if c.Dir != "" && c.Dir != p.root {
		p.line(indent+1, "in %s", c.Dir)
	}
	p.list(indent+1, "env", c.Env)
	if c.EchoOff {
		p.line(indent+1, "echo off")
	}
}

func (p *printer) image(im model.ImageTarget) {
	p.line(1, "image %s", im.Ref)
	p.list(2, "built on", im.DependsOn)
	if d := im.Docker; d != nil {
		p.docker(d)
	}
	if c := im.Custom; c != nil {
		p.cmd(2, "command", c.Command)
		p.line(2, "%s", strings.TrimSpace(fmt.Sprintf("custom tag=%q disable_push=%v skips_local_docker=%v outputs=%q image_deps=%v",
			c.Tag, c.DisablePush, c.SkipsLocalDocker, c.OutputsImageRefTo, c.ImageDeps)))
		if c.DepsComplete {
			p.line(3, "deps are complete")
		}
	}
	if im.MatchInEnvVars {
		p.line(2, "matches in env vars")
	}
	if im.Entrypoint != nil {
		p.line(2, "entrypoint %q", im.Entrypoint)
	}
	if im.ContainerArgs != nil {
		p.line(2, "args %q", *im.ContainerArgs)
	}
	p.watch(2, im.Watch)
	p.liveUpdate(im.LiveUpdate)
}

func (p *printer) docker(d *model.DockerBuild) {
	p.line(2, "docker context=%s dockerfile=%s", d.Context, d.Dockerfile)
	var args []string
	for k, v := range d.BuildArgs {
		if v == nil {
			args = append(args, k)
		} else {
			args = append(args, k+"="+*v)
		}
	}
	slices.Sort(args)
	p.list(3, "args", args)
	for _, f := range []struct {
		name  string
		value []string
	}{{"secrets", d.Secrets}, {"ssh", d.SSH}, {"extra tags", d.ExtraTags}, {"cache from", model.CacheTexts(d.CacheFrom)}, {"cache to", model.CacheTexts(d.CacheTo)}, {"extra hosts", d.ExtraHosts}} {
		p.list(3, f.name, f.value)
	}
	if d.Target+d.Network+d.Platform != "" || d.Pull {
		p.line(3, "target=%s network=%s platform=%s pull=%v", d.Target, d.Network, d.Platform, d.Pull)
	}
}

func (p *printer) watch(indent int, w model.WatchSpec) {
	var paths []string
	for _, path := range w.Paths {
		if path == p.root {
			path = "."
		}
		paths = append(paths, path)
	}
	p.list(indent, "watch", paths)
	p.ignores(indent, w.Ignores)
}

func (p *printer) ignores(indent int, list []model.Ignore) {
	for _, i := range list {
		p.line(indent, "ignore %q in %s (%s)", i.Patterns, i.Base, i.Source)
	}
}

func (p *printer) liveUpdate(l model.LiveUpdate) {
	if l.InitialSync {
		p.line(2, "initial sync")
	}
	p.list(2, "fall back on", l.StopPaths)
	for _, s := range l.Syncs {
		owner := ""
		if s.Owner.Set {
			owner = " owner " + s.Owner.String()
		}
		p.line(2, "sync %s → %s%s", s.LocalPath, s.RemotePath, owner)
	}
	for _, r := range l.Runs {
		p.cmd(2, "run", r.Cmd)
		p.list(3, "triggers", r.Triggers)
	}
	if l.RestartContainer {
		p.line(2, "restart container")
	}
	if r := l.RestartProcess; r != nil {
		p.line(2, "restart process")
		p.list(3, "triggers", r.Triggers)
		if r.File != "" {
			p.line(3, "file %s", r.File)
		}
	}
}
