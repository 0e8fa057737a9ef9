package deploy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// A field that others have changed can be accepted: they own it from then on, as if its declaration ignored it, until the declared
// value of the field changes, or the object is made again. The accepted fields are a note in the ledger, with a digest of each declared
// value.

// Acceptance are the fields of one object that are left to others. The zero value and nil are none. It is never changed.
type Acceptance struct {
	// UID is the UID of the object in the cluster.
	UID    string          `json:"uid"`
	Fields []acceptedField `json:"fields"`
	memory Memory
}

// acceptedField is a field that is left to others, as long as its declared value has the digest.
type acceptedField struct {
	Path     string `json:"path"`
	Declared string `json:"declared"`
}

// Accepted returns the accepted fields of an object; nil if there are none, or if they cannot be read.
func (m Memory) Accepted(id model.ObjectID) *Acceptance {
	raw := m.Note(ledger.Accepted, id)
	a := &Acceptance{memory: m}
	if raw == nil || json.Unmarshal(raw, a) != nil {
		return nil
	}
	return a
}

// Accept leaves fields of an object to others, by their paths as in a plan, in addition to the fields that were accepted before.
// uid is the UID of the object in the cluster. It returns the paths that are declared, and so can be accepted.
func (m Memory) Accept(id model.ObjectID, uid string, paths []string) (accepted []string, err error) {
	applied := m.Remembered(id)
	if applied == nil {
		return nil, nil
	}
	next := Acceptance{UID: uid}
	if was := m.Accepted(id); was != nil && was.UID == uid {
		next.Fields = slices.Clone(was.Fields)
	}
	for _, path := range paths {
		at, ok := find(applied.Object, path)
		if !ok {
			continue
		}
		digest, err := m.Digest([]byte(m.declaredText(applied, at)))
		if err != nil {
			return nil, fmt.Errorf("accept what others have changed in %s: %w", title(id), err)
		}
		field := acceptedField{path, digest}
		next.Fields = append(slices.DeleteFunc(next.Fields, func(f acceptedField) bool { return f.Path == path }), field)
		accepted = append(accepted, path)
	}
	if len(accepted) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(next)
	if err == nil {
		err = m.SetNote(ledger.Accepted, id, raw)
	}
	if err != nil {
		return nil, fmt.Errorf("accept what others have changed in %s: %w", title(id), err)
	}
	return accepted, nil
}

// declaredText is the text of a declared value. For a value of a Secret, it is the same whether the value or only its digest is known.
func (m Memory) declaredText(u *unstructured.Unstructured, at spot) string {
	raw, err := json.Marshal(at.value)
	text := string(raw)
	if err != nil {
		text = fmt.Sprint(at.value)
	}
	if !isSecret(u) {
		return text
	}
	plain := fmt.Sprint(at.value)
	decoded, err := base64.StdEncoding.DecodeString(plain)
	switch {
	case err == nil && strings.HasPrefix(string(decoded), digestMark):
		return string(decoded)
	case secretAt(at.path, at.value):
		if digest, err := m.Digest([]byte(plain)); err == nil {
			return digestMark + digest
		}
	}
	return text
}

// leave returns the desired object without the fields that are left to others, as withoutIgnored does.
func (a *Acceptance) leave(desired, live *unstructured.Unstructured, mine string) *unstructured.Unstructured {
	if a == nil || len(a.Fields) == 0 {
		return desired
	}
	if live == nil || string(live.GetUID()) != a.UID {
		return desired
	}
	u := desired.DeepCopy()
	owned := fieldDiff{owners: ownersOf(live, mine)}
	for _, f := range a.Fields {
		want, declared := find(u.Object, f.Path)
		if !declared || !a.memory.knows(f.Declared, a.memory.declaredText(u, want)) { // its declared value has changed, and counts
			continue
		}
		is, exists := find(live.Object, f.Path)
		if mine, other := owned.owner(want.path); exists && mine && other == nil { // to leave it out would remove it
			want.set(runtime.DeepCopyJSONValue(is.value))
		} else {
			want.remove()
		}
	}
	return u
}

// spot is a field of an object, with functions to change it in place.
type spot struct {
	value  any
	path   fieldpath.Path
	set    func(any)
	remove func()
}

// find returns the field with a path as changedFields writes it.
func find(object map[string]any, path string) (spot, bool) { return findIn(object, nil, path) }

func findIn(m map[string]any, at *place, path string) (spot, bool) {
	for key, value := range m {
		here := at.below(keyText(key), fieldpath.PathElement{FieldName: &key})
		switch {
		case here.text == path:
			return spot{value, here.path, func(v any) { m[key] = v }, func() { delete(m, key) }}, true
		case !strings.HasPrefix(path, here.text):
		default:
			if below, ok := value.(map[string]any); ok {
				if s, ok := findIn(below, here, path); ok {
					return s, true
				}
			}
			if list, ok := value.([]any); ok {
				if s, ok := findAmong(m, key, list, here, path); ok {
					return s, true
				}
			}
		}
	}
	return spot{}, false
}

// findAmong looks for a field in the entries of a list that is the field `key` of m.
func findAmong(m map[string]any, key string, list []any, at *place, path string) (spot, bool) {
	for _, keys := range listKeys[key] {
		if _, ok := byKey(list, keys); !ok {
			continue
		}
		for i, item := range list {
			entryMap, ok := item.(map[string]any)
			if !ok {
				continue
			}
			text, element := entry(entryMap, keys)
			here := at.below(text, element)
			if here.text == path {
				return spot{item, here.path, func(v any) { list[i] = v }, func() { m[key] = slices.Delete(slices.Clone(list), i, i+1) }}, true
			}
			if strings.HasPrefix(path, here.text) {
				if s, ok := findIn(entryMap, here, path); ok {
					return s, true
				}
			}
		}
	}
	return spot{}, false
}
