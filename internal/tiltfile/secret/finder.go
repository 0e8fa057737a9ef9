// Package secret finds the values of Secrets in the texts that a program comes by, so that logs can hide them.
package secret

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/internal/tiltfile/yamlstream"
	"github.com/hone-dev/hone/pkg/model"
)

// shortestSecret is how long values are that logs must not show: shorter ones stand in ordinary text by chance.
const shortestSecret = 5

// Finder knows the Secrets that the program came by. It is used by one goroutine.
type Finder struct {
	memo *memo.Memo
	// tell is told of values that were not known yet; nil does without.
	tell func(more []model.Secret)
	// off is set where the Tiltfile wants secrets to be shown.
	off     bool
	learned []model.Secret
}

// NewFinder returns a finder that tells of each value as soon as it is found.
func NewFinder(m *memo.Memo, tell func(more []model.Secret)) *Finder {
	return &Finder{memo: m, tell: tell}
}

// Builtins are the functions that are about secrets.
func (f *Finder) Builtins() map[string]eval.Function {
	return map[string]eval.Function{"secret_settings": f.settings}
}

func (f *Finder) settings(c *eval.Call) (starlark.Value, error) {
	var disable value.Bool
	if err := c.Unpack("disable_scrub??", &disable); err != nil {
		return nil, err
	}
	if disable.IsSet {
		f.off = disable.Value
	}
	return nil, nil
}

// Look looks for Secrets in a text that the program gets to know, so that what it prints of them from then on can be
// hidden, whether it declares them later or not. Texts that cannot be read hold none.
func (f *Finder) Look(text string) {
	if f.off || !mayHoldSecret(text) {
		return
	}
	for _, doc := range yamlstream.Split(text) {
		if !mayHoldSecret(doc.Text) {
			continue
		}
		objs, err := k8sobject.Parse(f.memo, nil, doc.Text, "")
		if err != nil {
			continue
		}
		for _, o := range objs {
			f.learn(secretsOf(o))
		}
	}
}

// mayHoldSecret is false for nearly every text that holds no Secret, and fast.
func mayHoldSecret(text string) bool {
	return strings.Contains(text, "Secret") && strings.Contains(text, "kind")
}

// learn tells of secrets that were not known yet.
func (f *Finder) learn(secrets []model.Secret) {
	var more []model.Secret
	for _, secret := range secrets {
		if !slices.Contains(f.learned, secret) {
			f.learned = append(f.learned, secret)
			more = append(more, secret)
		}
	}
	if len(more) > 0 && f.tell != nil {
		f.tell(more)
	}
}

// secretsOf are the values of a Secret, plain and in base64; none of other objects.
func secretsOf(o *k8sobject.Object) []model.Secret {
	var out []model.Secret
	for _, key := range slices.Sorted(maps.Keys(o.Secret)) {
		v := strings.TrimRight(o.Secret[key], "\n")
		if len(v) < shortestSecret {
			continue
		}
		out = append(out, model.Secret{Name: o.Name, Key: key, Value: v},
			model.Secret{Name: o.Name, Key: key, Value: base64.StdEncoding.EncodeToString([]byte(o.Secret[key]))})
	}
	return out
}

// All returns what logs must not show: the values that are given, those of the Secrets among the objects, and those that
// the program came by.
func (f *Finder) All(given []model.Secret, objs []*k8sobject.Object) []model.Secret {
	if f.off {
		return nil
	}
	out := slices.Clone(given)
	for _, o := range objs {
		out = append(out, secretsOf(o)...)
	}
	for _, secret := range f.learned {
		if !slices.Contains(out, secret) {
			out = append(out, secret)
		}
	}
	return out
}
