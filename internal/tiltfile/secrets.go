package tiltfile

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// shortestSecret is how long values are that logs must not show: shorter ones stand in ordinary text by chance.
const shortestSecret = 5

// learnSecrets looks for Secrets in a text that the program gets to know, so that what it prints of them from then on can be
// hidden, whether it declares them later or not. Texts that cannot be read hold none.
func (s *state) learnSecrets(text string) {
	if s.keepSecrets || !mayHoldSecret(text) {
		return
	}
	for _, doc := range splitYAML(text) {
		if !mayHoldSecret(doc.text) {
			continue
		}
		objs, _, err := s.memo.parseObjects(doc.text, "")
		if err != nil {
			continue
		}
		for _, o := range objs {
			s.learn(secretsOf(o))
		}
	}
}

// mayHoldSecret is false for nearly every text that holds no Secret, and fast.
func mayHoldSecret(text string) bool {
	return strings.Contains(text, "Secret") && strings.Contains(text, "kind")
}

// learn tells of secrets that were not known yet.
func (s *state) learn(secrets []model.Secret) {
	var more []model.Secret
	for _, secret := range secrets {
		if !slices.Contains(s.learned, secret) {
			s.learned = append(s.learned, secret)
			more = append(more, secret)
		}
	}
	if len(more) > 0 && s.opts.OnSecrets != nil {
		s.opts.OnSecrets(more)
	}
}

// secretsOf are the values of a Secret, plain and in base64; none of other objects.
func secretsOf(o *object) []model.Secret {
	var out []model.Secret
	for _, key := range sortedKeys(o.secret) {
		v := strings.TrimRight(o.secret[key], "\n")
		if len(v) < shortestSecret {
			continue
		}
		out = append(out, model.Secret{Name: o.Name, Key: key, Value: v},
			model.Secret{Name: o.Name, Key: key, Value: base64.StdEncoding.EncodeToString([]byte(o.secret[key]))})
	}
	return out
}

// secrets returns what logs must not show: the values of the Secrets that are declared, and of those that the program came
// by.
func (s *state) secrets() []model.Secret {
	if s.keepSecrets {
		return nil
	}
	var out []model.Secret
	for _, p := range s.compose.projects {
		out = append(out, p.loaded.Secrets...)
	}
	for _, o := range s.objects.list {
		out = append(out, secretsOf(o)...)
	}
	for _, secret := range s.learned {
		if !slices.Contains(out, secret) {
			out = append(out, secret)
		}
	}
	return out
}
