package tiltfile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// finish assembles what the program declared, and checks what can only be checked now.
func (s *state) finish() (model.Tiltfile, error) {
	tf := model.Tiltfile{Update: s.update, CI: s.ci, DockerPrune: s.prune}
	if s.registry != nil {
		tf.DefaultRegistry = *s.registry
	}
	var all faults
	all.add(s.connectImages())
	s.finishImages()
	a, err := s.assemble()
	all.add(err)
	all.add(s.checkSteps())
	if a == nil {
		return tf, all.err()
	}
	all.add(s.tagAsTheyAre())
	manifests := a.manifests()
	sites := map[model.ManifestName]site{}
	for _, r := range a.resources {
		sites[model.ManifestName(r.name)] = r.site
	}
	if len(manifests) > 0 {
		if err := s.allowed("deploy"); err != nil {
			all.add(s.placed(a.firstSite(), err.Error(), err))
		}
	}
	composed, err := s.composeManifests(sites)
	all.add(err)
	manifests = append(manifests, composed...)
	all.add(s.checkRestarts(manifests))
	for _, l := range s.locals {
		name := model.ManifestName(l.name)
		if at, taken := sites[name]; taken {
			all.add(s.errorAt(l.site, "%s: there is already a resource called %q, declared at %s", l.builtin, l.name, at))
			continue
		}
		sites[name] = l.site
		manifests = append(manifests, s.localManifest(l))
	}
	if all.any() {
		return tf, all.err() // what resources depend on may be among them
	}
	if err := s.checkDeps(manifests, sites); err != nil {
		return tf, err
	}
	s.warnUnusedImages()
	if tf.Enabled, err = s.enabledNames(manifests); err != nil {
		return tf, err
	}
	tf.APIObjects = s.apiObjects(manifests)
	tf.Manifests = manifests
	tf.Secrets = s.secrets()
	return tf, nil
}

// connectImages finds which images are built on which, and refuses circles.
func (s *state) connectImages() error {
	var all faults
	for _, im := range s.images.list {
		for _, ref := range im.bases {
			base := s.images.find(ref)
			switch {
			case base == im:
				all.add(s.errorAt(im.site, "%s: image %q is built on itself", im.builtin, im.Ref))
			case base != nil && !slices.Contains(im.deps, base):
				im.deps = append(im.deps, base)
				im.DependsOn = append(im.DependsOn, base.Ref)
				base.used = true
			case base == nil && im.Custom != nil:
				s.warn(im.site, "image_deps: no image %q is built here, so the command is not told about it", ref)
			}
		}
	}
	for _, im := range s.images.list {
		if path := imageCycle(im, nil); path != nil {
			all.add(s.errorAt(im.site, "%s: images are built on each other in a circle: %s", im.builtin, describeCycle(path)))
			im.deps = nil // the circle has been reported
		}
	}
	return all.err()
}

// imageCycle returns the references on a circle that starts and ends in an image, or nil.
func imageCycle(im *image, path []*image) []string {
	if i := slices.Index(path, im); i >= 0 {
		if i > 0 {
			return nil // found again from the image that the circle goes through
		}
		var names []string
		for _, p := range path {
			names = append(names, p.Ref)
		}
		return append(names, im.Ref)
	}
	for _, d := range im.deps {
		if c := imageCycle(d, append(path, im)); c != nil {
			return c
		}
	}
	return nil
}

// finishImages adds to the images what is known only at the end: the Tiltfiles, whose change re-evaluates them
// anyway, and the environment that the Tiltfile set.
func (s *state) finishImages() {
	for _, im := range s.images.list {
		s.ignoreTiltfiles(&im.Watch)
		if im.Custom != nil {
			im.Custom.Command = s.withEnv(im.Custom.Command)
		}
	}
}

// tiltfilePaths are the files that were executed, sorted.
func (s *state) tiltfilePaths() []string { return sortedKeys(s.modules) }

// ignoreTiltfiles leaves the files of the program out of what is watched.
func (s *state) ignoreTiltfiles(w *model.WatchSpec) {
	for _, path := range s.tiltfilePaths() {
		if anyParent(w.Paths, path) {
			w.Ignores = append(w.Ignores, ignoreFile(path, "Tiltfile"))
		}
	}
}

// withEnv gives a command the variables that the Tiltfile changed; its own win.
func (s *state) withEnv(cmd model.Cmd) model.Cmd {
	if cmd.Empty() {
		return cmd
	}
	changed := slices.DeleteFunc(s.env.changed(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(cmd.Env, func(own string) bool { return strings.HasPrefix(own, name+"=") })
	})
	cmd.Env = append(changed, cmd.Env...)
	return cmd
}

// checkDeps drops dependencies on resources that do not exist, with a warning, and refuses circles.
func (s *state) checkDeps(manifests []model.Manifest, sites map[model.ManifestName]site) error {
	byName := map[model.ManifestName]*model.Manifest{}
	var names []string
	for i := range manifests {
		byName[manifests[i].Name] = &manifests[i]
		names = append(names, string(manifests[i].Name))
	}
	var all faults
	for i := range manifests {
		m := &manifests[i]
		m.ResourceDeps = slices.DeleteFunc(m.ResourceDeps, func(d model.ManifestName) bool {
			missing := byName[d] == nil && !slices.Contains(s.beside, d)
			if missing {
				s.warn(sites[m.Name], "resource %q depends on %q, which does not exist%s; the dependency is left out", m.Name, d, didYouMean(string(d), names))
			}
			return missing
		})
		if slices.Contains(m.ResourceDeps, m.Name) {
			all.add(s.errorAt(sites[m.Name], "resource_deps: resource %q depends on itself", m.Name))
			m.ResourceDeps = slices.DeleteFunc(m.ResourceDeps, func(d model.ManifestName) bool { return d == m.Name })
		}
	}
	done := map[model.ManifestName]bool{}
	for _, m := range manifests {
		if path := depCycle(byName, m.Name, nil, done); path != nil {
			all.add(s.errorAt(sites[model.ManifestName(path[0])], "resource_deps: resources depend on each other in a circle: %s", describeCycle(path)))
			byName[model.ManifestName(path[0])].ResourceDeps = nil // the circle has been reported
		}
	}
	return all.err()
}

// depCycle returns the names on a circle that can be reached from a resource, or nil.
func depCycle(byName map[model.ManifestName]*model.Manifest, name model.ManifestName, path []string, done map[model.ManifestName]bool) []string {
	if i := slices.Index(path, string(name)); i >= 0 {
		return append(slices.Clone(path[i:]), string(name))
	}
	if done[name] {
		return nil
	}
	for _, d := range byName[name].ResourceDeps {
		if byName[d] == nil {
			continue // of the project, which does not depend on its extensions
		}
		if c := depCycle(byName, d, append(path, string(name)), done); c != nil {
			return c
		}
	}
	done[name] = true
	return nil
}

// warnUnusedImages tells of images that are built for nothing.
func (s *state) warnUnusedImages() {
	for _, im := range s.images.list {
		if im.used || slices.ContainsFunc(s.update.SuppressUnusedImageWarnings, func(ref string) bool {
			return ref == "*" || ref == im.Ref || s.images.find(ref) == im
		}) {
			continue
		}
		at, from := s.usersSite(im.site)
		s.warn(at, "image %q is built%s, but no resource uses it%s; if that is meant, say so: update_settings(suppress_unused_image_warnings=[%q])",
			im.Ref, from, s.images.meant(im), im.Ref)
	}
}

// usersSite is the innermost place of a call that lies in a file of the user, which the copies of extensions are not. Where
// that is in a function, from says which line of the root Tiltfile called it.
func (s *state) usersSite(at site) (users site, from string) {
	if at.calls == nil {
		return at, ""
	}
	stack, users := *at.calls, at
	for i := range len(stack) {
		if pos := stack.At(i).Pos; inProgram(pos) && !isEmbedded(pos.Filename()) && !model.IsChild(s.ext.store.Dir, pos.Filename()) {
			users = siteOf(pos)
			break
		}
	}
	for i := range len(stack) {
		if outer := siteOf(stack.At(i).Pos); outer.file == s.main && i+1 == len(stack) && outer.line != users.line {
			from = fmt.Sprintf(" (called from line %d of %s)", outer.line, filepath.Base(outer.file))
		}
	}
	return users, from
}

// enabledNames returns the resources that the session is restricted to, with their dependencies; nil means all.
func (s *state) enabledNames(manifests []model.Manifest) ([]model.ManifestName, error) {
	requested := s.enabled
	if !s.enabledByCall {
		if s.flags.parsed || len(s.opts.Args) == 0 {
			return nil, nil
		}
		requested = s.opts.Args
	}
	if s.enableAll {
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
		for _, d := range byName[n].ResourceDeps {
			enable(d)
		}
	}
	var all faults
	for _, r := range requested {
		if _, ok := byName[model.ManifestName(r)]; !ok && r != string(model.UncategorizedName) {
			err := s.unknownResource(r, names)
			if !s.enabledByCall {
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

func (s *state) unknownResource(name string, known []string) error {
	msg := fmt.Sprintf("there is no resource %q%s", name, didYouMean(name, known))
	if len(known) > 0 {
		msg += "; known are " + quoted(known)
	}
	at := s.enabledSite
	if at.file == "" {
		at.file = s.main
	}
	return s.placed(at, msg, nil)
}
