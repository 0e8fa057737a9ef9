// Package secret finds the values of Secrets in the texts that a program reads or makes, so that logs can hide them.
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

// shortestSecret is the length in bytes from which logs hide a value: shorter ones occur in ordinary text by chance.
const shortestSecret = 5

// Finder collects the Secrets that the program reads or makes, and other credentials. It is used by one goroutine.
type Finder struct {
	memo *memo.Memo
	// tell receives values that were not known yet; it may be nil.
	tell func(more []model.Secret)
	// off is set if the Tiltfile allows logs to show secrets.
	off     bool
	learned []model.Secret
}

// NewFinder returns a finder that passes each value to tell as soon as it is found.
func NewFinder(m *memo.Memo, tell func(more []model.Secret)) *Finder {
	return &Finder{memo: m, tell: tell}
}

// Builtins are the functions that concern secrets.
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

// Look looks for Secrets in a text that the program has obtained, so that logs can hide them from then on, whether or
// not the program declares them later. Texts that cannot be parsed hold none.
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
			f.Learn(secretsOf(o))
		}
	}
}

// mayHoldSecret is a fast check that is false for nearly every text without a Secret.
func mayHoldSecret(text string) bool {
	return strings.Contains(text, "Secret") && strings.Contains(text, "kind")
}

// Learn adds secrets, and passes those that were not known yet to tell.
func (f *Finder) Learn(secrets []model.Secret) {
	if f.off {
		return
	}
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

// secretsOf returns the values of a Secret, plain and in base64; none for other objects.
func secretsOf(o *k8sobject.Object) []model.Secret {
	var out []model.Secret
	for _, key := range slices.Sorted(maps.Keys(o.Secret)) {
		v := strings.TrimRight(o.Secret[key], "\n")
		if len(v) < shortestSecret {
			continue
		}
		out = append(out, model.Secret{Name: o.Name, Key: key, Value: v},
			model.Secret{Name: o.Name, Key: key, Value: base64.StdEncoding.EncodeToString([]byte(o.Secret[key]))})
		if !registryKeys[key] {
			continue
		}
		for _, password := range registryPasswords(v) {
			if secret := (model.Secret{Name: o.Name, Key: key, Value: password}); len(password) >= shortestSecret && !slices.Contains(out, secret) {
				out = append(out, secret)
			}
		}
	}
	return out
}

// All returns the values that logs must not show: the given ones, the values of the Secrets among the objects, and
// the values found by Look.
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
