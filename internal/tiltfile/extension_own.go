package tiltfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// ownExtensions evaluates the declared extensions, each on its own: with its own arguments, settings and object names,
// as though it were the root Tiltfile. Their declarations come after the Tiltfile's own. An extension that fails, or that
// declares a resource that exists already, is left out as a whole, with a warning: the project's own declarations do not
// depend on it.
//
// An extension that was loaded has run already, and does not run again: most declarations only define ext://NAME.
func (s *state) ownExtensions(tf *model.Tiltfile) {
	for _, e := range s.opts.Given.Extensions {
		s.tryExtension(tf, e)
	}
	for i := 0; i < len(tf.Extensions); i++ { // extensions may declare more of them
		s.tryExtension(tf, tf.Extensions[i])
	}
}

func (s *state) tryExtension(tf *model.Tiltfile, e model.Extension) {
	err := s.ownExtension(tf, e)
	if err == nil || s.Context.Err() != nil {
		return
	}
	s.Warn(s.api.ExtensionSite(e.Name), "extension %q is left out: %v", e.Name, err)
	if tf.LeftOut == nil {
		tf.LeftOut = map[string]string{}
	}
	tf.LeftOut[e.Name] = err.Error()
}

// declareGiven registers the extensions and repositories that are declared before the Tiltfile runs.
func (s *state) declareGiven() {
	if s.inner {
		return // it shares the registry of the root Tiltfile
	}
	for _, r := range s.opts.Given.ExtensionRepos {
		if err := s.interp.Registry.AddRepo(v1alpha1.AsRepo(r)); err != nil {
			s.Warn(fault.Site{}, "extension repository %q is left out: %v", r.Name, err)
		}
	}
	for _, e := range s.opts.Given.Extensions {
		if err := s.interp.Registry.AddExtension(v1alpha1.AsExtension(e)); err != nil {
			s.Warn(fault.Site{}, "extension %q is left out: %v", e.Name, err)
		}
	}
}

func (s *state) ownExtension(tf *model.Tiltfile, e model.Extension) error {
	path, err := s.interp.ExtensionPath(e.Name)
	if err != nil {
		return err
	}
	if s.interp.Ran(path) {
		return nil
	}
	own := s.within(path, e.Args, tf.Manifests)
	declared, err := own.load()
	s.DependOn(own.ConfigFiles()...)
	maps.Copy(s.Read, own.Read)
	s.Warnings = append(s.Warnings, own.Warnings...)
	var taken []string
	for _, m := range declared.Manifests {
		if slices.Contains(own.beside, m.Name) {
			taken = append(taken, string(m.Name))
		}
	}
	switch {
	case err != nil:
		return err
	case len(taken) > 0:
		return fmt.Errorf("it declares resources that already exist: %s", strings.Join(taken, ", "))
	}
	s.interp.Registry, s.Folders = own.interp.Registry, own.Folders
	s.api.Know(own.api)
	s.gate.Take(own.gate)
	s.ignores.List = append(s.ignores.List, own.ignores.List...) // they concern its own folders only
	merge(tf, declared)
	model.NameSecrets(tf.Secrets, s.names(tf.Manifests))
	return nil
}

// within returns the evaluation of another root Tiltfile, next to the resources that exist already.
func (s *state) within(path string, args []string, beside []model.Manifest) *state {
	o := s.opts
	o.Path, o.Args, o.Env = path, args, s.Env.List()
	own := newState(s.Context, path, o)
	own.interp.Registry, own.Folders = s.interp.Registry.Clone(), maps.Clone(s.Folders)
	own.interp.Predeclare(own.builtins(), own.constants()) // config.main_dir is the extension's folder
	own.api.Know(s.api)
	own.Cluster = s.Cluster // it is asked once for both
	// The project allows contexts for its extensions; an extension cannot allow them for the project.
	*own.gate = *s.gate.Clone()
	own.inner = true
	for _, m := range beside {
		own.beside = append(own.beside, m.Name)
	}
	own.api.Beside = own.beside
	return own
}

// merge adds the declarations of an extension, except its settings: the project's apply.
func merge(tf *model.Tiltfile, more model.Tiltfile) {
	if tf.Enabled != nil || more.Enabled != nil {
		tf.Enabled = slices.Concat(enabled(*tf), enabled(more))
	}
	tf.Manifests, tf.Clusters = append(tf.Manifests, more.Manifests...), more.Clusters
	for name, calls := range more.Declared {
		tf.Declared[name] = calls
	}
	tf.Secrets = append(tf.Secrets, more.Secrets...)
	tf.APIObjects.Add(more.APIObjects)
}

// enabled are the resources that a Tiltfile enables.
func enabled(tf model.Tiltfile) []model.ManifestName {
	if tf.Enabled != nil {
		return tf.Enabled
	}
	names := make([]model.ManifestName, len(tf.Manifests))
	for i, m := range tf.Manifests {
		names[i] = m.Name
	}
	return names
}
