package deploy

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// The declaration that was applied last is a note in the ledger. It only explains: it distinguishes a changed declaration from a changed
// cluster. The values of a Secret are not in it, only a digest of each, unless the ledger has a key of the user.

// digestMark begins the digest of a value of a Secret.
const digestMark = "hmac-sha256:"

// Remember stores an object as it was applied. If it was not written because it was up to date, it is stored only if nothing is
// stored yet. A crash of the machine may lose it.
func (m Memory) Remember(desired *unstructured.Unstructured, written bool) error {
	err := m.remember(desired, written)
	if err != nil {
		return fmt.Errorf("store what was applied to %s: %w", title(IDOf(desired)), err)
	}
	return nil
}

func (m Memory) remember(desired *unstructured.Unstructured, written bool) error {
	id := IDOf(desired)
	if !written && !m.Noted(ledger.Applied, id).IsZero() {
		return nil
	}
	if written {
		if err := m.Ledger.Written(id); err != nil {
			return err
		}
	}
	if isSecret(desired) && !m.KeepsSecrets() {
		desired = desired.DeepCopy()
		var failed error
		model.EachSecretValue(desired.Object, func(_ []string, values map[string]any, name string) {
			digest, err := m.Digest([]byte(fmt.Sprint(values[name])))
			values[name], failed = digestMark+digest, errors.Join(failed, err)
		})
		if failed != nil {
			return failed
		}
	}
	raw, err := desired.MarshalJSON()
	if err != nil {
		return err
	}
	return m.SetNote(ledger.Applied, id, raw)
}

// WrittenAt returns when an object was last applied and written; the zero time if that is unknown.
func (m Memory) WrittenAt(id model.ObjectID) time.Time { return m.Noted(ledger.Applied, id) }

// Remembered returns a new copy of an object as it was applied last; nil if that is unknown. For a Secret, it knows only the values
// that one of the others has, too. In place of each other value stands its digest, which equals no value.
func (m Memory) Remembered(id model.ObjectID, others ...*unstructured.Unstructured) *unstructured.Unstructured {
	raw := m.Note(ledger.Applied, id)
	u := &unstructured.Unstructured{}
	if raw == nil || u.UnmarshalJSON(raw) != nil {
		return nil
	}
	if isSecret(u) {
		m.undigest(u, others)
	}
	return u
}

// undigest replaces the digests in a remembered Secret with values that the API server accepts: with the value in others that has
// the digest, or with the encoded digest itself where there is none.
func (m Memory) undigest(remembered *unstructured.Unstructured, others []*unstructured.Unstructured) {
	for _, path := range model.SecretMaps {
		values, _, _ := unstructured.NestedFieldNoCopy(remembered.Object, path...)
		digests, _ := values.(map[string]any)
		for name, value := range digests {
			text := fmt.Sprint(value)
			if !strings.HasPrefix(text, digestMark) { // an annotation that is no copy
				continue
			}
			digests[name] = base64.StdEncoding.EncodeToString([]byte(text))
			for _, o := range others {
				if o == nil {
					continue
				}
				has, ok, _ := unstructured.NestedFieldNoCopy(o.Object, append(slices.Clone(path), name)...)
				if ok && m.knows(strings.TrimPrefix(text, digestMark), has) {
					digests[name] = has
				}
			}
		}
	}
}

// secretAt reports whether the field at a path of a Secret may hold secret values. values are the texts that the field may have.
func secretAt(path fieldpath.Path, values ...any) bool {
	var names, texts []string
	for _, e := range path {
		if e.FieldName == nil {
			break
		}
		names = append(names, *e.FieldName)
	}
	for _, v := range values {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return model.SecretPath(names, texts...)
}

// secretValues returns the fields of a Secret that hold values.
func secretValues(u *unstructured.Unstructured) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, field := range []string{"data", "stringData"} {
		if values, ok := u.Object[field].(map[string]any); ok {
			out[field] = values
		}
	}
	return out
}

// knows reports whether a digest is the digest of a value.
func (m Memory) knows(digest string, value any) bool {
	same, err := m.Digests([]byte(fmt.Sprint(value)), digest)
	return err == nil && same
}
