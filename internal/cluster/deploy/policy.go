package deploy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

func readOnly(desired *unstructured.Unstructured) bool {
	return annotation(desired, model.AnnotationReadOnly) == model.ReadOnlyTrue
}

// AppliedOnce reports whether a declared object is left alone once it was applied.
func AppliedOnce(desired *unstructured.Unstructured) bool {
	return annotation(desired, model.AnnotationApply) == model.ApplyOnce
}

// kept reports whether a session applies a declared object again by itself when others change it.
func kept(desired *unstructured.Unstructured) bool {
	return annotation(desired, model.AnnotationApply) == model.ApplyKeep
}

// absentReadOnly returns the problem for an object that must exist, and does not.
func absentReadOnly(t target) error {
	return problem.New(title(t.id)+" does not exist, and hone may not create it: it is declared read-only",
		"create it, or remove the annotation "+model.AnnotationReadOnly)
}

// withoutIgnored returns the desired object with the fields that model.AnnotationIgnore names as they are in the live
// object. A field that others own is left out, so that they may change it at the same time; a field that only hone owns
// gets its present value, because leaving it out would remove it. mine is the field manager that applies the object.
func withoutIgnored(desired, live *unstructured.Unstructured, mine string) (*unstructured.Unstructured, error) {
	pointers := model.Pointers(annotation(desired, model.AnnotationIgnore))
	if live == nil || len(pointers) == 0 {
		return desired, nil
	}
	others, err := ownedByOthers(live, mine)
	if err != nil {
		return nil, err
	}
	u := desired.DeepCopy()
	for _, p := range pointers {
		var tokens []string
		for _, t := range strings.Split(strings.TrimPrefix(p, "/"), "/") {
			tokens = append(tokens, strings.NewReplacer("~1", "/", "~0", "~").Replace(t))
		}
		leave(u.Object, live.Object, tokens, others)
	}
	return u, nil
}

// leave makes the field at the path tokens of want as it is in have. others are the fields, below the two, that others own.
func leave(want, have any, tokens []string, others *fieldpath.Set) {
	token, last := tokens[0], len(tokens) == 1
	switch want := want.(type) {
	case map[string]any:
		if _, declared := want[token]; !declared {
			return
		}
		theirs, _ := have.(map[string]any)
		is, exists := theirs[token]
		step := fieldpath.PathElement{FieldName: &token}
		switch {
		case !exists || last && others.Members.Has(step):
			delete(want, token)
		case last:
			want[token] = runtime.DeepCopyJSONValue(is)
		default:
			leave(want[token], is, tokens[1:], others.WithPrefix(step))
		}
	case []any:
		i := itemAt(want, token)
		theirs, _ := have.([]any)
		if i < 0 {
			return
		}
		name := text(asMap(want[i]), "name")
		j := itemAt(theirs, token)
		if name != "" {
			j = itemAt(theirs, name)
		}
		if j < 0 {
			return
		}
		below := fieldpath.NewSet()
		if name != "" {
			below = others.WithPrefix(fieldpath.PathElement{Key: &value.FieldList{{Name: "name", Value: value.NewValueInterface(name)}}})
		}
		if last {
			want[i] = runtime.DeepCopyJSONValue(theirs[j])
			return
		}
		leave(want[i], theirs[j], tokens[1:], below)
	}
}

// itemAt returns the index of the item that a token names, by its name or its index; -1 if there is none.
func itemAt(list []any, token string) int {
	if i := slices.IndexFunc(list, func(item any) bool { return text(asMap(item), "name") == token && token != "" }); i >= 0 {
		return i
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(list) {
		return i
	}
	return -1
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// ownedByOthers returns the fields of a live object that managers other than the given one own.
func ownedByOthers(live *unstructured.Unstructured, mine string) (*fieldpath.Set, error) {
	all := fieldpath.NewSet()
	for _, m := range live.GetManagedFields() {
		if m.Manager == mine && m.Subresource == "" || m.FieldsV1 == nil {
			continue
		}
		set := fieldpath.NewSet()
		if err := set.FromJSON(m.FieldsV1.GetRawReader()); err != nil {
			return nil, fmt.Errorf("read who owns its fields: %w", err)
		}
		all = all.Union(set)
	}
	return all, nil
}
