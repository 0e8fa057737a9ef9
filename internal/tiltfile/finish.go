package tiltfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/pkg/model"
)

// finish assembles the declarations of the program, and makes the checks that need all of them.
func (s *state) finish() (model.Tiltfile, error) {
	tf := model.Tiltfile{Update: s.settings.Update, CI: s.settings.CI, DockerPrune: s.settings.Prune}
	if s.images.Registry != nil {
		tf.DefaultRegistry = *s.images.Registry
	}
	if s.images.Cache != nil {
		tf.ImageCache = *s.images.Cache
	}
	var all fault.List
	if s.images.Builder != nil {
		tf.Builder = *s.images.Builder
		if pod := tf.Builder.Pod; pod.Registry {
			namespace, err := s.gate.OwnNamespace()
			all.Add(err)
			tf.DefaultRegistry = model.KeptRegistry(cmp.Or(pod.Namespace, namespace), pod.RegistryPod)
		}
		all.Add(s.placeBuilder(&tf.Builder.Pod))
	}
	all.Add(s.images.Connect())
	s.ignores.List = append(s.ignores.List, s.images.Finish()...)
	a, err := s.k8s.Assemble(s.settings.Adopt)
	all.Add(err)
	all.Add(s.images.CheckSteps())
	all.Add(s.k8s.CheckSteps())
	if a == nil {
		return tf, all.Err()
	}
	all.Add(s.k8s.TagAsTheyAre())
	manifests, sites, calls := a.Manifests(), a.Sites(), a.Calls()
	all.Add(a.Allowed())
	composed, err := s.services.Manifests(sites, calls)
	all.Add(err)
	manifests = append(manifests, composed...)
	all.Add(s.images.CheckRestarts(manifests))
	local, err := s.locals.Manifests(sites, calls)
	all.Add(err)
	manifests = append(manifests, local...)
	if all.Any() {
		return tf, all.Err() // the resources that failed may be dependencies of others
	}
	if err := s.checkDeps(manifests, sites); err != nil {
		return tf, err
	}
	s.images.WarnUnused(s.settings.Update.SuppressUnusedImageWarnings)
	if tf.Enabled, err = s.config.Enabled(manifests); err != nil {
		return tf, err
	}
	tf.APIObjects, tf.Clusters = s.api.Objects(manifests), s.gate.Clusters()
	tf.Manifests = manifests
	for _, m := range manifests {
		s.secrets.Learn(m.Credentials())
	}
	tf.Secrets = s.hidden(manifests)
	for i := range manifests {
		if m := manifests[i]; m.IsK8s() && len(m.Images) > 0 {
			m.K8s.Registry = tf.RegistryFor(m.Cluster())
		}
		if l := manifests[i].Local; l != nil {
			l.Down = l.Down.Hides(tf.Secrets)
		}
		if d := manifests[i].CustomDeploy(); d != nil {
			d.Delete = d.Delete.Hides(tf.Secrets)
		}
	}
	tf.Declared = s.declared(manifests, calls, tf.Secrets)
	return tf, nil
}

// placeBuilder finds the cluster of the builder, if the call names one.
func (s *state) placeBuilder(pod *model.BuilderPod) error {
	in, err := s.gate.Named(s.images.BuilderCluster)
	if err == nil && in != nil {
		err = s.gate.Allowed("build images", in)
	}
	if err != nil {
		return s.Placed(s.images.BuilderSite, err.Error(), err)
	}
	if in == nil || in.Own {
		return nil
	}
	pod.Cluster, pod.Namespace = in.Context, cmp.Or(pod.Namespace, in.Namespace)
	return nil
}

// declared describes the calls that have shaped each resource, in the order of the lines of the root Tiltfile that led to them.
// Their source does not show secrets.
func (s *state) declared(manifests []model.Manifest, calls map[model.ManifestName][]fault.Call, secrets []model.Secret) map[model.ManifestName][]model.Declaration {
	scrub := logstore.NewScrubber(secrets)
	out := map[model.ManifestName][]model.Declaration{}
	for _, m := range manifests {
		seen := map[string]bool{}
		for _, c := range append(s.images.Calls(m), calls[m.Name]...) {
			d := s.interp.Declaration(c)
			key := fmt.Sprint(d.File, ":", d.Line, ":", d.From, ":", c.Site.Col)
			if c.Site.Line == 0 || seen[key] {
				continue
			}
			seen[key] = true
			for i, line := range d.Source {
				d.Source[i] = scrub.Text(line)
			}
			out[m.Name] = append(out[m.Name], d)
		}
		slices.SortStableFunc(out[m.Name], func(a, b model.Declaration) int { return s.rootLine(a) - s.rootLine(b) })
	}
	return out
}

// rootLine returns the line of the root Tiltfile that led to a declaration.
func (s *state) rootLine(d model.Declaration) int {
	if d.From > 0 {
		return d.From
	}
	return d.Line
}

// checkDeps drops dependencies on resources that do not exist, with a warning, and refuses circles.
func (s *state) checkDeps(manifests []model.Manifest, sites map[model.ManifestName]fault.Site) error {
	byName := map[model.ManifestName]*model.Manifest{}
	var names []string
	for i := range manifests {
		byName[manifests[i].Name] = &manifests[i]
		names = append(names, string(manifests[i].Name))
	}
	var all fault.List
	for i := range manifests {
		m := &manifests[i]
		m.ResourceDeps = slices.DeleteFunc(m.ResourceDeps, func(d model.ManifestName) bool {
			missing := byName[d] == nil && !slices.Contains(s.beside, d)
			if missing {
				s.Warn(sites[m.Name], "resource %q depends on %q, which does not exist%s; the dependency is left out", m.Name, d, hint.DidYouMean(string(d), names))
			}
			return missing
		})
		if slices.Contains(m.ResourceDeps, m.Name) {
			all.Add(s.ErrorAt(sites[m.Name], "resource_deps: resource %q depends on itself", m.Name))
			m.ResourceDeps = slices.DeleteFunc(m.ResourceDeps, func(d model.ManifestName) bool { return d == m.Name })
		}
	}
	done := map[model.ManifestName]bool{}
	for _, m := range manifests {
		if path := depCycle(byName, m.Name, nil, done); path != nil {
			all.Add(s.ErrorAt(sites[model.ManifestName(path[0])], "resource_deps, ref(): resources depend on each other in a circle: %s", strings.Join(path, " → ")))
			byName[model.ManifestName(path[0])].ResourceDeps = nil // the circle has been reported
		}
	}
	return all.Err()
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
			continue // a resource of the project, which does not depend on its extensions
		}
		if c := depCycle(byName, d, append(path, string(name)), done); c != nil {
			return c
		}
	}
	done[name] = true
	return nil
}
