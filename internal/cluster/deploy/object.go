package deploy

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/pkg/model"
)

// IDOf returns the identity of an object.
func IDOf(u *unstructured.Unstructured) model.ObjectID {
	gvk := u.GroupVersionKind()
	return model.ObjectID{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

// title returns the name of an object in logs and errors: "deployment/web".
func title(id model.ObjectID) string { return strings.ToLower(id.Kind) + "/" + id.Name }

// shown returns the name of an object in the list of applied objects: "web:deployment".
func shown(id model.ObjectID) string { return id.Name + ":" + strings.ToLower(id.Kind) }

// groupKind returns the part of id that a mapper understands.
func groupKind(id model.ObjectID) schema.GroupKind {
	return schema.GroupKind{Group: id.Group, Kind: id.Kind}
}

// field returns the map below the given keys, nil where there is none.
func field(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		next, ok := m[k].(map[string]any)
		if !ok {
			return nil
		}
		m = next
	}
	return m
}

// itemsOf returns the items of m[key] that are maps, in order.
func itemsOf(m map[string]any, key string) []map[string]any {
	list, _ := m[key].([]any)
	out := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if im, ok := item.(map[string]any); ok {
			out = append(out, im)
		}
	}
	return out
}

// text returns m[key] if it is a string.
func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// ensureMap returns the map at m[key]. It creates the map if the key is missing or null.
func ensureMap(m map[string]any, key string) (map[string]any, error) {
	switch v := m[key].(type) {
	case map[string]any:
		return v, nil
	case nil:
		made := map[string]any{}
		m[key] = made
		return made, nil
	default:
		return nil, fmt.Errorf("%s is %T, not a map", key, v)
	}
}
