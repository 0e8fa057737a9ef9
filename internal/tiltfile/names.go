package tiltfile

import (
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// hidden returns the values that nothing must show, and marks those that are names of the project.
func (s *state) hidden(manifests []model.Manifest) []model.Secret {
	s.hideEnvironment()
	secrets := s.secrets.All(s.services.Secrets(), s.k8s.Objects.List)
	model.NameSecrets(secrets, s.names(manifests))
	return secrets
}

// hideEnvironment hides the credentials in the environment, which the program and its commands can print.
func (s *state) hideEnvironment() { s.Hide("the environment", s.Env.List()) }

// names returns the names of the project that are known so far: of its resources, objects, images and services, and the parts of its
// files' paths.
func (s *state) names(manifests []model.Manifest) map[string]bool {
	out := map[string]bool{}
	for _, m := range manifests {
		out[string(m.Name)] = true
	}
	for _, path := range slices.Concat(s.k8s.Names(), s.images.Names(), s.services.Names(), s.locals.Names(), s.ConfigFiles()) {
		for _, part := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/:@", r) }) {
			out[part] = true
		}
	}
	delete(out, "")
	return out
}
